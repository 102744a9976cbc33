"""Conformance suite of the module protocol: the runner of its cases, and its report."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from hookonce.errors import UsageError
from hookonce.handlers.supervise.watchdog import adopt_orphans, child_pids
from hookonce.model import Object
from hookonce.modules.conformance import raw_client
from hookonce.modules.conformance.cases import CASES, MINIMAL_CASES, CaseSkip, ConformanceSubject
from hookonce.modules.conformance.raw_client import ConformanceFailure, StdioRawClient
from hookonce.modules.protocol import messages
from hookonce.modules.protocol.descriptor import Descriptor, mount_problems

_FIRST_CASE = "health"
_MAX_NAME_CHARS = 120  # of the command line of a process that was left
_UNHEALTHY_REASON = "not tried, because the module was not well"
CASE_SETS = {"minimal": tuple(CASES)[: len(MINIMAL_CASES)], "all": tuple(CASES)}


class CaseResult(Struct, frozen=True, kw_only=True):
    """Result of a case: passed, failed or skipped, why, its duration, and its transcript, or the file that holds it."""

    case: str
    state: str
    reason: str | None = None
    ms: int
    transcript: list[raw_client.TranscriptMessage] = []
    path: str | None = None


class ConformanceReport(Struct, frozen=True, kw_only=True):
    """Results of all cases."""

    module: str
    transport: str
    passed: bool
    cases: list[CaseResult]


class ConformanceOptions(Struct, frozen=True, kw_only=True):
    """Which cases to run, in how many seconds each, with which operation, and with whose token."""

    cases: tuple[str, ...] = CASE_SETS["all"]
    timeout: float = messages.DEFAULT_TIMEOUT_S
    op: str | None = None
    args: Object = {}
    token: str | None = None


def check_module(
    descriptor: Descriptor,
    options: ConformanceOptions | None = None,
    on_result: Callable[[CaseResult], object] = lambda _: None,
) -> ConformanceReport:
    """Run the cases; a module that is not healthy is not asked further."""
    if problems := mount_problems(descriptor):
        raise UsageError(f"{descriptor.name} cannot be tested: {messages.format_problems(problems)}")
    results: list[CaseResult] = []
    for result in _run_cases(descriptor, options or ConformanceOptions()):
        results.append(result)
        on_result(result)
    is_passed = all(result.state != "failed" for result in results)
    transport = descriptor.transport.type
    return ConformanceReport(module=descriptor.name, transport=transport, passed=is_passed, cases=results)


def save_transcripts(report: ConformanceReport, folder: Path) -> ConformanceReport:
    """The same report, with the transcript of each case in a file of that folder, a message to a line."""
    cases = []
    for result in report.cases:
        file = folder / f"{result.case}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"".join(messages.encode_line(to_builtins(message)) for message in result.transcript))
        except OSError as problem:
            raise UsageError(f"what was said cannot be kept in {file}: {problem.strerror}") from None
        cases.append(replace(result, transcript=[], path=str(file)))
    return replace(report, cases=cases)


def add_leftover_processes(report: ConformanceReport, processes: list[str]) -> ConformanceReport:
    """The report with a failed case for processes that the module has left running; the same where there are none."""
    if not processes:
        return report
    reason = f"left {len(processes)} of its processes running, which were ended: {processes[0]}"
    result = CaseResult(case="leaving", state="failed", reason=reason, ms=0)
    return replace(report, passed=False, cases=[*report.cases, result])


def _run_cases(descriptor: Descriptor, options: ConformanceOptions) -> Iterable[CaseResult]:
    start = monotonic()
    try:
        client = _open_client(descriptor, options)
    except OSError as problem:
        reason = f"{descriptor.transport.command[0]} cannot be started: {problem.strerror or problem}"
        yield CaseResult(case=_FIRST_CASE, state="failed", reason=reason, ms=round((monotonic() - start) * 1000))
        return
    subject = ConformanceSubject(descriptor=descriptor, client=client, op=options.op, args=options.args)
    subject.timeout = min(options.timeout, messages.MAX_TIMEOUT_S)
    try:
        is_healthy = True
        for name in dict.fromkeys([_FIRST_CASE, *options.cases]):
            skip = CaseResult(case=name, state="skipped", reason=_UNHEALTHY_REASON, ms=0)
            result = _run_case(subject, name) if is_healthy else skip
            yield result
            is_healthy &= not client.is_over and (name != _FIRST_CASE or result.state != "failed")
    finally:
        client.close()


def _open_client(descriptor: Descriptor, options: ConformanceOptions) -> raw_client.RawClient:
    if descriptor.transport.type in {"mcp", "grpc"}:
        return raw_client.LinkClient(descriptor, options.timeout)
    if descriptor.transport.type == "http":
        return raw_client.HttpRawClient(descriptor, options.token)
    return StdioRawClient(descriptor)


def _run_case(subject: ConformanceSubject, name: str) -> CaseResult:
    start, state, reason = monotonic(), "passed", None
    try:
        CASES[name](subject)
    except CaseSkip as error:
        state, reason = "skipped", str(error)
    except ConformanceFailure as error:
        state, reason = "failed", str(error)
    transcript = subject.client.transcript.take()
    elapsed_ms = round((monotonic() - start) * 1000)
    return CaseResult(case=name, state=state, reason=reason, ms=elapsed_ms, transcript=transcript)


@contextmanager
def adopt_orphan_processes() -> Iterator[list[str]]:
    """Adopt orphans for a while; in the end the list says what was left, and nothing of it runs any more."""
    own_children, leftovers = {*child_pids()}, list[str]()
    adopt_orphans()
    try:
        yield leftovers
    finally:
        while orphans := {*child_pids()} - own_children:
            for pid in sorted(orphans):
                leftovers += _kill_process(pid)
        adopt_orphans(enable=False)


def _kill_process(pid: int) -> list[str]:
    """Kill a process that was left; its command line, which one that has ended by itself has no more."""
    command = b""
    with suppress(OSError):
        command = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ")
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(pid, 0)
    return [command.decode(errors="replace")[:_MAX_NAME_CHARS]] if command else []

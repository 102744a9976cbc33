"""Trying a module: every case, what was said in it, and whether anything is left behind."""

from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from hookonce.errors import UsageError
from hookonce.model import Object
from hookonce.modules.cases import CASES, MINIMAL, CaseSkip, ConformanceSubject
from hookonce.modules.descriptor import Descriptor, mount_problems
from hookonce.modules.lines import encode_line
from hookonce.modules.protocol import MAX_TIMEOUT_S, DEFAULT_TIMEOUT_S
from hookonce.modules.talk import HttpRawClient, TranscriptMessage, StdioRawClient, RawClient, ConformanceFailure

_FIRST_CASE = "health"
_UNHEALTHY_REASON = "not tried, because the module was not well"
CASE_SETS = {"minimal": tuple(MINIMAL), "all": tuple(CASES)}


class CaseResult(Struct, frozen=True, kw_only=True):
    """Result of a case: passed, failed or skipped, why, its duration, and its transcript, or the file that holds it."""

    case: str
    state: str
    reason: str | None = None
    ms: int
    transcript: list[TranscriptMessage] = []
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
    timeout: float = DEFAULT_TIMEOUT_S
    op: str | None = None
    args: Object = {}
    token: str | None = None


def check_module(
    descriptor: Descriptor, options: ConformanceOptions | None = None, on_result: Callable[[CaseResult], object] = lambda _: None
) -> ConformanceReport:
    """Run the cases; a module that is not healthy is not asked further."""
    if problems := mount_problems(descriptor):
        raise ConformanceFailure("; ".join(f"{path} {message}" for path, message in problems))
    results: list[CaseResult] = []
    for result in _run_cases(descriptor, options or ConformanceOptions()):
        results.append(result)
        on_result(result)
    is_passed = all(result.state != "failed" for result in results)
    return ConformanceReport(module=descriptor.name, transport=descriptor.transport.type, passed=is_passed, cases=results)


def save_transcripts(report: ConformanceReport, folder: Path) -> ConformanceReport:
    """The same report, with the transcript of each case in a file of that folder, a message to a line."""
    return replace(report, cases=[_save_transcript(result, folder / f"{result.case}.jsonl") for result in report.cases])


def _save_transcript(result: CaseResult, file: Path) -> CaseResult:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"".join(encode_line(to_builtins(message)) for message in result.transcript))
    except OSError as problem:
        raise UsageError(f"what was said cannot be kept in {file}: {problem.strerror}") from None
    return replace(result, transcript=[], path=str(file))


def add_leftover_processes(report: ConformanceReport, processes: list[str]) -> ConformanceReport:
    """The report with a failed case for processes that the module has left running; the same where there are none."""
    if not processes:
        return report
    reason = f"left {len(processes)} of its processes running, which were ended: {processes[0]}"
    return replace(
        report, passed=False, cases=[*report.cases, CaseResult(case="leaving", state="failed", reason=reason, ms=0)]
    )


def _run_cases(descriptor: Descriptor, options: ConformanceOptions) -> Iterable[CaseResult]:
    start = monotonic()
    try:
        client: RawClient = (
            HttpRawClient(descriptor, options.token) if descriptor.transport.type == "http" else StdioRawClient(descriptor)
        )
    except OSError as problem:
        reason = f"{descriptor.transport.command[0]} cannot be started: {problem.strerror or problem}"
        yield CaseResult(case=_FIRST_CASE, state="failed", reason=reason, ms=_elapsed_ms(start))
        return
    timeout = min(options.timeout, MAX_TIMEOUT_S)
    subject = ConformanceSubject(descriptor=descriptor, client=client, timeout=timeout, op=options.op, args=options.args)
    try:
        is_healthy = True
        for name in dict.fromkeys([_FIRST_CASE, *options.cases]):
            result = _run_case(subject, name) if is_healthy else CaseResult(case=name, state="skipped", reason=_UNHEALTHY_REASON, ms=0)
            yield result
            is_healthy &= not client.is_over and (name != _FIRST_CASE or result.state != "failed")
    finally:
        client.close()


def _run_case(subject: ConformanceSubject, name: str) -> CaseResult:
    start, state, reason = monotonic(), "passed", None
    try:
        CASES[name](subject)
    except CaseSkip as error:
        state, reason = "skipped", str(error)
    except ConformanceFailure as error:
        state, reason = "failed", str(error)
    return CaseResult(case=name, state=state, reason=reason, ms=_elapsed_ms(start), transcript=subject.client.transcript.take())


def _elapsed_ms(start: float) -> int:
    return round((monotonic() - start) * 1000)

"""Trying a module: every case, what was said in it, and whether anything is left behind."""

from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from hookonce.errors import UsageError
from hookonce.model import Object
from hookonce.modules.cases import CASES, MINIMAL, Skipped, Subject
from hookonce.modules.descriptor import Descriptor, unmountable
from hookonce.modules.lines import line_of
from hookonce.modules.protocol import LONGEST, TIMEOUT
from hookonce.modules.talk import HttpTalk, Message, StdioTalk, Talk, Wrong

_FIRST = "health"
_LEFT = "not tried, because the module was not well"
SETS = {"minimal": tuple(MINIMAL), "all": tuple(CASES)}


class Tried(Struct, frozen=True, kw_only=True):
    """How a case went: passed, failed or skipped, why, how long it took, and what was said, or which file says it."""

    case: str
    state: str
    reason: str | None = None
    ms: int
    transcript: list[Message] = []
    path: str | None = None


class Report(Struct, frozen=True, kw_only=True):
    """How all of them went."""

    module: str
    transport: str
    passed: bool
    cases: list[Tried]


class Wanted(Struct, frozen=True, kw_only=True):
    """What is to be tried: which cases, in how many seconds each, with which operation, and with whose token."""

    cases: tuple[str, ...] = SETS["all"]
    timeout: float = TIMEOUT
    op: str | None = None
    args: Object = {}
    token: str | None = None


def check(
    descriptor: Descriptor, wanted: Wanted | None = None, tell: Callable[[Tried], object] = lambda _: None
) -> Report:
    """Try a module; a module that is not even well is not asked further."""
    if problems := unmountable(descriptor):
        raise Wrong("; ".join(f"{path} {message}" for path, message in problems))
    found: list[Tried] = []
    for one in _tried(descriptor, wanted or Wanted()):
        found.append(one)
        tell(one)
    passed = all(one.state != "failed" for one in found)
    return Report(module=descriptor.name, transport=descriptor.transport.type, passed=passed, cases=found)


def kept(report: Report, folder: Path) -> Report:
    """The same report, with what was said in each case in a file of that folder, a message to a line."""
    return replace(report, cases=[_kept(one, folder / f"{one.case}.jsonl") for one in report.cases])


def _kept(tried: Tried, file: Path) -> Tried:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"".join(line_of(to_builtins(message)) for message in tried.transcript))
    except OSError as problem:
        raise UsageError(f"what was said cannot be kept in {file}: {problem.strerror}") from None
    return replace(tried, transcript=[], path=str(file))


def leaving(report: Report, left: list[str]) -> Report:
    """The same report, of a module that has left these processes behind; nothing is said where it has left none."""
    if not left:
        return report
    reason = f"left {len(left)} of its processes running, which were ended: {left[0]}"
    return replace(
        report, passed=False, cases=[*report.cases, Tried(case="leaving", state="failed", reason=reason, ms=0)]
    )


def _tried(descriptor: Descriptor, wanted: Wanted) -> Iterable[Tried]:
    began = monotonic()
    try:
        talk: Talk = (
            HttpTalk(descriptor, wanted.token) if descriptor.transport.type == "http" else StdioTalk(descriptor)
        )
    except OSError as problem:
        reason = f"{descriptor.transport.command[0]} cannot be started: {problem.strerror or problem}"
        yield Tried(case=_FIRST, state="failed", reason=reason, ms=_since(began))
        return
    timeout = min(wanted.timeout, LONGEST)
    subject = Subject(descriptor=descriptor, talk=talk, timeout=timeout, op=wanted.op, args=wanted.args)
    try:
        is_well = True
        for name in dict.fromkeys([_FIRST, *wanted.cases]):
            tried = _one(subject, name) if is_well else Tried(case=name, state="skipped", reason=_LEFT, ms=0)
            yield tried
            is_well &= not talk.is_over and (name != _FIRST or tried.state != "failed")
    finally:
        talk.close()


def _one(subject: Subject, name: str) -> Tried:
    began, state, reason = monotonic(), "passed", None
    try:
        CASES[name](subject)
    except Skipped as why:
        state, reason = "skipped", str(why)
    except Wrong as why:
        state, reason = "failed", str(why)
    return Tried(case=name, state=state, reason=reason, ms=_since(began), transcript=subject.talk.transcript.take())


def _since(began: float) -> int:
    return round((monotonic() - began) * 1000)

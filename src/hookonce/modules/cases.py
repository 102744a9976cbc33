"""What a module has to do, case by case: Wrong is raised where it does not, and Skipped where that cannot be tried."""

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Timer
from typing import Any

from msgspec import Struct

from hookonce.model import Object
from hookonce.modules.client import Link, connect, described_problems, health, invoke
from hookonce.modules.descriptor import Descriptor
from hookonce.modules.protocol import HEALTH_TIMEOUT, Answer, answer_of
from hookonce.modules.stdio import Stdio
from hookonce.modules.talk import StdioTalk, Talk, Wrong, request

UNKNOWN = "hookonce-no-such-operation"
_MEGABYTE = 1 << 20
_AT_ONCE = 16
_BRIEF = 5.0  # seconds for what takes no work
_MOMENT = 0.3


class Skipped(Exception):
    """A case that cannot be tried here, and why."""


class Subject(Struct, kw_only=True):
    """The module that is tried, and an operation of it that works."""

    descriptor: Descriptor
    talk: Talk
    timeout: float
    op: str | None = None
    args: Object = {}
    number: int = 0

    def ask(self, verb: str, body: Object, seconds: float = _BRIEF) -> Object:
        """The answer to a request, which has to bear the request's id if it bears any."""
        self.number += 1
        name = f"check-{self.number}"
        stdio = self.descriptor.transport.type == "stdio"
        document = self.talk.ask(verb, request(verb if stdio else "invoke", body, name if stdio else None), seconds)
        if document.get("id", name) != name:
            raise Wrong(f"answered the request {name!r} with the id {document['id']!r}")
        return document

    def link(self) -> Link:
        """The module as a host uses it, in a process of its own."""
        return connect(self.descriptor, watch=self.talk.transcript.add)


def is_well(subject: Subject) -> None:
    """Health is answered with status ok."""
    document = subject.ask("health", {}, min(HEALTH_TIMEOUT, subject.timeout))
    told = _unwrapped(document)
    if told.get("status") != "ok":
        raise Wrong(f"its status is not ok but {told.get('status')!r}")


def tells_what_it_is(subject: Subject) -> None:
    """Describe is answered with six fields, which agree with the descriptor."""
    told = _unwrapped(subject.ask("describe", {}))
    told = {name: value for name, value in told.items() if name not in {"id", "ok"}}
    if problems := described_problems(told):
        raise Wrong("; ".join(f"{path} {message}" for path, message in problems))
    for name in ("name", "kind"):
        if told[name] != getattr(subject.descriptor, name):
            raise Wrong(f"says that its {name} is {told[name]!r}; its descriptor says otherwise")
    if subject.op is None:
        subject.op, subject.args = _an_operation(told["inputs"], subject.descriptor.kind)


def _an_operation(inputs: Any, kind: str) -> tuple[str | None, Object]:
    """An operation that can be tried without knowing more: one that needs no arguments, or hears of an event."""
    if type(inputs) is not dict:
        return None, {}
    names = ((inputs.get("properties") or {}).get("op") or {}).get("enum") or []
    needs = {}
    for case in inputs.get("allOf") or []:
        name = (((case.get("if") or {}).get("properties") or {}).get("op") or {}).get("const")
        args = ((case.get("then") or {}).get("properties") or {}).get("args") or {}
        needs[name] = args.get("required") or []
    if kind == "hook" or "on_event" in names:
        return "on_event", {"event": {"id": "check", "ts": 0, "event": "session:start", "component": "check"}}
    return next(((name, {}) for name in names if not needs.get(name)), (None, {}))


def does_what_it_is_for(subject: Subject) -> None:
    """An operation of its own succeeds."""
    if subject.op is None:
        raise Skipped("no operation is known that needs no arguments: name one with --op and --args")
    answer = answer_of(subject.ask("invoke", {"op": subject.op, "args": subject.args}, subject.timeout))
    if answer.error is not None:
        raise Wrong(f"{subject.op} failed with {answer.error.code}: {answer.error.message}")


def refuses_what_it_does_not_know(subject: Subject) -> None:
    """An operation that there is not is unsupported_op."""
    _fails(subject.ask("invoke", {"op": UNKNOWN, "args": {}}), "unsupported_op")


def refuses_a_request_without_op(subject: Subject) -> None:
    """A request that names no operation is bad_request."""
    _fails(subject.ask("invoke", {"args": {}}), "bad_request")


def takes_a_megabyte(subject: Subject) -> None:
    """A message of more than a megabyte is read and answered like any other."""
    body = {"op": UNKNOWN, "args": {"padding": "x" * _MEGABYTE}}
    _fails(subject.ask("invoke", body, subject.timeout), "unsupported_op")


def survives_garbage(subject: Subject) -> None:
    """What is no JSON is bad_request, or ignored; the next request is answered."""
    if isinstance(subject.talk, StdioTalk):
        try:
            line = subject.talk.line(b"{this is no JSON\n", _MOMENT)
        except Wrong:
            line = None
            if subject.talk.is_over:
                raise Wrong("ended when it was told something that is no JSON") from None
        if line is not None and b'"ok":true' in line.replace(b" ", b""):
            raise Wrong("said ok to something that is no JSON")
    else:
        _fails(subject.talk.ask("invoke", b"{this is no JSON", _BRIEF), "bad_request")
    is_well(subject)


def is_not_too_loud(subject: Subject) -> None:
    """It writes to stderr what somebody may want to read, not more."""
    if not isinstance(subject.talk, StdioTalk):
        raise Skipped("what it writes to stderr is not seen over HTTP")
    if subject.talk.is_too_loud:
        raise Wrong(f"wrote {subject.talk.loud} bytes to stderr for a handful of requests")


def is_in_time_or_timed_out(subject: Subject) -> None:
    """A call that takes too long ends with timeout, and its late answer is taken for nobody else's."""
    with _linked(subject) as link:
        _expect(health(link), None)
        if not isinstance(link, Stdio):
            _expect(invoke(link, UNKNOWN, timeout=1e-6), "timeout")
        else:
            pid = _paused(link)
            try:
                _expect(invoke(link, UNKNOWN, timeout=_MOMENT), "timeout")
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGCONT)
        _expect(health(link, _BRIEF), None)


def comes_back_after_a_crash(subject: Subject) -> None:
    """A module that is killed in the middle of a call is unreachable at once, and works when it is called again."""
    with _linked(subject) as link:
        if not isinstance(link, Stdio):
            raise Skipped("a module over HTTP is started by somebody else")
        _expect(health(link), None)
        pid = _paused(link)
        killing = Timer(_MOMENT, os.killpg, (pid, signal.SIGKILL))
        killing.start()
        _expect(invoke(link, UNKNOWN, timeout=_BRIEF), "unreachable")
        killing.join()
        _expect(health(link, _BRIEF), None)


def _paused(link: Stdio) -> int:
    """Stop a module where it is, and wait until all of its threads stand still; its number."""
    pid = link.pid
    try:
        if pid is not None:
            os.killpg(pid, signal.SIGSTOP)
            os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            return pid
    except (ProcessLookupError, ChildProcessError):
        pass
    raise Wrong("ended after it had said that it was well")


def answers_many_at_once(subject: Subject) -> None:
    """Calls that are made at the same time are all answered."""
    with _linked(subject) as link, ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(lambda _: invoke(link, UNKNOWN, timeout=subject.timeout), range(_AT_ONCE)))
    for answer in found:
        _expect(answer, "unsupported_op")


class _linked:  # noqa: N801  a word in a sentence
    """The module as a host uses it, for a while."""

    def __init__(self, subject: Subject) -> None:
        self._link = subject.link()

    def __enter__(self) -> Link:
        return self._link

    def __exit__(self, *_: object) -> None:
        self._link.close()


def _expect(answer: Answer, code: str | None) -> None:
    found = None if answer.error is None else answer.error.code
    if found != code:
        said = "" if answer.error is None else f": {answer.error.message}"
        raise Wrong(f"expected {code or 'ok'}, and it came to {found or 'ok'}{said}")


def _fails(document: Object, code: str) -> None:
    if type(document.get("ok")) is not bool:
        raise Wrong("its answer does not say whether it is ok")
    _expect(answer_of(document), code)


def _unwrapped(document: Object) -> Object:
    """Health and describe are answered as they are; some modules answer them as if they were invoked."""
    if document.get("ok") is False:
        _expect(answer_of(document), None)
    result = document.get("result")
    return result if document.get("ok") is True and type(result) is dict else document


Case = Callable[[Subject], None]
MINIMAL: dict[str, Case] = {
    "health": is_well,
    "describe": tells_what_it_is,
    "invoke": does_what_it_is_for,
    "unsupported-op": refuses_what_it_does_not_know,
    "missing-op": refuses_a_request_without_op,
    "timeout": is_in_time_or_timed_out,
}
CASES: dict[str, Case] = MINIMAL | {
    "megabyte": takes_a_megabyte,
    "garbage": survives_garbage,
    "parallel": answers_many_at_once,
    "crash": comes_back_after_a_crash,
    "stderr": is_not_too_loud,
}

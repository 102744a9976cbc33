"""Cases of the conformance suite: what is asked of a module, and what is expected of its answers."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Timer
from typing import Any

from msgspec import Struct

from hookonce.model import Object
from hookonce.modules.conformance import raw_client
from hookonce.modules.conformance.raw_client import ConformanceFailure, StdioRawClient
from hookonce.modules.host.client import Link, connect, description_problems, health, invoke
from hookonce.modules.protocol import messages
from hookonce.modules.protocol.descriptor import Descriptor

UNKNOWN_OP = "hookonce-no-such-operation"
_ORDER_REQUESTS: tuple[tuple[Object, str], ...] = (  # each with what its answer is to be
    ({"op": "health"}, "health"),
    ({"op": UNKNOWN_OP, "args": {}}, "unsupported_op"),
    ({"op": "describe"}, "describe"),
    ({"args": {}}, "bad_request"),
)
_HEALTH_WITH_ID: Object = {"op": "health", "id": "check-order"}
_MEGABYTE_BYTES = 1 << 20
_PARALLEL_CALLS = 16
_BRIEF_TIMEOUT_S = 5.0  # seconds for what takes no work
_SHORT_TIMEOUT_S = 0.3


class CaseSkip(Exception):
    """A case that cannot be tried here, and why."""


class ConformanceSubject(Struct, kw_only=True):
    """The module under test, and an operation of it that works."""

    descriptor: Descriptor
    client: raw_client.RawClient
    timeout: float = messages.DEFAULT_TIMEOUT_S
    op: str | None = None
    args: Object = {}
    request_count: int = 0

    def ask(self, verb: str, body: Object, seconds: float = _BRIEF_TIMEOUT_S) -> Object:
        """The response to a request, which has to bear the request's id if it bears any."""
        self.request_count += 1
        request_id = f"check-{self.request_count}"
        is_stdio = self.descriptor.transport.type == "stdio"
        # Over HTTP the path says what is asked, and the connection whose answer it is.
        message = raw_client.encode_request(*((verb, body, request_id) if is_stdio else ("invoke", body)))
        document = self.client.ask(verb, message, seconds)
        if document.get("id", request_id) != request_id:
            raise ConformanceFailure(f"answered the request {request_id!r} with the id {document['id']!r}")
        return document

    def open_link(self) -> "closing[Link]":
        """A link as a host uses it, with a process of its own."""
        return closing(connect(self.descriptor, watch=self.client.transcript.add))


def check_health(subject: ConformanceSubject) -> None:
    """Health is answered with status ok."""
    status_document = _unwrap(subject.ask("health", {}, min(messages.HEALTH_TIMEOUT_S, subject.timeout)))
    if status_document.get("status") != "ok":
        raise ConformanceFailure(f"its status is not ok but {status_document.get('status')!r}")


def check_describe(subject: ConformanceSubject) -> None:
    """Describe is answered with six fields, which agree with the descriptor."""
    description = _unwrap(subject.ask("describe", {}))
    description = {name: value for name, value in description.items() if name not in {"id", "ok"}}
    if problems := description_problems(description):
        raise ConformanceFailure(messages.format_problems(problems))
    for name in ("name", "kind"):
        if description[name] != getattr(subject.descriptor, name):
            raise ConformanceFailure(f"says that its {name} is {description[name]!r}; its descriptor says otherwise")
    is_hook = (subject.descriptor.transport.type, subject.descriptor.kind) == ("grpc", "hook")
    if subject.op is None and (is_hook or not isinstance(subject.client, raw_client.LinkClient)):  # a tool may do much
        subject.op, subject.args = _find_operation(description["inputs"], subject.descriptor.kind)


def _find_operation(inputs: Any, kind: str) -> tuple[str | None, Object]:
    """An operation that can be tried without knowing more: one without required arguments, or `on_event`."""
    if type(inputs) is not dict:
        return None, {}
    names = ((inputs.get("properties") or {}).get("op") or {}).get("enum") or []
    required_args = {}
    for rule in inputs.get("allOf") or []:
        name = (((rule.get("if") or {}).get("properties") or {}).get("op") or {}).get("const")
        args = ((rule.get("then") or {}).get("properties") or {}).get("args") or {}
        required_args[name] = args.get("required") or []
    if kind == "hook" or "on_event" in names:
        return "on_event", {"event": {"id": "check", "ts": 0, "event": "session:start", "component": "check"}}
    return next(((name, {}) for name in names if not required_args.get(name)), (None, {}))


def check_invoke(subject: ConformanceSubject) -> None:
    """An operation of its own succeeds."""
    if subject.op is None:
        raise CaseSkip("no operation is known that needs no arguments: name one with --op and --args")
    response = messages.parse_response(subject.ask("invoke", {"op": subject.op, "args": subject.args}, subject.timeout))
    if response.error is not None:
        raise ConformanceFailure(f"{subject.op} failed with {response.error.code}: {response.error.message}")


def check_unsupported_op(subject: ConformanceSubject) -> None:
    """An operation that there is not is unsupported_op."""
    _expect_error(subject.ask("invoke", {"op": UNKNOWN_OP, "args": {}}), "unsupported_op")


def check_missing_op(subject: ConformanceSubject) -> None:
    """A request that names no operation is bad_request."""
    _expect_error(subject.ask("invoke", {"args": {}}), "bad_request")


def check_megabyte(subject: ConformanceSubject) -> None:
    """A message of more than a megabyte is read and answered like any other."""
    _require_own_messages(subject)
    body = {"op": UNKNOWN_OP, "args": {"padding": "x" * _MEGABYTE_BYTES}}
    _expect_error(subject.ask("invoke", body, subject.timeout), "unsupported_op")


def check_garbage(subject: ConformanceSubject) -> None:
    """What is no JSON is bad_request, or ignored; the next request is answered."""
    _require_own_messages(subject)
    if isinstance(subject.client, StdioRawClient):
        try:
            line = subject.client.exchange_line(b"{this is no JSON\n", _SHORT_TIMEOUT_S)
        except ConformanceFailure:
            line = None
            if subject.client.is_over:
                raise ConformanceFailure("ended when it received something that is not JSON") from None
        if line is not None and b'"ok":true' in line.replace(b" ", b""):
            raise ConformanceFailure("answered ok to something that is not JSON")
    else:
        _expect_error(subject.client.ask("invoke", b"{this is no JSON", _BRIEF_TIMEOUT_S), "bad_request")
    check_health(subject)


def _require_own_messages(subject: ConformanceSubject) -> None:
    if isinstance(subject.client, raw_client.LinkClient):
        raise CaseSkip("over MCP and gRPC hookonce itself makes the messages")


def check_stderr(subject: ConformanceSubject) -> None:
    """It writes to stderr what somebody may want to read, not more."""
    if not isinstance(subject.client, StdioRawClient):
        raise CaseSkip("what it writes to stderr is seen of modules on stdio only")
    if subject.client.stderr_bytes > _MEGABYTE_BYTES:
        raise ConformanceFailure(f"wrote {subject.client.stderr_bytes} bytes to stderr for a handful of requests")


def check_timeout(subject: ConformanceSubject) -> None:
    """A call that takes too long ends with timeout, and its late answer is taken for nobody else's."""
    with subject.open_link() as link:
        _expect_code(health(link, _start_timeout_s(subject)), None)
        if _pid_of(link) is None:
            _expect_code(invoke(link, UNKNOWN_OP, timeout=1e-6), "timeout")
        else:
            pid = _pause(link)
            try:
                _expect_code(invoke(link, UNKNOWN_OP, timeout=_SHORT_TIMEOUT_S), "timeout")
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGCONT)
        _expect_code(health(link, _BRIEF_TIMEOUT_S), None)


def check_crash(subject: ConformanceSubject) -> None:
    """A module that is killed in the middle of a call is unreachable at once, and works when it is called again."""
    with subject.open_link() as link:
        _expect_code(health(link, _start_timeout_s(subject)), None)
        if _pid_of(link) is None:
            raise CaseSkip("a module that listens is started by somebody else")
        pid = _pause(link)
        kill_timer = Timer(_SHORT_TIMEOUT_S, os.killpg, (pid, signal.SIGKILL))
        kill_timer.start()
        _expect_code(invoke(link, UNKNOWN_OP, timeout=_BRIEF_TIMEOUT_S), "unreachable")
        kill_timer.join()
        _expect_code(health(link, max(_BRIEF_TIMEOUT_S, _start_timeout_s(subject))), None)


def _pid_of(link: Link) -> int | None:
    """The process of a module, where it is our child."""
    pid: int | None = getattr(link, "pid", None)
    return pid


def _start_timeout_s(subject: ConformanceSubject) -> float:
    """For health of a module that is only started then; servers of MCP are known to take their time."""
    is_mcp = isinstance(subject.client, raw_client.LinkClient)
    return subject.timeout if is_mcp else messages.HEALTH_TIMEOUT_S


def _pause(link: Link) -> int:
    """Stop a module with SIGSTOP, and wait until all of its threads stand still; its process id."""
    pid = _pid_of(link)
    try:
        if pid is not None:
            os.killpg(pid, signal.SIGSTOP)
            os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            return pid
    except (ProcessLookupError, ChildProcessError):
        pass
    raise ConformanceFailure("ended after it had said that it was well")


def check_parallel(subject: ConformanceSubject) -> None:
    """Calls that are made at the same time are all answered."""
    with subject.open_link() as link, ThreadPoolExecutor(_PARALLEL_CALLS) as pool:
        responses = list(pool.map(lambda _: invoke(link, UNKNOWN_OP, timeout=subject.timeout), range(_PARALLEL_CALLS)))
    for response in responses:
        _expect_code(response, "unsupported_op")


def check_order(subject: ConformanceSubject) -> None:
    """Requests without ids are answered in the order in which they came; one with an id may come at any time."""
    _require_own_messages(subject)
    if not isinstance(subject.client, StdioRawClient):
        raise CaseSkip("over HTTP each answer comes on a connection of its own")
    work = [] if subject.op is None else [({"op": subject.op, "args": subject.args}, None)]
    pairs: list[tuple[Object, str | None]] = [*work, *_ORDER_REQUESTS, (_HEALTH_WITH_ID, "health"), *_ORDER_REQUESTS]
    batch = b"".join(messages.encode_line(body) for body, _ in pairs)
    lines = subject.client.exchange_lines(batch, len(pairs), subject.timeout)
    answers = [raw_client.parse_object(line or b"") for line in lines]
    if any(answer.get("id") == _HEALTH_WITH_ID["id"] for answer in answers):
        answers = [answer for answer in answers if answer.get("id") is None]
        pairs = [pair for pair in pairs if pair[0] is not _HEALTH_WITH_ID]
    kinds = [_answer_kind(answer) for answer in answers]
    if any(expected not in {None, kind} for (_, expected), kind in zip(pairs, kinds, strict=True)):
        requests = ", ".join(expected or str(subject.op) for _, expected in pairs)
        raise ConformanceFailure(f"answered requests without ids out of order: {requests}; it came {', '.join(kinds)}")


def _answer_kind(document: Object) -> str:
    """What an answer is an answer to: a verb, or the code of its error."""
    if document.get("ok") is False:
        error = messages.parse_response(document).error
        return "" if error is None else error.code
    fields = _unwrap(document)
    return "health" if "status" in fields else "describe" if "capabilities" in fields else "ok"


def _expect_code(response: messages.ModuleResponse, code: str | None) -> None:
    actual = None if response.error is None else response.error.code
    if actual != code:
        suffix = "" if response.error is None else f": {response.error.message}"
        raise ConformanceFailure(f"expected {code or 'ok'}, and it came to {actual or 'ok'}{suffix}")


def _expect_error(document: Object, code: str) -> None:
    if type(document.get("ok")) is not bool:
        raise ConformanceFailure("its answer does not say whether it is ok")
    _expect_code(messages.parse_response(document), code)


def _unwrap(document: Object) -> Object:
    """Health and describe are answered plainly; some modules answer them as if they were invoked."""
    if document.get("ok") is False:
        _expect_code(messages.parse_response(document), None)
    result = document.get("result")
    return result if document.get("ok") is True and type(result) is dict else document


MINIMAL_CASES = (check_health, check_describe, check_invoke, check_unsupported_op, check_missing_op, check_timeout)
_FURTHER_CASES = (check_megabyte, check_garbage, check_parallel, check_order, check_crash, check_stderr)
CASES = {case.__name__.removeprefix("check_").replace("_", "-"): case for case in (*MINIMAL_CASES, *_FURTHER_CASES)}

"""Messages of the module protocol and their JSON-lines framing: requests, responses, errors and plans."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import UNSET, DecodeError, Struct, UnsetType
from msgspec.json import Decoder

from hookonce.base.jsontext import dump
from hookonce.base.jsontext import load as load_text
from hookonce.errors import HookonceError
from hookonce.model import Json, Object, Problem

DEFAULT_TIMEOUT_S = 30.0  # of an invocation
HEALTH_TIMEOUT_S = 2.0
MAX_TIMEOUT_S = 86_400.0  # a longer timeout is this one
MAX_MESSAGE_BYTES = 16 << 20  # bytes of one message; everybody has to take a megabyte
HEALTH_OK: Object = {"status": "ok"}
DESCRIPTION_FIELDS = ("name", "version", "kind", "capabilities", "inputs", "outputs")
MessageWatcher = Callable[[str, bytes], object]  # gets "sent", "heard" or "said", and the message
PLAIN_VERBS = ("health", "describe")  # answered without `ok`
VERBS = (*PLAIN_VERBS, "invoke")

# The reserved codes, and when hookonce uses them. Modules may have further ones of their own.
ERROR_CODES = {
    "timeout": "no answer came in time; whether the work was done is not known",
    "oom": "there is no room left for the work: memory ran out, or a queue is full",
    "unreachable": "the module cannot be started or called, or it ended before it answered",
    "bad_request": "the request is not what the protocol or the operation asks for",
    "forbidden": "the caller may not do this: no token, or a capability that was not granted",
    "internal": "the module failed, or its answer is not valid",
    "unsupported_op": "the module has no operation of that name",
}


def ignore_message(direction: str, message: bytes) -> None:
    """The MessageWatcher of who watches nothing."""


class ErrorInfo(Struct, frozen=True, omit_defaults=True):
    """Error v1 of the protocol; `details` may hold `retryable` and `retry_after` (seconds)."""

    code: str
    message: str
    details: Object | None = None


class Fault(HookonceError):
    """Exception that carries an Error v1: raised by operations to choose the code, and where a call cannot go on."""

    def __init__(self, code: str, message: str, details: Object | None = None) -> None:
        super().__init__(message)
        self.error = ErrorInfo(code, message, details)

    @property
    def document(self) -> Object:
        """The response document of the error."""
        return error_document(self.error)


def format_problems(problems: Iterable[Problem]) -> str:
    """Every problem with its path, in one line."""
    return "; ".join(f"{path} {message}" for path, message in problems)


def problems_fault(what: str, problems: list[Problem]) -> Fault:
    """The Fault that names problems, in words and in its details."""
    return Fault("bad_request", f"{what}: {format_problems(problems)}", {"problems": [*map(list, problems)]})


class Request(Struct, frozen=True, omit_defaults=True):
    """One request to a module; `id` is echoed, so that responses may come in any order."""

    op: str
    args: Object = {}
    session_id: str | None = None
    id: Json | UnsetType = UNSET


class ModuleResponse(Struct, frozen=True):
    """Response to an invocation: a result, or an error."""

    ok: bool
    result: Json = None
    error: ErrorInfo | None = None

    def to_document(self) -> Object:
        """The response as it stands on the wire."""
        if self.error is None:
            return {"ok": True, "result": self.result}
        return error_document(self.error)


def error_document(error: ErrorInfo) -> Object:
    """The response document of an error."""
    body: Object = {"code": error.code, "message": error.message}
    if error.details:
        body["details"] = error.details
    return {"ok": False, "error": body}


def build_error(code: str, message: str, **details: Json) -> Object:
    """Build the response document of an error from its code, message and details."""
    return error_document(ErrorInfo(code, message, details or None))


def parse_request(document: Json) -> Request:
    """Parse a request; `{"op": X}`, `{"method": X}` and `{"op": "invoke", "args": {"op": X}}` are the same."""
    if type(document) is not dict:
        raise Fault("bad_request", "a request is an object with op and args")
    request_id = request_id_of(document)
    if document.get("op", document.get("method")) == "invoke":
        call = document.get("args", document.get("params"))
        document = document | {"method": None, "op": None, "args": {}} | (call if type(call) is dict else {})
    op, args = document.get("op"), document.get("args", document.get("params"))
    op, session = document.get("method") if op is None else op, document.get("session_id")
    _require(type(op) is str and op != "", "op is required and is a text: the name of an operation", "$.op")
    _require(args is None or type(args) is dict, "args is an object", "$.args")
    _require(session is None or type(session) is str, "session_id is a text", "$.session_id")
    return Request(str(op), args or {}, session, request_id)


def request_id_of(document: Json) -> Json | UnsetType:
    """The id of a request document, whatever else is wrong with it."""
    return document.get("id", UNSET) if type(document) is dict else UNSET


def _require(is_valid: bool, message: str, path: str) -> None:  # noqa: FBT001  a check reads as a sentence
    if not is_valid:
        raise Fault("bad_request", message, {"path": path})


def name_operation(tool: str) -> str:
    """The operation that a tool is; one that is called like a word of the protocol gets a prefix."""
    return f"tool_{tool}" if tool in VERBS else tool


def request_document(request: Request) -> Object:
    """The document of a request, without its id; health and describe take no arguments."""
    document: Object = {"op": request.op}
    if request.args or request.op not in VERBS:
        document["args"] = request.args
    if request.session_id is not None:
        document["session_id"] = request.session_id
    return document


def parse_response(document: Json) -> ModuleResponse:
    """Parse the response to an invocation; what is no response is an internal error of the module."""
    is_object = type(document) is dict
    ok: Any = document.get("ok") if is_object else None
    if ok is True:
        return ModuleResponse(ok=True, result=document.get("result"))
    body: Any = document.get("error") if is_object else None
    if ok is False and type(body) is dict and type(code := body.get("code")) is str and code:
        message, details = body.get("message"), body.get("details")
        text = message if type(message) is str else f"the module said {code} and nothing more"
        return ModuleResponse(ok=False, error=ErrorInfo(code, text, details if type(details) is dict else None))
    expectation = "error to have a code and a message" if ok is False else "ok to be true or false"
    reason = f"expected {expectation if is_object else 'an object'}"
    error = ErrorInfo("internal", f"the module's answer is not valid: {reason}")
    return ModuleResponse(ok=False, error=error)


def is_plain_answer(document: Object) -> bool:
    """Whether a document is what health or describe are answered with, and not the response to an invocation."""
    return "ok" not in document and ("status" in document or all(name in document for name in DESCRIPTION_FIELDS))


def parse_plain_response(verb: str, document: Json) -> ModuleResponse:
    """Parse the response to health or describe, which has no `ok`; some modules answer as if it was an invocation."""
    is_object = type(document) is dict
    if is_object and document.get("ok", True) is True and type(document.get("result")) is not dict:
        answer = ModuleResponse(ok=True, result={name: value for name, value in document.items() if name != "ok"})
    else:
        answer = parse_response(document)
    if answer.error is not None:
        return answer
    fields: Any = answer.result
    if verb == "health" and fields.get("status") != HEALTH_OK["status"]:
        status = fields.get("status")
        message = f"the module answered, but its status is not ok but {status!r}"
        return ModuleResponse(ok=False, error=ErrorInfo("internal", message, {"status": status}))
    if verb == "describe" and not any(name in fields for name in DESCRIPTION_FIELDS):
        message = f"the module gave something that is no description: expected {', '.join(DESCRIPTION_FIELDS)}"
        return ModuleResponse(ok=False, error=ErrorInfo("internal", message))
    return answer


def check_plan(document: Json) -> None:
    """Check a Plan v1, which says what a session is for; bad_request with every problem at once."""
    if type(document) is not dict:
        raise Fault("bad_request", "a plan is an object with goal and inputs")
    goal, inputs = document.get("goal"), document.get("inputs")
    problems: list[Problem] = []
    if type(goal) is not str or not goal:
        problems.append(("$.goal", "is required" if goal is None else "expected a text"))
    if inputs is not None and type(inputs) is not dict:
        problems.append(("$.inputs", "expected an object"))
    if problems:
        raise problems_fault("the plan has problems", problems)


_decode = Decoder().decode


def encode_line(document: Json) -> bytes:
    """Encode a document as one line of JSON."""
    return dump(document) + b"\n"


def decode_line(line: bytes) -> Json:
    """Decode one line of JSON; a ValueError where it is none."""
    try:
        try:
            return _decode(line)
        except (DecodeError, UnicodeEncodeError):
            return load_text(line.decode())
    except RecursionError:
        raise ValueError("nested too deeply") from None


class LineBuffer:
    """Buffer that splits a byte stream into lines of bounded length."""

    def __init__(self) -> None:
        self.partial, self._skipping = bytearray(), False

    def feed(self, chunk: bytes) -> list[bytes | None]:
        """The lines that a chunk completes; None, once, for a line that is longer than the limit."""
        if chunk and not self.partial and not self._skipping and chunk.find(b"\n") == len(chunk) - 1:
            return [chunk[:-1] if len(chunk) <= MAX_MESSAGE_BYTES else None]
        lines: list[bytes | None] = []
        *complete_parts, tail = chunk.split(b"\n")
        for part in complete_parts:
            self._add(part, lines)
            if not self._skipping:
                lines.append(bytes(self.partial))
            self.partial, self._skipping = bytearray(), False
        self._add(tail, lines)
        return lines

    def _add(self, part: bytes, lines: list[bytes | None]) -> None:
        if self._skipping:
            return
        self.partial += part
        if len(self.partial) > MAX_MESSAGE_BYTES:
            self.partial, self._skipping = bytearray(), True
            lines.append(None)

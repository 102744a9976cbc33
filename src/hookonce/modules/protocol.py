"""The words of the module protocol: requests, answers, errors and plans, the same on every transport."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from hookonce.errors import HookonceError
from hookonce.model import Json, Object

TIMEOUT = 30.0  # seconds that an invocation has where nobody says otherwise
HEALTH_TIMEOUT = 2.0
LONGEST = 86_400.0  # seconds that anybody waits at all
LIMIT = 16 << 20  # bytes of one message; everybody has to take a megabyte
HEALTHY: Object = {"status": "ok"}
DESCRIBED = ("name", "version", "kind", "capabilities", "inputs", "outputs")
VERBS = ("health", "describe", "invoke")

# The reserved codes, and when hookonce uses them. Modules may have further ones of their own.
CODES = {
    "timeout": "no answer came in time; whether the work was done is not known",
    "oom": "there is no room left for the work: memory ran out, or a queue is full",
    "unreachable": "the module cannot be started or called, or it ended before it answered",
    "bad_request": "the request is not what the protocol or the operation asks for",
    "forbidden": "the caller may not do this: no token, or a capability that was not granted",
    "internal": "the module failed, or answered with something that is no answer",
    "unsupported_op": "the module has no operation of that name",
}


class Error(Struct, frozen=True, omit_defaults=True):
    """Error v1; hints about trying again stand in `details` as `retryable` and `retry_after` (seconds)."""

    code: str
    message: str
    details: Object | None = None


class Fault(HookonceError):
    """An Error v1 that is raised: by operations, to choose the code, and by whoever cannot go on."""

    def __init__(self, code: str, message: str, details: Object | None = None) -> None:
        super().__init__(message)
        self.error = Error(code, message, details)


class Request(Struct, frozen=True, omit_defaults=True):
    """One question to a module; `id` is echoed, so that answers may come in any order."""

    op: str
    args: Object = {}
    session_id: str | None = None
    id: Json | UnsetType = UNSET


class Answer(Struct, frozen=True):
    """What an invocation came to: a result, or an error."""

    ok: bool
    result: Json = None
    error: Error | None = None

    def document(self) -> Object:
        """As it stands on the wire."""
        if self.error is None:
            return {"ok": True, "result": self.result}
        return failure(self.error)


class Plan(Struct, frozen=True):
    """Plan v1: what a session is for."""

    goal: str
    inputs: Object = {}


class Retry(Struct, frozen=True):
    """Whether the same request may be sent again, and after how many seconds; None where nobody said."""

    retryable: bool | None = None
    after: float | None = None


def failure(error: Error) -> Object:
    """The document of an error."""
    told: Object = {"code": error.code, "message": error.message}
    if error.details:
        told["details"] = error.details
    return {"ok": False, "error": told}


def failed(code: str, message: str, **details: Json) -> Object:
    """The document of an error that we make ourselves."""
    return failure(Error(code, message, details or None))


def request_of(document: Json) -> Request:
    """The request that a document holds; `method` is another word for `op`, and an invoke may be spelled out.

    `{"op": X}`, `{"method": X}` and `{"op": "invoke", "args": {"op": X}}` are the same request.
    """
    if type(document) is not dict:
        raise Fault("bad_request", "a request is an object with op and args")
    number = document.get("id", UNSET)
    if document.get("op", document.get("method")) == "invoke":
        inner = document.get("args", document.get("params"))
        document = document | {"method": None, "op": None, "args": {}} | (inner if type(inner) is dict else {})
    op, args = document.get("op"), document.get("args", document.get("params"))
    session = document.get("session_id")
    if op is None:
        op = document.get("method")
    _require(type(op) is str and op != "", "op is required and is a text: the name of an operation", "$.op")
    _require(args is None or type(args) is dict, "args is an object", "$.args")
    _require(session is None or type(session) is str, "session_id is a text", "$.session_id")
    return Request(str(op), args or {}, session, number)


def _require(good: bool, message: str, path: str) -> None:  # noqa: FBT001  a check reads as a sentence
    if not good:
        raise Fault("bad_request", message, {"path": path})


def spelled(request: Request) -> Object:
    """The document of a request, without its id; health and describe take nothing."""
    document: Object = {"op": request.op}
    if request.args or request.op not in VERBS:
        document["args"] = request.args
    if request.session_id is not None:
        document["session_id"] = request.session_id
    return document


def answer_of(document: Json) -> Answer:
    """What a module answered to an invocation; something that is no answer is an internal error of the module."""
    if type(document) is not dict:
        return _no_answer("expected an object")
    ok = document.get("ok")
    if ok is True:
        return Answer(ok=True, result=document.get("result"))
    if ok is not False:
        return _no_answer("expected ok to be true or false")
    return _refused(document.get("error"))


def _refused(told: Any) -> Answer:
    if type(told) is not dict or type(code := told.get("code")) is not str or not code:
        return _no_answer("expected error to have a code and a message")
    message, details = told.get("message"), told.get("details")
    said = message if type(message) is str else f"the module said {code} and nothing more"
    return Answer(ok=False, error=Error(code, said, details if type(details) is dict else None))


def _no_answer(why: str) -> Answer:
    return Answer(ok=False, error=Error("internal", f"the module gave something that is no answer: {why}"))


def retry_of(error: Error) -> Retry:
    """The hints about trying again that an error carries."""
    details = error.details or {}
    may, after = details.get("retryable"), details.get("retry_after")
    return Retry(may if type(may) is bool else None, after if type(after) in (int, float) else None)


def plan_of(document: Json) -> Plan:
    """The plan that a document holds, or bad_request with every problem."""
    if type(document) is not dict:
        raise Fault("bad_request", "a plan is an object with goal and inputs")
    goal, inputs = document.get("goal"), document.get("inputs")
    problems = []
    if not isinstance(goal, str) or not goal:
        problems.append(["$.goal", "is required" if goal is None else "expected a text"])
    if inputs is not None and type(inputs) is not dict:
        problems.append(["$.inputs", "expected an object"])
    if problems or not isinstance(goal, str):
        said = "; ".join(f"{path} {message}" for path, message in problems)
        raise Fault("bad_request", f"the plan has problems: {said}", {"problems": problems})
    return Plan(goal, inputs or {})

"""Operations of a module: request handling, and Python functions as operations with validated arguments.

A request means the same in process, on a line or over HTTP. A function's parameters are its schema; nothing
else reaches it.
"""

import sys
from threading import Event, Thread
from traceback import print_exc
from typing import Protocol

from msgspec import UNSET

from hookonce.model import Json, Object
from hookonce.modules.protocol import ERROR_CODES, HEALTH_OK, Fault, Request, build_error, error_document, parse_request


class OperationLike(Protocol):
    """What can be called with a request."""

    def __call__(self, request: Request) -> Json:
        """Run it."""

    def schemas(self) -> tuple[Object, Object]:
        """The JSON Schemas of its arguments and of its result."""


class DocumentHandler(Protocol):
    """Handler of request documents: a module of our own, or a bridge to another one."""

    def answer(self, document: Json) -> Object:
        """The response document to a request document."""


class OperationProvider(Protocol):
    """What has operations and a description."""

    ops: dict[str, OperationLike]

    def describe(self) -> Object:
        """The six fields that describe a module."""


def handle_request(module: OperationProvider, document: Json) -> Object:
    """Handle a request document; whatever came, there is a response, with the same id."""
    try:
        request = parse_request(document)
    except Fault as fault:
        return _with_id(error_document(fault.error), document.get("id", UNSET) if type(document) is dict else UNSET)
    return _with_id(_handle_op(module, request), request.id)


def _with_id(document: Object, request_id: Json) -> Object:
    if request_id is not UNSET:
        document["id"] = request_id
    return document


def _handle_op(module: OperationProvider, request: Request) -> Object:
    if request.op == "health":
        return dict(HEALTH_OK)
    if request.op == "describe":
        return module.describe()
    operation = module.ops.get(request.op)
    if operation is None:
        return build_error("unsupported_op", f"there is no operation {request.op}", ops=sorted(module.ops))
    return _run_operation(operation, request)


def _run_operation(operation: OperationLike, request: Request) -> Object:
    try:
        return {"ok": True, "result": operation(request)}
    except Fault as fault:
        return error_document(fault.error)
    except MemoryError:
        return build_error("oom", ERROR_CODES["oom"])
    except (Exception, SystemExit) as problem:  # noqa: BLE001  the caller is told; the rest stands in the log
        print_exc(file=sys.stderr)
        return build_error("internal", f"{request.op} failed: {type(problem).__name__}: {problem}")


def timeout_response(document: Json, seconds: float) -> Object:
    """The response when the work takes too long; it may still be done, but its result is dropped."""
    request_id = document.get("id", UNSET) if type(document) is dict else UNSET
    return _with_id(build_error("timeout", f"the work took longer than {seconds:g} seconds", seconds=seconds), request_id)


def handle_within(module: DocumentHandler, document: Json, seconds: float) -> Object:
    """Handle a request document; a timeout response where that takes too long."""
    responses: list[Object] = []
    is_done = Event()

    def run() -> None:
        responses.append(module.answer(document))
        is_done.set()

    Thread(target=run, daemon=True).start()
    return responses[0] if is_done.wait(seconds) else timeout_response(document, seconds)

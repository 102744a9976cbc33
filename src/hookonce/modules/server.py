"""What a module answers: one meaning, whether it is asked in process, on a line or over HTTP."""

import sys
from threading import Event, Thread
from traceback import print_exc
from typing import Protocol

from msgspec import UNSET

from hookonce.model import Json, Object
from hookonce.modules.protocol import CODES, HEALTHY, Fault, Request, failed, failure, request_of


class Doing(Protocol):
    """An operation."""

    def __call__(self, request: Request) -> Json:
        """Do it."""

    def schemas(self) -> tuple[Object, Object]:
        """The JSON Schemas of what it takes and of what it gives."""


class Answering(Protocol):
    """Whoever answers: a module of our own, or a way to another one."""

    def answer(self, document: Json) -> Object:
        """The document that answers a document."""


class Capable(Protocol):
    """What there has to be for questions to be answered."""

    ops: dict[str, Doing]

    def described(self) -> Object:
        """The six fields that describe a module."""


def answer(module: Capable, document: Json) -> Object:
    """The document that answers a document; whatever came, there is one, and it bears the same id."""
    try:
        request = request_of(document)
    except Fault as fault:
        return _numbered(failure(fault.error), document.get("id", UNSET) if type(document) is dict else UNSET)
    return _numbered(_answered(module, request), request.id)


def _numbered(document: Object, number: Json) -> Object:
    if number is not UNSET:
        document["id"] = number
    return document


def _answered(module: Capable, request: Request) -> Object:
    if request.op == "health":
        return dict(HEALTHY)
    if request.op == "describe":
        return module.described()
    operation = module.ops.get(request.op)
    if operation is None:
        return failed("unsupported_op", f"there is no operation {request.op}", ops=sorted(module.ops))
    return _done(operation, request)


def _done(operation: Doing, request: Request) -> Object:
    try:
        return {"ok": True, "result": operation(request)}
    except Fault as fault:
        return failure(fault.error)
    except MemoryError:
        return failed("oom", CODES["oom"])
    except (Exception, SystemExit) as problem:  # noqa: BLE001  the caller is told; the rest stands in the log
        print_exc(file=sys.stderr)
        return failed("internal", f"{request.op} failed: {type(problem).__name__}: {problem}")


def late(document: Json, seconds: float) -> Object:
    """What is answered when the work takes too long; it may still be done, but nobody hears of it."""
    number = document.get("id", UNSET) if type(document) is dict else UNSET
    return _numbered(failed("timeout", f"the work took longer than {seconds:g} seconds", seconds=seconds), number)


def answer_within(module: Answering, document: Json, seconds: float) -> Object:
    """The answer, or that it takes too long."""
    given: list[Object] = []
    done = Event()

    def work() -> None:
        given.append(module.answer(document))
        done.set()

    Thread(target=work, daemon=True).start()
    return given[0] if done.wait(seconds) else late(document, seconds)

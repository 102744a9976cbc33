"""Client of a module: connect, invoke, health and describe, the same for every transport."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Protocol, Self

from hookonce.model import Json, Object, Problem
from hookonce.modules.host.lifecycle import MessageWatcher
from hookonce.modules.protocol.descriptor import Descriptor, mount_problems
from hookonce.modules.protocol.messages import (
    DEFAULT_TIMEOUT_S,
    DESCRIPTION_FIELDS,
    HEALTH_TIMEOUT_S,
    ErrorInfo,
    Fault,
    ModuleResponse,
    Request,
    parse_response,
)


class Closeable(ABC):
    """Context manager that closes itself."""

    @abstractmethod
    def close(self) -> object:
        """Release what is open."""

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


_HEALTH_REQUEST, _DESCRIBE_REQUEST = Request("health"), Request("describe")
_LIST_FIELDS = ("capabilities",)
_SCHEMA_FIELDS = ("inputs", "outputs")


class Link(Protocol):
    """Connection to a module, over any transport."""

    def ask(self, request: Request, timeout: float) -> Object:
        """The response document to a request; a failure of the transport is a response as well."""

    def close(self) -> None:
        """End the connection."""


def connect(
    descriptor: Descriptor, *, env: Mapping[str, str] | None = None, watch: MessageWatcher | None = None
) -> Link:
    """The link to a module; nothing is started or called before the first request."""
    if problems := mount_problems(descriptor):
        problem_text = "; ".join(f"{path} {message}" for path, message in problems)
        raise Fault(
            "bad_request",
            f"{descriptor.name} cannot be reached: {problem_text}",
            {"problems": list(map(list, problems))},
        )
    transport = descriptor.transport
    if transport.type == "stdio":
        from hookonce.modules.host.stdio import StdioLink

        return StdioLink(transport.command, cwd=descriptor.folder, env=env, watch=watch)
    from hookonce.modules.host.http import HttpLink

    return HttpLink(transport.url or "", token_env=transport.token_env, env=env, watch=watch)


def invoke(
    link: Link,
    op: str,
    args: Object | None = None,
    *,
    session_id: str | None = None,
    timeout: float = DEFAULT_TIMEOUT_S,
) -> ModuleResponse:
    """Invoke an operation."""
    return parse_response(link.ask(Request(op, args or {}, session_id), timeout))


def health(link: Link, timeout: float = HEALTH_TIMEOUT_S) -> ModuleResponse:
    """Check a module's health: ok with its status, or an error."""
    answer = _parse_plain_response(link.ask(_HEALTH_REQUEST, timeout))
    if not answer.ok:
        return answer
    status = answer.result.get("status") if type(answer.result) is dict else None
    return answer if status == "ok" else _internal_error(f"its status is not ok but {status!r}", {"status": status})


def describe(link: Link, timeout: float = DEFAULT_TIMEOUT_S) -> ModuleResponse:
    """A module's description of itself, or an error that names every problem of it."""
    answer = _parse_plain_response(link.ask(_DESCRIBE_REQUEST, timeout))
    problems = description_problems(answer.result) if answer.ok else []
    if not problems:
        return answer
    problem_text = "; ".join(f"{path} {message}" for path, message in problems)
    return _internal_error(f"its description has problems: {problem_text}", {"problems": list(map(list, problems))})


def _parse_plain_response(document: Json) -> ModuleResponse:
    """Health and describe are answered as they are; some modules answer them as if they were invoked."""
    return (
        parse_response(document)
        if type(document) is not dict or "ok" in document
        else ModuleResponse(ok=True, result=document)
    )


def description_problems(document: Json) -> list[Problem]:
    """Problems of a description: fields that are missing or of the wrong type."""
    if type(document) is not dict:
        return [("$", "expected an object")]
    problems = [(f"$.{name}", "is required") for name in DESCRIPTION_FIELDS if name not in document]
    for name in DESCRIPTION_FIELDS:
        value = document.get(name)
        if value is None:
            continue
        if name in _LIST_FIELDS:
            is_valid, expectation = type(value) is list and all(type(item) is str for item in value), "a list of texts"
        elif name in _SCHEMA_FIELDS:
            is_valid, expectation = type(value) in (dict, bool), "a JSON Schema"
        else:
            is_valid, expectation = type(value) is str, "a text"
        if not is_valid:
            problems.append((f"$.{name}", f"expected {expectation}"))
    return problems


def _internal_error(message: str, details: Object) -> ModuleResponse:
    return ModuleResponse(ok=False, error=ErrorInfo("internal", f"the module answered, but {message}", details))

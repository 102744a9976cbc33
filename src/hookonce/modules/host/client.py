"""Client of a module: connect, invoke, health and describe, the same for every transport."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, Self

from hookonce.model import Json, Object, Problem
from hookonce.modules.protocol import messages
from hookonce.modules.protocol.descriptor import Descriptor
from hookonce.modules.protocol.messages import DEFAULT_TIMEOUT_S
from hookonce.modules.protocol.validation import require_reachable


class Closeable(ABC):
    """Context manager that closes itself."""

    @abstractmethod
    def close(self) -> object:
        """Release what is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class TimeLimit(NamedTuple):
    """How many seconds a request was given, and the moment at which they are over."""

    timeout: float
    deadline: float


_SCHEMA_TYPES = ((dict, bool), "a JSON Schema")
_FIELD_TYPES = {"capabilities": ((list,), "a list of texts"), "inputs": _SCHEMA_TYPES, "outputs": _SCHEMA_TYPES}


class Link(Protocol):
    """Connection to a module, over any transport."""

    def ask(self, request: messages.Request, timeout: float) -> Object:
        """The response document to a request; a failure of the transport is a response as well."""

    def close(self) -> None:
        """End the connection."""


def connect(
    descriptor: Descriptor, *, env: Mapping[str, str] | None = None, watch: messages.MessageWatcher | None = None
) -> Link:
    """The link to a module; nothing is started or called before the first request."""
    require_reachable(descriptor, "reached")
    transport = descriptor.transport
    if transport.type == "mcp":
        return _connect_mcp(descriptor, env, watch)
    if transport.type == "grpc":
        from hookonce.modules.host.grpc import GrpcLink

        return GrpcLink(descriptor, env, watch)
    if transport.type == "stdio":
        from hookonce.modules.host.stdio import StdioLink

        return StdioLink(transport.command, descriptor.folder, env, watch)
    from hookonce.modules.host.http import HttpLink

    return HttpLink(transport.url or "", transport.token_env, env, watch)


def _connect_mcp(descriptor: Descriptor, env: Mapping[str, str] | None, watch: messages.MessageWatcher | None) -> Link:
    from hookonce.modules.host.mcp import McpLink
    from hookonce.modules.host.mcp_http import McpHttpTransport
    from hookonce.modules.host.mcp_stdio import McpStdioTransport

    source = descriptor.transport
    if source.command:
        return McpLink(descriptor, McpStdioTransport(source.command, descriptor.folder, env, watch))
    return McpLink(descriptor, McpHttpTransport(source.url or "", source.token_env, env, watch))


def invoke(
    link: Link,
    op: str,
    args: Object | None = None,
    *,
    session_id: str | None = None,
    timeout: float = DEFAULT_TIMEOUT_S,
) -> messages.ModuleResponse:
    """Invoke an operation; health and describe are answered with what the module says of itself as the result."""
    document: Json = link.ask(messages.Request(op, args or {}, session_id), timeout)
    if op in messages.PLAIN_VERBS:
        return messages.parse_plain_response(op, document)
    return messages.parse_response(document)


def health(link: Link, timeout: float = messages.HEALTH_TIMEOUT_S) -> messages.ModuleResponse:
    """Check a module's health: ok with its status, or an error."""
    return invoke(link, "health", timeout=timeout)


def description_problems(document: Json) -> list[Problem]:
    """Problems of a description: fields that are missing or of the wrong type."""
    if type(document) is not dict:
        return [("$", "expected an object")]
    problems = [(f"$.{name}", "is required") for name in messages.DESCRIPTION_FIELDS if name not in document]
    for name in messages.DESCRIPTION_FIELDS:
        types, expectation = _FIELD_TYPES.get(name, ((str,), "a text"))
        value: Any = document.get(name)
        is_valid = type(value) in types and (types != (list,) or all(type(item) is str for item in value))
        if value is not None and not is_valid:
            problems.append((f"$.{name}", f"expected {expectation}"))
    return problems

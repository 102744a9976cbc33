"""MCP link: a server of the Model Context Protocol as a module, whose operations are its tools."""

from threading import Lock
from time import monotonic
from typing import Any, Protocol

from msgspec import Struct

from hookonce import __version__
from hookonce.model import Object
from hookonce.modules.host.client import Closeable, TimeLimit
from hookonce.modules.protocol import mcp, messages
from hookonce.modules.protocol.descriptor import DEFAULT_VERSION, Descriptor, OperationSchema, build_description
from hookonce.modules.protocol.messages import Fault

_CLIENT: Object = {"name": "hookonce", "version": __version__}
_SESSION_KEY = "dev.hookonce/session_id"  # in `_meta` of a call
_MAX_PAGES = 1000  # of a list of tools


class McpSession(Struct, frozen=True, kw_only=True):
    """What was agreed with a server: the protocol's version, and what the server says that it is."""

    version: str
    server: Object

    @property
    def is_stateless(self) -> bool:
        """Whether every request says what it speaks."""
        return self.version == mcp.STATELESS_VERSION


class McpConnection(Protocol):
    """One life of a server, or one session with it; `session` is None before the handshake."""

    session: McpSession | None
    handshake_lock: Lock

    def exchange(self, document: Object, timeout: float, deadline: float) -> Object | None:
        """The response to a request, perhaps an error of ours; None if the server has gone and did not get it."""

    def notify(self, document: Object, deadline: float) -> None:
        """Send a notification."""


class McpTransport(Protocol):
    """How a server is reached; `change_count` is how often it has said that its tools have changed."""

    change_count: int

    @property
    def pid(self) -> int | None:
        """The id of its process, where it is ours and runs."""

    def open_connection(self) -> McpConnection:
        """The connection to the server, which is started if need be."""

    def close(self) -> object:
        """End the server, or the session with it."""


class McpLink(Closeable):
    """Link to a server; any number of threads may send requests at the same time."""

    def __init__(self, descriptor: Descriptor, transport: McpTransport) -> None:
        self._descriptor, self._transport = descriptor, transport
        self._tools: dict[str, Object] = {}
        self._tools_count = 0  # the change count at which they were listed

    @property
    def pid(self) -> int | None:
        """The id of the server's process, where it is ours and runs."""
        return self._transport.pid

    def close(self) -> None:
        """End the server, or the session with it."""
        self._transport.close()

    def ask(self, request: messages.Request, timeout: float) -> Object:
        """Send a request; every failure is a response too."""
        limit = TimeLimit(timeout, monotonic() + min(timeout, messages.MAX_TIMEOUT_S))
        if not request.op:
            return messages.build_error("bad_request", "op is required and is a text: the name of an operation")
        try:
            if request.op == "health":
                return self._check_health(limit)
            if request.op == "describe":
                return self._describe(limit)
            return self._call_tool(request, limit)
        except Fault as fault:
            return fault.document

    def _check_health(self, limit: TimeLimit) -> Object:
        connection = self._connect(limit)
        is_stateless = connection.session is not None and connection.session.is_stateless
        self._call("server/discover" if is_stateless else "ping", {}, limit)
        return dict(messages.HEALTH_OK)

    def _describe(self, limit: TimeLimit) -> Object:
        tools, session = self._list_tools(limit), self._connect(limit).session
        own, server = self._descriptor, {} if session is None else session.server
        version = server.get("version") if own.version == DEFAULT_VERSION else None
        schemas = {name: _operation_schema(tool) for name, tool in tools.items()}
        own_version = version if type(version) is str and version else own.version
        return build_description(own.name, own_version, own.kind, own.capabilities, schemas)

    def _call_tool(self, request: messages.Request, limit: TimeLimit) -> Object:
        tools = self._tools if self._tools_count == self._transport.change_count else {}
        if request.op not in tools:
            tools = self._list_tools(limit)
        tool = tools.get(request.op)
        if tool is None:
            raise Fault("unsupported_op", f"the server has no tool {request.op}", {"ops": sorted(tools)})
        params: Object = {"name": tool["name"], "arguments": request.args}
        params |= {} if request.session_id is None else {"_meta": {_SESSION_KEY: request.session_id}}
        return mcp.parse_tool_result(self._call("tools/call", params, limit)).to_document()

    def _list_tools(self, limit: TimeLimit) -> dict[str, Object]:
        """The tools of now by the names of their operations; a server without tools may not know the question."""
        tools: dict[str, Object] = {}
        change_count, cursor = self._transport.change_count, None
        for _ in range(_MAX_PAGES):
            try:
                page = self._call("tools/list", {} if cursor is None else {"cursor": cursor}, limit)
            except Fault as fault:
                if fault.error.code != "unsupported_op" or tools:
                    raise
                page = {}
            raw_rows = page.get("tools")
            rows: list[Any] = raw_rows if type(raw_rows) is list else []
            named_rows = (row for row in rows if type(row) is dict and type(row.get("name")) is str)
            tools |= {messages.name_operation(str(row["name"])): row for row in named_rows}
            cursor = page.get("nextCursor")
            if cursor is None:
                self._tools, self._tools_count = tools, change_count
                return tools
        raise Fault("internal", f"the list of tools has more than {_MAX_PAGES} pages")

    def _call(self, method: str, params: Object, limit: TimeLimit) -> Object:
        """The result of a request; a Fault where there is none."""
        for _ in range(2):  # again, if the server has ended or forgotten us before it got the request
            connection = self._connect(limit)
            document = mcp.request_message(method, _with_meta(params, connection.session))
            response = connection.exchange(document, *limit)
            if response is not None:
                return _parse_result(response)
        raise Fault("unreachable", "the server ends before it reads a request", {"retryable": True})

    def _connect(self, limit: TimeLimit) -> McpConnection:
        """The connection, after its handshake."""
        for _ in range(2):
            connection = self._transport.open_connection()
            if connection.session is not None:
                return connection
            if not connection.handshake_lock.acquire(timeout=max(0.0, limit.deadline - monotonic())):
                raise Fault("timeout", f"no answer within {limit.timeout:g} seconds", {"seconds": limit.timeout})
            try:
                if connection.session is None:
                    connection.session = _shake_hands(connection, limit)
            finally:
                connection.handshake_lock.release()
            if connection.session is not None:
                return connection
        raise Fault("unreachable", "the server ends before it reads a request", {"retryable": True})


def _shake_hands(connection: McpConnection, limit: TimeLimit) -> McpSession | None:
    """What is agreed with a server; None if it is gone. One that refuses the handshake may be of a version without."""
    params: Object = {"protocolVersion": mcp.HANDSHAKE_VERSIONS[0], "capabilities": {}, "clientInfo": _CLIENT}
    response = connection.exchange(mcp.request_message("initialize", params), *limit)
    if response is None:
        return None
    if "ok" not in response and "error" in response:
        return _discover(connection, mcp.parse_error(response["error"]).message, limit)
    result = _parse_result(response)
    version, server = result.get("protocolVersion"), result.get("serverInfo")
    if version not in mcp.HANDSHAKE_VERSIONS:
        known_versions = ", ".join(mcp.HANDSHAKE_VERSIONS)
        raise Fault("unreachable", f"the server speaks version {version} of MCP; hookonce speaks {known_versions}")
    session = McpSession(version=version, server=server if type(server) is dict else {})
    connection.session = session  # the notification is of this version
    connection.notify(mcp.request_message("notifications/initialized"), limit.deadline)
    return session


def _discover(connection: McpConnection, refusal: str, limit: TimeLimit) -> McpSession | None:
    session = McpSession(version=mcp.STATELESS_VERSION, server={})
    response = connection.exchange(mcp.request_message("server/discover", _with_meta({}, session)), *limit)
    if response is None:
        return None
    if "ok" not in response and "error" in response:
        raise Fault("unreachable", f"the server refuses to speak MCP: {refusal}")
    server = _parse_result(response).get("serverInfo")
    return McpSession(version=session.version, server=server if type(server) is dict else {})


def _with_meta(params: Object, session: McpSession | None) -> Object:
    if session is None or not session.is_stateless:
        return params
    return params | {"_meta": mcp.stateless_meta(_CLIENT) | params.get("_meta", {})}


def _parse_result(response: Object) -> Object:
    if "ok" in response:  # it is ours: the server gave none
        error = messages.parse_response(response).error or messages.ErrorInfo("internal", "no answer")
        raise Fault(error.code, error.message, error.details)
    if "error" in response:
        error = mcp.parse_error(response["error"])
        raise Fault(error.code, error.message, error.details)
    result = response.get("result")
    if type(result) is not dict:
        raise Fault("internal", "the server's answer is not valid: expected a result or an error")
    return result


def _operation_schema(tool: Object) -> OperationSchema:
    args, result, description = tool.get("inputSchema"), tool.get("outputSchema"), tool.get("description")
    return OperationSchema(
        args=args if type(args) is dict else {"type": "object"},
        result=result if type(result) is dict else {},
        description=description if type(description) is str else "",
    )

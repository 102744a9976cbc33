"""MCP server of a module on stdio: its operations are tools; initialize, ping, tools/list and tools/call."""

import sys
from contextlib import suppress
from typing import BinaryIO

from hookonce.base.jsontext import dump
from hookonce.model import Json, Object
from hookonce.modules.protocol import mcp, messages
from hookonce.modules.server.authoring import Module


class _JsonRpcError(Exception):
    """Error of JSON-RPC."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def serve_mcp(module: Module, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
    """Answer line by line until the input ends."""
    source, sink = stdin or sys.stdin.buffer, stdout or sys.stdout.buffer
    with suppress(BrokenPipeError, KeyboardInterrupt):  # the client has gone
        while line := _read_line(source):
            response = _handle_line(module, line)
            if response is not None:
                sink.write(messages.encode_line(response))
                sink.flush()


def _read_line(source: BinaryIO) -> bytes:
    """The next line; of one that is too long only its beginning, and the rest is skipped."""
    line = source.readline(messages.MAX_MESSAGE_BYTES + 1)
    chunk = line
    while len(chunk) > messages.MAX_MESSAGE_BYTES and not chunk.endswith(b"\n"):
        chunk = source.readline(messages.MAX_MESSAGE_BYTES + 1)
    return line


def _handle_line(module: Module, line: bytes) -> Json:
    """The response to a line: several for a batch, None for notifications."""
    is_whole = len(line) <= messages.MAX_MESSAGE_BYTES
    if is_whole and not line.strip():
        return None
    try:
        message = messages.decode_line(line if is_whole else b"")
    except ValueError:
        return _error_message(None, _JsonRpcError(mcp.PARSE_ERROR, "this is not JSON, or longer than a message may be"))
    if type(message) is not list or not message:
        return _handle_message(module, message)
    return [response for item in message if (response := _handle_message(module, item)) is not None] or None


def _handle_message(module: Module, message: Json) -> Object | None:
    if type(message) is not dict or message.get("jsonrpc") != "2.0" or type(message.get("id", 0)) not in (int, str):
        problem = _JsonRpcError(mcp.INVALID_REQUEST, "expected an object of JSON-RPC 2.0, its id a number or a text")
        return _error_message(None, problem)
    is_request = "id" in message and "method" in message
    try:
        result = _call_method(module, message) if is_request else {}
    except _JsonRpcError as problem:
        return _error_message(message["id"], problem)
    return mcp.result_message(message["id"], result) if is_request else None


def _error_message(message_id: Json, problem: _JsonRpcError) -> Object:
    return mcp.error_message(message_id, problem.code, str(problem))


def _call_method(module: Module, message: Object) -> Object:
    method, params = message.get("method"), message.get("params")
    arguments: Object = params if type(params) is dict else {}
    if method == "initialize":
        version = arguments.get("protocolVersion")
        return {
            "protocolVersion": version if version in mcp.HANDSHAKE_VERSIONS else mcp.HANDSHAKE_VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": module.name, "version": module.version},
        }
    if method == "tools/list":
        schemas = {name: {"type": "object"} | operation.schemas()[0] for name, operation in module.ops.items()}
        return {
            "tools": [
                {"name": name, "description": module.ops[name].description, "inputSchema": schema}
                for name, schema in schemas.items()
            ]
        }
    if method == "tools/call":
        return _call_tool(module, arguments)
    if method == "ping":
        return {}
    raise _JsonRpcError(mcp.METHOD_NOT_FOUND, f"there is no method {method}")


def _call_tool(module: Module, params: Object) -> Object:
    name, args = params.get("name"), params.get("arguments") or {}
    if type(name) is not str or name not in module.ops:
        raise _JsonRpcError(mcp.INVALID_PARAMS, f"there is no tool {name}; there are {', '.join(module.ops)}")
    if type(args) is not dict:
        raise _JsonRpcError(mcp.INVALID_PARAMS, "arguments is an object")
    response = messages.parse_response(module.ask(messages.Request(name, args), messages.DEFAULT_TIMEOUT_S))
    output = response.result if response.error is None else f"{response.error.code}: {response.error.message}"
    text = output if type(output) is str else dump(output).decode()
    return {"content": [{"type": "text", "text": text}], "isError": not response.ok}

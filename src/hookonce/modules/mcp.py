"""A module as an MCP server on stdio: its operations are tools, so that an agent can call them.

JSON-RPC 2.0, one message to a line. Of the Model Context Protocol this is initialize, ping, tools/list and tools/call.
"""

import sys
from contextlib import suppress
from typing import BinaryIO

from hookonce.model import Json, Object
from hookonce.modules.lines import document_of, line_of
from hookonce.modules.own import Module
from hookonce.modules.protocol import LIMIT, TIMEOUT, Request, answer_of
from hookonce.texts import dump

VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05")
_PARSE, _INVALID, _METHOD, _PARAMS = -32700, -32600, -32601, -32602


class _Problem(Exception):
    """An error of JSON-RPC."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def serve(module: Module, given: BinaryIO | None = None, told: BinaryIO | None = None) -> None:
    """Answer line by line until nothing more comes."""
    source, sink = given or sys.stdin.buffer, told or sys.stdout.buffer
    with suppress(BrokenPipeError, KeyboardInterrupt):  # nobody listens any more
        while line := _line(source):
            answer = _answered(module, line)
            if answer is not None:
                sink.write(line_of(answer))
                sink.flush()


def _line(source: BinaryIO) -> bytes:
    """The next line; of one that is too long only so much that this can be seen, and its rest is passed over."""
    line = source.readline(LIMIT + 1)
    rest = line
    while len(rest) > LIMIT and not rest.endswith(b"\n"):
        rest = source.readline(LIMIT + 1)
    return line


def _answered(module: Module, line: bytes) -> Json:
    """What is said to a line: to several messages at once, several answers; nothing where nothing is asked."""
    is_whole = len(line) <= LIMIT
    if is_whole and not line.strip():
        return None
    try:
        found = document_of(line if is_whole else b"")
    except ValueError:
        return _wrong(None, _Problem(_PARSE, "this is no JSON, or longer than a message may be"))
    if type(found) is not list or not found:
        return _answer(module, found)
    return [said for one in found if (said := _answer(module, one)) is not None] or None


def _answer(module: Module, message: Json) -> Object | None:
    """What is said to a message; nothing to a notification, nor to an answer."""
    if type(message) is not dict or message.get("jsonrpc") != "2.0" or type(message.get("id", 0)) not in (int, str):
        return _wrong(None, _Problem(_INVALID, "expected an object of JSON-RPC 2.0, its id a number or a text"))
    is_asked = "id" in message and "method" in message
    try:
        result = _result(module, message) if is_asked else {}
    except _Problem as problem:
        return _wrong(message["id"], problem)
    return {"jsonrpc": "2.0", "id": message["id"], "result": result} if is_asked else None


def _wrong(number: Json, problem: _Problem) -> Object:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": problem.code, "message": str(problem)}}


def _result(module: Module, message: Object) -> Object:
    method, params = message.get("method"), message.get("params")
    given: Object = params if type(params) is dict else {}
    if method == "initialize":
        return _initialized(module, given)
    if method == "tools/list":
        return {"tools": [_tool(module, name) for name in module.ops]}
    if method == "tools/call":
        return _called(module, given)
    if method == "ping":
        return {}
    raise _Problem(_METHOD, f"there is no method {method}")


def _initialized(module: Module, given: Object) -> Object:
    asked = given.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": module.name, "version": module.version},
    }


def _tool(module: Module, name: str) -> Object:
    takes, _ = module.ops[name].schemas()
    said = getattr(module.ops[name], "said", "")
    return {"name": name, "description": said, "inputSchema": {"type": "object"} | takes}


def _called(module: Module, given: Object) -> Object:
    name, args = given.get("name"), given.get("arguments") or {}
    if type(name) is not str or name not in module.ops:
        raise _Problem(_PARAMS, f"there is no tool {name}; there are {', '.join(module.ops)}")
    if type(args) is not dict:
        raise _Problem(_PARAMS, "arguments is an object")
    answer = answer_of(module.ask(Request(name, args), TIMEOUT))
    said = answer.result if answer.error is None else f"{answer.error.code}: {answer.error.message}"
    text = said if type(said) is str else dump(said).decode()
    return {"content": [{"type": "text", "text": text}], "isError": not answer.ok}

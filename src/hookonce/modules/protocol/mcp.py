"""Model Context Protocol: versions, messages of JSON-RPC, and what a tool's result is in the module protocol."""

from typing import Any

from hookonce.model import Json, Object
from hookonce.modules.protocol.messages import ErrorInfo, ModuleResponse

HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # that begin with `initialize`
STATELESS_VERSION = "2026-07-28"  # which has no handshake: every request says what it speaks
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
TOOL_ERROR = "tool_error"  # the error code of a tool that says it failed
_ERROR_CODES = {
    PARSE_ERROR: "bad_request",
    INVALID_REQUEST: "bad_request",
    METHOD_NOT_FOUND: "unsupported_op",
    INVALID_PARAMS: "bad_request",
}
_META_PREFIX = "io.modelcontextprotocol/"


def request_message(method: str, params: Object | None = None) -> Object:
    """A request of JSON-RPC without its id, or a notification."""
    return {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params})


def result_message(message_id: Json, result: Json) -> Object:
    """The response to a request."""
    return {"jsonrpc": "2.0", "id": message_id, "result": result}


def error_message(message_id: Json, code: int, message: str) -> Object:
    """The response that refuses a request."""
    return {"jsonrpc": "2.0", "id": message_id, "error": {"code": code, "message": message}}


def answer_server_request(message: Object) -> Object | None:
    """Our response to what a server asks of us: it may ping; None for a notification."""
    if "id" not in message:
        return None
    if message["method"] == "ping":
        return result_message(message["id"], {})
    return error_message(message["id"], METHOD_NOT_FOUND, f"hookonce has no {message['method']}")


def stateless_meta(client: Object) -> Object:
    """What every request says of its sender, where there is no handshake."""
    fields = {"protocolVersion": STATELESS_VERSION, "clientCapabilities": {}, "clientInfo": client}
    return {f"{_META_PREFIX}{name}": value for name, value in fields.items()}


def parse_error(error: Json) -> ErrorInfo:
    """An error of JSON-RPC as Error v1; its own code stands in the details."""
    fields: Object = error if type(error) is dict else {}
    code, message = fields.get("code"), fields.get("message")
    text = message if type(message) is str and message else "the server refused it and said nothing more"
    details: Object = {"jsonrpc_code": code} | ({"data": fields["data"]} if "data" in fields else {})
    return ErrorInfo(_ERROR_CODES.get(code, "internal") if type(code) is int else "internal", text, details)


def parse_tool_result(result: Json) -> ModuleResponse:
    """The result of a tool: its structured content, else its text, else all of its content."""
    if type(result) is not dict or result.get("resultType", "complete") != "complete":
        reason = "it asks for input, which is not possible here" if type(result) is dict else "expected an object"
        return ModuleResponse(ok=False, error=ErrorInfo("internal", f"the tool gave no result: {reason}"))
    raw_content = result.get("content")
    content: list[Any] = raw_content if type(raw_content) is list else []
    texts: list[Any] = [item.get("text") for item in content if type(item) is dict and item.get("type") == "text"]
    is_text = len(texts) == len(content) and all(type(text) is str for text in texts)
    if result.get("isError") is True:
        message = "\n".join(texts) if texts and is_text else "the tool failed and said nothing that can be read"
        details = {name: result[name] for name in ("content", "structuredContent") if name in result and not is_text}
        return ModuleResponse(ok=False, error=ErrorInfo(TOOL_ERROR, message, details or None))
    if "structuredContent" in result and is_text:  # its text says the same
        return ModuleResponse(ok=True, result=result["structuredContent"])
    if "structuredContent" not in result and is_text and len(texts) == 1:
        return ModuleResponse(ok=True, result=texts[0])
    whole = {name: result[name] for name in ("content", "structuredContent") if name in result}
    return ModuleResponse(ok=True, result=whole)

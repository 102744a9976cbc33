"""gRPC messages of Amplifier: their fields as tables, a codec for them, and their meaning in the module protocol.

Services and field numbers are those of `amplifier_module.proto` of microsoft/amplifier-core; five messages of them do
not need the library of Protocol Buffers.
"""

from collections.abc import Mapping
from math import isfinite
from struct import unpack
from typing import Any, NamedTuple

from hookonce.base.jsontext import as_dict, dump
from hookonce.formats.amplifier.envelope import extract_subjects
from hookonce.model import Json, Object
from hookonce.modules.protocol.descriptor import OperationSchema
from hookonce.modules.protocol.mcp import TOOL_ERROR
from hookonce.modules.protocol.messages import ErrorInfo, Fault, ModuleResponse, decode_line, name_operation

MISSING_LIBRARY = "gRPC needs the package grpcio; install it with: pip install 'hookonce[grpc]'"
_JSON_TYPE = "application/json"
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5  # wire types
_FIXED_BYTES = {_FIXED64: 8, _FIXED32: 4}
_MAX_VARINT_BITS = 64
_DEFAULT_APPROVAL_TIMEOUT_S = 300.0


class MessageField(NamedTuple):
    """A field of a message: its name, its type, and of an enumeration the words for its numbers."""

    name: str
    type: str = "text"
    words: tuple[str, ...] = ()


MessageFields = Mapping[int, MessageField]
_LIST_TYPES = {"texts": "text", "parts": "bytes"}
_WIRE_TYPES = dict.fromkeys(("text", "bytes", *_LIST_TYPES), _LENGTH) | {"bool": _VARINT, "enum": _VARINT}
_WIRE_TYPES |= {"double": _FIXED64}
_DEFAULTS: dict[str, Any] = {"text": "", "bytes": b"", "bool": False, "double": None}

TOOL_SPEC = {1: MessageField("name"), 2: MessageField("description"), 3: MessageField("parameters_json")}
TOOL_REQUEST = {1: MessageField("input", "bytes"), 2: MessageField("content_type")}
TOOL_RESPONSE = {
    1: MessageField("success", "bool"),
    2: MessageField("output", "bytes"),
    3: MessageField("content_type"),
    4: MessageField("error"),
    5: MessageField("content_blocks", "parts"),
}
HOOK_REQUEST = {1: MessageField("event"), 2: MessageField("data_json")}
HOOK_RESULT = {  # an enumeration that is not set (0) is what Amplifier takes it for
    1: MessageField("action", "enum", ("continue", "continue", "modify", "deny", "inject_context", "ask_user")),
    2: MessageField("data_json"),
    3: MessageField("reason"),
    4: MessageField("context_injection"),
    5: MessageField("context_injection_role", "enum", ("system", "system", "user", "assistant")),
    6: MessageField("ephemeral", "bool"),
    7: MessageField("approval_prompt"),
    8: MessageField("approval_options", "texts"),
    9: MessageField("approval_timeout", "double"),
    10: MessageField("approval_default", "enum", ("deny", "allow", "deny")),
    11: MessageField("suppress_output", "bool"),
    12: MessageField("user_message"),
    13: MessageField("user_message_level", "enum", ("info", "info", "warning", "error")),
    14: MessageField("user_message_source"),
    15: MessageField("append_to_last_tool_result", "bool"),
}


def encode_message(fields: MessageFields, values: Mapping[str, bytes]) -> bytes:
    """Encode a message whose fields are texts or bytes."""
    present = [(number, values[field.name]) for number, field in fields.items() if values[field.name]]
    return b"".join(_encode_varint(number << 3 | _LENGTH) + _encode_varint(len(raw)) + raw for number, raw in present)


def _encode_varint(number: int) -> bytes:
    groups = []
    while number > 0x7F:  # noqa: PLR2004  seven bits in a byte, and one that says whether more follow
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


def decode_message(fields: MessageFields, raw: bytes) -> Object:
    """Decode a message, with defaults for what is not there; `internal` with what is wrong with it."""
    try:
        return _decode_message(fields, raw)
    except ValueError as problem:
        raise _invalid_answer(str(problem)) from None


def _invalid_answer(reason: str) -> Fault:
    return Fault("internal", f"the module's answer is not valid: {reason}")


def _decode_message(fields: MessageFields, raw: bytes) -> Object:
    message: Object = {field.name: _default_value(field) for field in fields.values()}
    position = 0
    while position < len(raw):
        tag, position = _read_varint(raw, position)
        value, position = _read_value(raw, position, tag & 7)
        field = fields.get(tag >> 3)
        if field is None:  # of a later version
            continue
        if tag & 7 != _WIRE_TYPES[field.type]:
            raise ValueError(f"{field.name} has the wire type {tag & 7}")
        if field.type in _LIST_TYPES:
            message[field.name].append(_convert_value(field, _LIST_TYPES[field.type], value))
        else:
            message[field.name] = _convert_value(field, field.type, value)
    return message


def _default_value(field: MessageField) -> Any:
    return [] if field.type in _LIST_TYPES else field.words[0] if field.words else _DEFAULTS[field.type]


def _convert_value(field: MessageField, value_type: str, value: Any) -> Any:
    match value_type:
        case "text":
            try:
                return value.decode()
            except UnicodeDecodeError:
                raise ValueError(f"{field.name} is not UTF-8") from None
        case "bool":
            return value != 0
        case "enum":  # an unknown number stays one
            return field.words[value] if value < len(field.words) else value
        case "double":
            (number,) = unpack("<d", value)
            if not isfinite(number):
                raise ValueError(f"{field.name} is not a number")
            return number
    return value


def _read_value(raw: bytes, position: int, wire_type: int) -> tuple[int | bytes, int]:
    if wire_type == _VARINT:
        return _read_varint(raw, position)
    if wire_type == _LENGTH:
        size, position = _read_varint(raw, position)
    elif wire_type in _FIXED_BYTES:
        size = _FIXED_BYTES[wire_type]
    else:
        raise ValueError(f"a field has the wire type {wire_type}")
    if position + size > len(raw):
        raise ValueError("it ends in the middle of a field")
    return raw[position : position + size], position + size


def _read_varint(raw: bytes, position: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, _MAX_VARINT_BITS, 7):
        if position >= len(raw):
            raise ValueError("it ends in the middle of a number")
        byte = raw[position]
        number, position = number | (byte & 0x7F) << shift, position + 1
        if byte < 0x80:  # noqa: PLR2004  as above
            return number, position
    raise ValueError("a number has more than 64 bits")


def _parse_json(name: str, text: str | bytes) -> Json:
    try:
        return decode_line(text if isinstance(text, bytes) else text.encode()) if text else None
    except ValueError:
        raise _invalid_answer(f"{name} is not JSON") from None


def _parse_object(name: str, text: str) -> Object | None:
    value = _parse_json(name, text)
    if value is not None and type(value) is not dict:
        raise _invalid_answer(f"{name} is not a JSON object")
    return value


def parse_tool_spec(raw: bytes) -> tuple[str, OperationSchema]:
    """The operation of a tool: its name, and what it takes."""
    spec = decode_message(TOOL_SPEC, raw)
    if not spec["name"]:
        raise _invalid_answer("the tool has no name")
    args = _parse_object("parameters_json", spec["parameters_json"]) or {"type": "object"}
    return name_operation(spec["name"]), OperationSchema(args=args, result={}, description=spec["description"])


def encode_tool_request(args: Object) -> bytes:
    """The request that executes a tool."""
    return encode_message(TOOL_REQUEST, {"input": dump(args), "content_type": _JSON_TYPE.encode()})


def parse_tool_response(raw: bytes) -> ModuleResponse:
    """The result of a tool, or its error."""
    answer = decode_message(TOOL_RESPONSE, raw)
    output: bytes = answer["output"]
    if not answer["success"]:
        message = answer["error"] or "the tool failed and said nothing more"
        details = {"output": output.decode(errors="replace")} if output else None
        return ModuleResponse(ok=False, error=ErrorInfo(TOOL_ERROR, message, details))
    if not output and answer["content_blocks"]:
        raise Fault("internal", "the tool answered with content blocks alone; only its output is read here")
    return ModuleResponse(ok=True, result=_parse_json(f"the output ({answer['content_type'] or _JSON_TYPE})", output))


def build_hook_data(event: Object, session_id: str | None) -> Object:
    """What a hook is told of an Event v1: its data, its other fields, and what the hook may modify."""
    fields = {name: value for name, value in event.items() if name not in {"event", "data"}}
    session = {} if session_id is None else {"session_id": session_id}
    return session | extract_subjects(event) | fields | as_dict(event.get("data"))


def encode_hook_request(event: str, data: Object) -> bytes:
    """The request that has a hook handle an event."""
    return encode_message(HOOK_REQUEST, {"event": event.encode(errors="replace"), "data_json": dump(data)})


def parse_hook_result(raw: bytes, data: Object) -> Object:
    """The answer of a hook that was told this data: the fields of its HookResult, and what they decide."""
    message = decode_message(HOOK_RESULT, raw)
    if type(message["action"]) is int:  # it may be a refusal: nobody goes on as if it were none
        raise _invalid_answer(f"there is no action {message['action']}")
    new_data = _parse_object("data_json", message.pop("data_json"))
    result: Object = {name: None if value in ("", []) else value for name, value in message.items()}
    result["data"] = new_data
    if result["approval_timeout"] is None:
        result["approval_timeout"] = _DEFAULT_APPROVAL_TIMEOUT_S
    return result | _decision_fields(result, data)


def _decision_fields(result: Object, data: Object) -> Object:
    """What a HookResult decides, in the words that other hooks have for it."""
    fields: Object = {} if result["user_message"] is None else {"system_message": result["user_message"]}
    match result["action"]:
        case "deny":
            return fields | {"decision": "deny"}
        case "ask_user":
            return fields | {"decision": "ask", "reason": result["reason"] or result["approval_prompt"]}
        case "inject_context":
            return fields | {"context": result["context_injection"]}
        case "modify":
            changes = {name: value for name, value in (result["data"] or {}).items() if value != data.get(name)}
            if "tool_input" in changes and "tool_input" in data:
                return fields | {"updated_input": changes["tool_input"]}
            if "prompt" in changes and "prompt" in data:
                return fields | {"updated_input": {"prompt": changes["prompt"]}}
    return fields

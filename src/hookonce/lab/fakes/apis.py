"""Codecs of the model APIs that the scripted server speaks; the table at the end is the only list of them."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from hookonce.base.jsontext import dump
from hookonce.lab.fakes.conversation import ChatMessage, Conversation, ModelToolCall, ModelTurn, ToolOffer
from hookonce.model import Object

StreamEvent = tuple[str | None, Object | str]  # the event's name if it has one, and its data

_JSON_FORMATS = {"json_object", "json_schema"}


class ModelApi(Struct, frozen=True):
    """Codec of one model API: parse a request, build a response, a stream or an error."""

    name: str
    read_request: Callable[[Object, str], Conversation]
    build_response: Callable[[ModelTurn, Conversation], Object]
    build_stream: Callable[[ModelTurn, Conversation], Iterator[StreamEvent]]
    build_error: Callable[[int, str], Object]


def _join_texts(content: Any) -> str:
    if type(content) is str:
        return content
    if type(content) is dict:
        return _join_texts(content.get("text") or content.get("content") or content.get("output") or "")
    return "\n".join(filter(None, map(_join_texts, content))) if type(content) is list else ""


def _argument_names(schema: Any) -> tuple[str, ...]:
    arguments = schema.get("properties") if type(schema) is dict else None
    return tuple(arguments) if type(arguments) is dict else ()


def _openai_error(code: int, message: str) -> Object:
    return {"error": {"message": message, "type": "invalid_request_error", "code": str(code)}}


def _anthropic_error(_code: int, message: str) -> Object:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


# Anthropic Messages API.

_ANTHROPIC_USAGE = {
    "input_tokens": 100,
    "output_tokens": 10,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


def _read_anthropic(body: Object, _path: str) -> Conversation:
    messages = [ChatMessage("system", _join_texts(body.get("system")))]
    for message in body.get("messages") or []:
        messages += _parse_message(message)
    return Conversation(
        messages=messages,
        tools={
            tool["name"]: ToolOffer(properties=_argument_names(tool.get("input_schema")))
            for tool in body.get("tools") or []
        },
        model=str(body.get("model")),
        streams=body.get("stream") is True,
    )


def _parse_message(message: Object) -> list[ChatMessage]:
    """One message; what tools have answered comes in the user's name."""
    content = message.get("content")
    if message.get("role") != "user" or type(content) is not list:
        return [ChatMessage(message["role"], _join_texts(content))]
    return [ChatMessage("tool" if part.get("type") == "tool_result" else "user", _join_texts(part)) for part in content]


def _build_anthropic(turn: ModelTurn, conversation: Conversation) -> Object:
    blocks: list[Object] = [{"type": "text", "text": turn.text}]
    blocks += [
        {"type": "tool_use", "id": f"toolu_{call_id}", "name": call.name, "input": call.input}
        for call_id, call in turn.calls_by_id()
    ]
    return {
        "id": f"msg_{turn.scenario}_{turn.number}",
        "type": "message",
        "role": "assistant",
        "model": conversation.model,
        "content": blocks,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": _ANTHROPIC_USAGE,
    }


def _stream_anthropic(turn: ModelTurn, conversation: Conversation) -> Iterator[StreamEvent]:
    message = _build_anthropic(turn, conversation)
    yield _stream_event("message_start", message={**message, "content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _stream_event("message_delta", delta=ending, usage={"output_tokens": _ANTHROPIC_USAGE["output_tokens"]})
    yield _stream_event("message_stop")


def _block_events(index: int, block: Object) -> Iterator[StreamEvent]:
    if block["type"] == "text":
        start_block, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        start_block = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": dump(block["input"]).decode()}
    yield _stream_event("content_block_start", index=index, content_block=start_block)
    yield _stream_event("content_block_delta", index=index, delta=delta)
    yield _stream_event("content_block_stop", index=index)


def _stream_event(name: str, **fields: object) -> tuple[str, Object]:
    return name, {"type": name, **fields}


# OpenAI chat completions API.

_CHAT_USAGE = {"prompt_tokens": 5000, "completion_tokens": 10, "total_tokens": 5010}  # enough to be worth a summary
_CHAT_ROLES: dict[Any, Any] = {"developer": "system", "function": "tool"}


def _read_chat(body: Object, _path: str) -> Conversation:
    tools = [item["function"] for item in body.get("tools") or [] if type(item.get("function")) is dict]
    return Conversation(
        messages=[
            ChatMessage(_CHAT_ROLES.get(item.get("role"), item.get("role")), _join_texts(item.get("content")))
            for item in body.get("messages") or []
        ],
        tools={item["name"]: ToolOffer(properties=_argument_names(item.get("parameters"))) for item in tools},
        model=str(body.get("model")),
        streams=body.get("stream") is True,
        wants_json=(body.get("response_format") or {}).get("type") in _JSON_FORMATS,
    )


def _build_chat(turn: ModelTurn, conversation: Conversation) -> Object:
    calls = [
        {
            "id": f"call_{call_id}",
            "type": "function",
            "function": {"name": call.name, "arguments": dump(call.input).decode()},
        }
        for call_id, call in turn.calls_by_id()
    ]
    message = {"role": "assistant", "content": turn.text} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return _base_chat(turn, conversation) | {"object": "chat.completion", "choices": [choice], "usage": _CHAT_USAGE}


def _stream_chat(turn: ModelTurn, conversation: Conversation) -> Iterator[StreamEvent]:
    (choice,) = _build_chat(turn, conversation)["choices"]
    message = choice["message"]
    base = _base_chat(turn, conversation) | {"object": "chat.completion.chunk"}
    deltas: list[Object] = [{"role": "assistant", "content": message["content"]}]
    deltas += [{"tool_calls": [{"index": index, **call}]} for index, call in enumerate(message.get("tool_calls", ()))]
    for delta in deltas:
        yield None, base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield None, base | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield None, base | {"choices": [], "usage": _CHAT_USAGE}
    yield None, "[DONE]"


def _base_chat(turn: ModelTurn, conversation: Conversation) -> Object:
    return {"id": f"chatcmpl-{turn.scenario}-{turn.number}", "created": 1_700_000_000, "model": conversation.model}


# OpenAI Responses API.

_RESPONSES_USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 110,
}
_RESPONSES_ROLES: dict[Any, Any] = {"developer": "system"}


def _read_responses(body: Object, _path: str) -> Conversation:
    input_value = body.get("input")
    items = input_value if type(input_value) is list else [{"role": "user", "content": input_value}]
    messages = [ChatMessage("system", _join_texts(body.get("instructions")))]
    response_type = ((body.get("text") or {}).get("format") or {}).get("type")
    return Conversation(
        messages=messages + [_parse_item(item) for item in items],
        tools=dict(_tool_offers(body.get("tools") or [])),
        model=str(body.get("model")),
        streams=body.get("stream") is True,
        wants_json=response_type in _JSON_FORMATS,
    )


def _parse_item(item: Object) -> ChatMessage:
    kind = item.get("type", "message")
    if kind == "message":
        role: Any = item.get("role")
        return ChatMessage(_RESPONSES_ROLES.get(role, role), _join_texts(item.get("content")))
    if kind.endswith("_output"):
        return ChatMessage("tool", _join_texts(item.get("output")))
    return ChatMessage("assistant", _join_texts(item.get("arguments") or item.get("input") or ""))


def _tool_offers(tools: list[Object], namespace: str | None = None) -> Iterator[tuple[str, ToolOffer]]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _tool_offers(tool.get("tools") or [], tool.get("name"))
        else:
            offer = ToolOffer(
                properties=_argument_names(tool.get("parameters")),
                takes_text=tool.get("type") == "custom",
                namespace=namespace,
            )
            yield tool.get("name") or str(tool.get("type")), offer


def _build_responses(turn: ModelTurn, conversation: Conversation) -> Object:
    text_part = {"type": "output_text", "text": turn.text, "annotations": []}
    message: Object = {"type": "message", "id": f"msg_{turn.scenario}_{turn.number}", "role": "assistant"}
    message |= {"status": "completed", "content": [text_part]}
    items = [message, *(_call_item(call, f"call_{call_id}", conversation) for call_id, call in turn.calls_by_id())]
    fields = {"id": f"resp_{turn.scenario}_{turn.number}", "object": "response", "created_at": 1_700_000_000}
    fields |= {"model": conversation.model, "status": "completed"}
    return fields | {"output": items, "usage": _RESPONSES_USAGE}


def _call_item(call: ModelToolCall, item_id: str, conversation: Conversation) -> Object:
    offer = conversation.tools.get(call.name, ToolOffer())
    base = {"id": f"item_{item_id}", "call_id": item_id, "name": call.name, "status": "completed"}
    if type(call.input) is str:
        return {"type": "custom_tool_call", "input": call.input, **base}
    namespace = call.namespace or offer.namespace
    namespace_field = {"namespace": namespace} if namespace else {}
    return {"type": "function_call", "arguments": dump(call.input).decode(), **base, **namespace_field}


def _stream_responses(turn: ModelTurn, conversation: Conversation) -> Iterator[StreamEvent]:
    response = _build_responses(turn, conversation)
    first_state = {**response, "status": "in_progress", "output": [], "usage": None}
    events = [_stream_event("response.created", response=first_state)]
    for index, item in enumerate(response["output"]):
        events.append(_stream_event("response.output_item.added", output_index=index, item=item))
        events.append(_item_event(item, {"item_id": item["id"], "output_index": index}))
        events.append(_stream_event("response.output_item.done", output_index=index, item=item))
    events.append(_stream_event("response.completed", response=response))
    for number, (name, event) in enumerate(events):
        yield name, {**event, "sequence_number": number}


def _item_event(item: Object, position: Object) -> tuple[str, Object]:
    if item["type"] == "message":
        text = item["content"][0]["text"]
        return _stream_event("response.output_text.delta", **position, content_index=0, delta=text)
    if item["type"] == "function_call":
        return _stream_event("response.function_call_arguments.done", **position, arguments=item["arguments"])
    return _stream_event("response.custom_tool_call_input.done", **position, input=item["input"])


# Gemini generateContent API.

_GEMINI_USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
_SCHEMA_KEYS = ("responseJsonSchema", "responseSchema")


def _read_gemini(body: Object, path: str) -> Conversation:
    model, _, verb = path.rpartition("/")[2].partition(":")
    settings = body.get("generationConfig") or {}
    tools = [tool for group in body.get("tools") or [] for tool in group.get("functionDeclarations") or []]
    messages = [ChatMessage("system", _content_text(body.get("systemInstruction") or {}))]
    for content in body.get("contents") or []:
        messages += _parse_content(content)
    return Conversation(
        messages=messages,
        tools={
            tool["name"]: ToolOffer(
                properties=_argument_names(tool.get("parametersJsonSchema") or tool.get("parameters"))
            )
            for tool in tools
        },
        model=model,
        streams=verb == "streamGenerateContent",
        wants_json=settings.get("responseMimeType") == "application/json"
        or any(key in settings for key in _SCHEMA_KEYS),
    )


def _content_text(content: Any) -> str:
    if type(content) is str:
        return content
    return "\n".join(part.get("text", "") for part in content.get("parts") or [])


def _parse_content(content: Object) -> list[ChatMessage]:
    """One content; what tools have answered comes in the user's name."""
    if content.get("role") == "model":
        return [ChatMessage("assistant", _content_text(content))]
    parts = [part for part in content.get("parts") or [] if type(part) is dict]
    return [
        ChatMessage("tool", dump(part["functionResponse"]).decode())
        if "functionResponse" in part
        else ChatMessage("user", part.get("text", ""))
        for part in parts
    ]


def _build_gemini(turn: ModelTurn, _conversation: Conversation) -> Object:
    parts: list[Object] = [{"text": turn.text}] if turn.text or not turn.calls else []
    parts += [{"functionCall": {"name": call.name, "args": call.input}} for call in turn.calls]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": _GEMINI_USAGE, "modelVersion": "scripted"}


_GEMINI = ModelApi(
    "Gemini generateContent",
    _read_gemini,
    _build_gemini,
    lambda turn, conversation: iter([(None, _build_gemini(turn, conversation))]),
    lambda code, text: {"error": {"code": code, "message": text, "status": "INVALID_ARGUMENT"}},
)
APIS_BY_PATH_SUFFIX = {
    "/messages": ModelApi("Anthropic Messages", _read_anthropic, _build_anthropic, _stream_anthropic, _anthropic_error),
    "/chat/completions": ModelApi("OpenAI chat completions", _read_chat, _build_chat, _stream_chat, _openai_error),
    "/responses": ModelApi("OpenAI Responses", _read_responses, _build_responses, _stream_responses, _openai_error),
    ":generateContent": _GEMINI,
    ":streamGenerateContent": _GEMINI,
}


def find_api(path: str) -> ModelApi | None:
    """Find the API of a request path."""
    return next((api for suffix, api in APIS_BY_PATH_SUFFIX.items() if path.endswith(suffix)), None)

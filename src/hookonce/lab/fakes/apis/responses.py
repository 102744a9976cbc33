"""OpenAI Responses API."""

from collections.abc import Iterator
from typing import Any

from hookonce.base.jsontext import dump
from hookonce.lab.fakes.apis import ModelApi, StreamEvent, argument_names, join_texts
from hookonce.lab.fakes.conversation import (
    ChatMessage,
    Conversation,
    ModelToolCall,
    ModelTurn,
    ToolOffer,
    build_call_id,
)
from hookonce.model import Object

_USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 110,
}
_ROLES: dict[Any, Any] = {"developer": "system"}


def read_request(body: Object, _path: str) -> Conversation:
    """The conversation of a request."""
    input_value = body.get("input")
    items = input_value if type(input_value) is list else [{"role": "user", "content": input_value}]
    messages = [ChatMessage("system", join_texts(body.get("instructions")))]
    response_type = ((body.get("text") or {}).get("format") or {}).get("type")
    return Conversation(
        messages=messages + [_parse_item(item) for item in items],
        tools=dict(_tool_offers(body.get("tools") or [])),
        model=str(body.get("model")),
        streams=body.get("stream") is True,
        wants_json=response_type in {"json_object", "json_schema"},
    )


def _parse_item(item: Object) -> ChatMessage:
    kind = item.get("type", "message")
    if kind == "message":
        role: Any = item.get("role")
        return ChatMessage(_ROLES.get(role, role), join_texts(item.get("content")))
    if kind.endswith("_output"):
        return ChatMessage("tool", join_texts(item.get("output")))
    return ChatMessage("assistant", join_texts(item.get("arguments") or item.get("input") or ""))


def _tool_offers(tools: list[Object], namespace: str | None = None) -> Iterator[tuple[str, ToolOffer]]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _tool_offers(tool.get("tools") or [], tool.get("name"))
        else:
            offer = ToolOffer(
                properties=argument_names(tool.get("parameters")),
                takes_text=tool.get("type") == "custom",
                namespace=namespace,
            )
            yield tool.get("name") or str(tool.get("type")), offer


def build_response(turn: ModelTurn, conversation: Conversation) -> Object:
    """A turn as one response."""
    text_part = {"type": "output_text", "text": turn.text, "annotations": []}
    items: list[Object] = [
        {
            "type": "message",
            "id": f"msg_{turn.scenario}_{turn.number}",
            "role": "assistant",
            "status": "completed",
            "content": [text_part],
        }
    ]
    items += [
        _call_item(call, build_call_id(turn, index, "call"), conversation) for index, call in enumerate(turn.calls)
    ]
    return _base_object(turn, conversation) | {"status": "completed", "output": items, "usage": _USAGE}


def _base_object(turn: ModelTurn, conversation: Conversation) -> Object:
    fields = {"id": f"resp_{turn.scenario}_{turn.number}", "object": "response", "created_at": 1_700_000_000}
    return fields | {"model": conversation.model}


def _call_item(call: ModelToolCall, item_id: str, conversation: Conversation) -> Object:
    offer = conversation.tools.get(call.name, ToolOffer())
    base = {"id": f"item_{item_id}", "call_id": item_id, "name": call.name, "status": "completed"}
    if type(call.input) is str:
        return {"type": "custom_tool_call", "input": call.input, **base}
    namespace = call.namespace or offer.namespace
    namespace_field = {"namespace": namespace} if namespace else {}
    return {"type": "function_call", "arguments": dump(call.input).decode(), **base, **namespace_field}


def build_stream(turn: ModelTurn, conversation: Conversation) -> Iterator[StreamEvent]:
    """A turn as a stream."""
    response = build_response(turn, conversation)
    events = [
        _stream_event("response.created", response={**response, "status": "in_progress", "output": [], "usage": None})
    ]
    for index, item in enumerate(response["output"]):
        events.append(_stream_event("response.output_item.added", output_index=index, item=item))
        events += _item_events(index, item)
        events.append(_stream_event("response.output_item.done", output_index=index, item=item))
    events.append(_stream_event("response.completed", response=response))
    for number, event in enumerate(events):
        yield event["type"], {**event, "sequence_number": number}


def _item_events(index: int, item: Object) -> list[Object]:
    position = {"item_id": item["id"], "output_index": index}
    if item["type"] == "message":
        text = item["content"][0]["text"]
        return [_stream_event("response.output_text.delta", **position, content_index=0, delta=text)]
    if item["type"] == "function_call":
        return [_stream_event("response.function_call_arguments.done", **position, arguments=item["arguments"])]
    return [_stream_event("response.custom_tool_call_input.done", **position, input=item["input"])]


def _stream_event(name: str, **fields: object) -> Object:
    return {"type": name, **fields}


def build_error(code: int, message: str) -> Object:
    """A refusal of the API itself."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": str(code)}}


API = ModelApi(
    name="OpenAI Responses",
    read_request=read_request,
    build_response=build_response,
    build_stream=build_stream,
    build_error=build_error,
)

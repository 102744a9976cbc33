"""Anthropic Messages API."""

from collections.abc import Iterator

from hookonce.base.jsontext import dump
from hookonce.lab.fakes.apis import ModelApi, StreamEvent, argument_names, join_texts
from hookonce.lab.fakes.conversation import ChatMessage, Conversation, ModelTurn, ToolOffer, build_call_id
from hookonce.model import Object

_USAGE = {
    "input_tokens": 100,
    "output_tokens": 10,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


def read_request(body: Object, _path: str) -> Conversation:
    """The conversation of a request."""
    messages = [ChatMessage("system", join_texts(body.get("system")))]
    for message in body.get("messages") or []:
        messages += _parse_message(message)
    return Conversation(
        messages=messages,
        tools={
            tool["name"]: ToolOffer(properties=argument_names(tool.get("input_schema")))
            for tool in body.get("tools") or []
        },
        model=str(body.get("model")),
        streams=body.get("stream") is True,
    )


def _parse_message(message: Object) -> list[ChatMessage]:
    """One message; what tools have answered comes in the user's name."""
    content = message.get("content")
    if message.get("role") != "user" or type(content) is not list:
        return [ChatMessage(message["role"], join_texts(content))]
    return [ChatMessage("tool" if part.get("type") == "tool_result" else "user", join_texts(part)) for part in content]


def build_response(turn: ModelTurn, conversation: Conversation) -> Object:
    """A turn as one message."""
    blocks: list[Object] = [{"type": "text", "text": turn.text}]
    blocks += [
        {"type": "tool_use", "id": build_call_id(turn, index, "toolu"), "name": call.name, "input": call.input}
        for index, call in enumerate(turn.calls)
    ]
    return {
        "id": f"msg_{turn.scenario}_{turn.number}",
        "type": "message",
        "role": "assistant",
        "model": conversation.model,
        "content": blocks,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": _USAGE,
    }


def build_stream(turn: ModelTurn, conversation: Conversation) -> Iterator[StreamEvent]:
    """A turn as a stream."""
    message = build_response(turn, conversation)
    yield _stream_event("message_start", message={**message, "content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _stream_event("message_delta", delta=ending, usage={"output_tokens": _USAGE["output_tokens"]})
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


def _stream_event(name: str, **fields: object) -> StreamEvent:
    return name, {"type": name, **fields}


def build_error(_code: int, message: str) -> Object:
    """A refusal of the API itself."""
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


API = ModelApi(
    name="Anthropic Messages",
    read_request=read_request,
    build_response=build_response,
    build_stream=build_stream,
    build_error=build_error,
)

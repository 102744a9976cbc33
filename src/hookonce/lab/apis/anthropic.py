"""Anthropic Messages."""

from collections.abc import Iterator

from hookonce.lab.apis._api import Api, Piece, properties, texts
from hookonce.lab.talk import Offer, Said, Talk, Turn, call_id
from hookonce.model import Object
from hookonce.texts import dump

_USAGE = {
    "input_tokens": 100,
    "output_tokens": 10,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


def read(body: Object, _path: str) -> Talk:
    """The conversation of a request."""
    said = [Said("system", texts(body.get("system")))]
    for message in body.get("messages") or []:
        said += _said(message)
    return Talk(
        said=said,
        tools={one["name"]: Offer(properties=properties(one.get("input_schema"))) for one in body.get("tools") or []},
        model=str(body.get("model")),
        streams=body.get("stream") is True,
    )


def _said(message: Object) -> list[Said]:
    """One message; what tools have answered comes in the user's name."""
    content = message.get("content")
    if message.get("role") != "user" or type(content) is not list:
        return [Said(message["role"], texts(content))]
    return [Said("tool" if part.get("type") == "tool_result" else "user", texts(part)) for part in content]


def whole(turn: Turn, talk: Talk) -> Object:
    """A turn as one message."""
    blocks: list[Object] = [{"type": "text", "text": turn.text}]
    blocks += [
        {"type": "tool_use", "id": call_id(turn, index, "toolu"), "name": call.name, "input": call.input}
        for index, call in enumerate(turn.calls)
    ]
    return {
        "id": f"msg_{turn.scenario}_{turn.number}",
        "type": "message",
        "role": "assistant",
        "model": talk.model,
        "content": blocks,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": _USAGE,
    }


def pieces(turn: Turn, talk: Talk) -> Iterator[Piece]:
    """A turn as a stream."""
    message = whole(turn, talk)
    yield _named("message_start", message={**message, "content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        yield from _block(index, block)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _named("message_delta", delta=ending, usage={"output_tokens": _USAGE["output_tokens"]})
    yield _named("message_stop")


def _block(index: int, block: Object) -> Iterator[Piece]:
    if block["type"] == "text":
        begun, told = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        begun = {**block, "input": {}}
        told = {"type": "input_json_delta", "partial_json": dump(block["input"]).decode()}
    yield _named("content_block_start", index=index, content_block=begun)
    yield _named("content_block_delta", index=index, delta=told)
    yield _named("content_block_stop", index=index)


def _named(name: str, **more: object) -> Piece:
    return name, {"type": name, **more}


def error(_code: int, message: str) -> Object:
    """A refusal of the API itself."""
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


API = Api(name="Anthropic Messages", read=read, whole=whole, pieces=pieces, error=error)

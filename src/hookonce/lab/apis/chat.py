"""OpenAI chat completions."""

from collections.abc import Iterator
from typing import Any

from hookonce.lab.apis._api import Api, Piece, properties, texts
from hookonce.lab.talk import Offer, Said, Talk, Turn, call_id
from hookonce.model import Object
from hookonce.texts import dump

_USAGE = {"prompt_tokens": 5000, "completion_tokens": 10, "total_tokens": 5010}  # enough to be worth a summary
_ROLES: dict[Any, Any] = {"developer": "system", "function": "tool"}


def read(body: Object, _path: str) -> Talk:
    """The conversation of a request."""
    tools = [one["function"] for one in body.get("tools") or [] if type(one.get("function")) is dict]
    return Talk(
        said=[
            Said(_ROLES.get(one.get("role"), one.get("role")), texts(one.get("content")))
            for one in body.get("messages") or []
        ],
        tools={one["name"]: Offer(properties=properties(one.get("parameters"))) for one in tools},
        model=str(body.get("model")),
        streams=body.get("stream") is True,
        wants_json=(body.get("response_format") or {}).get("type") in {"json_object", "json_schema"},
    )


def whole(turn: Turn, talk: Talk) -> Object:
    """A turn as one completion."""
    calls = [
        {
            "id": call_id(turn, index, "call"),
            "type": "function",
            "function": {"name": call.name, "arguments": dump(call.input).decode()},
        }
        for index, call in enumerate(turn.calls)
    ]
    message = {"role": "assistant", "content": turn.text} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return _base(turn, talk) | {"object": "chat.completion", "choices": [choice], "usage": _USAGE}


def pieces(turn: Turn, talk: Talk) -> Iterator[Piece]:
    """A turn as a stream."""
    (choice,) = whole(turn, talk)["choices"]
    message = choice["message"]
    base = _base(turn, talk) | {"object": "chat.completion.chunk"}
    deltas: list[Object] = [{"role": "assistant", "content": message["content"]}]
    deltas += [{"tool_calls": [{"index": at, **call}]} for at, call in enumerate(message.get("tool_calls", ()))]
    for delta in deltas:
        yield None, base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield None, base | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield None, base | {"choices": [], "usage": _USAGE}
    yield None, "[DONE]"


def _base(turn: Turn, talk: Talk) -> Object:
    return {"id": f"chatcmpl-{turn.scenario}-{turn.number}", "created": 1_700_000_000, "model": talk.model}


def error(code: int, message: str) -> Object:
    """A refusal of the API itself."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": str(code)}}


API = Api(name="OpenAI chat completions", read=read, whole=whole, pieces=pieces, error=error)

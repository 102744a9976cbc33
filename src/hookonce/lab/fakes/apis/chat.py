"""OpenAI chat completions API."""

from collections.abc import Iterator
from typing import Any

from hookonce.base.jsontext import dump
from hookonce.lab.fakes.apis import ModelApi, StreamEvent, argument_names, join_texts
from hookonce.lab.fakes.conversation import ChatMessage, Conversation, ModelTurn, ToolOffer, build_call_id
from hookonce.model import Object

_USAGE = {"prompt_tokens": 5000, "completion_tokens": 10, "total_tokens": 5010}  # enough to be worth a summary
_ROLES: dict[Any, Any] = {"developer": "system", "function": "tool"}


def read_request(body: Object, _path: str) -> Conversation:
    """The conversation of a request."""
    tools = [item["function"] for item in body.get("tools") or [] if type(item.get("function")) is dict]
    return Conversation(
        messages=[
            ChatMessage(_ROLES.get(item.get("role"), item.get("role")), join_texts(item.get("content")))
            for item in body.get("messages") or []
        ],
        tools={item["name"]: ToolOffer(properties=argument_names(item.get("parameters"))) for item in tools},
        model=str(body.get("model")),
        streams=body.get("stream") is True,
        wants_json=(body.get("response_format") or {}).get("type") in {"json_object", "json_schema"},
    )


def build_response(turn: ModelTurn, conversation: Conversation) -> Object:
    """A turn as one completion."""
    calls = [
        {
            "id": build_call_id(turn, index, "call"),
            "type": "function",
            "function": {"name": call.name, "arguments": dump(call.input).decode()},
        }
        for index, call in enumerate(turn.calls)
    ]
    message = {"role": "assistant", "content": turn.text} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return _base_object(turn, conversation) | {"object": "chat.completion", "choices": [choice], "usage": _USAGE}


def build_stream(turn: ModelTurn, conversation: Conversation) -> Iterator[StreamEvent]:
    """A turn as a stream."""
    (choice,) = build_response(turn, conversation)["choices"]
    message = choice["message"]
    base = _base_object(turn, conversation) | {"object": "chat.completion.chunk"}
    deltas: list[Object] = [{"role": "assistant", "content": message["content"]}]
    deltas += [{"tool_calls": [{"index": index, **call}]} for index, call in enumerate(message.get("tool_calls", ()))]
    for delta in deltas:
        yield None, base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield None, base | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield None, base | {"choices": [], "usage": _USAGE}
    yield None, "[DONE]"


def _base_object(turn: ModelTurn, conversation: Conversation) -> Object:
    return {"id": f"chatcmpl-{turn.scenario}-{turn.number}", "created": 1_700_000_000, "model": conversation.model}


def build_error(code: int, message: str) -> Object:
    """A refusal of the API itself."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": str(code)}}


API = ModelApi(
    name="OpenAI chat completions",
    read_request=read_request,
    build_response=build_response,
    build_stream=build_stream,
    build_error=build_error,
)

"""OpenAI Responses."""

from collections.abc import Iterator
from typing import Any

from hookonce.lab.apis._api import Api, Piece, properties, texts
from hookonce.lab.talk import Call, Offer, Said, Talk, Turn, call_id
from hookonce.model import Object
from hookonce.texts import dump

_USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 110,
}
_ROLES: dict[Any, Any] = {"developer": "system"}


def read(body: Object, _path: str) -> Talk:
    """The conversation of a request."""
    given = body.get("input")
    items = given if type(given) is list else [{"role": "user", "content": given}]
    said = [Said("system", texts(body.get("instructions")))]
    wanted = ((body.get("text") or {}).get("format") or {}).get("type")
    return Talk(
        said=said + [_said(item) for item in items],
        tools=dict(_offers(body.get("tools") or [])),
        model=str(body.get("model")),
        streams=body.get("stream") is True,
        wants_json=wanted in {"json_object", "json_schema"},
    )


def _said(item: Object) -> Said:
    kind = item.get("type", "message")
    if kind == "message":
        role: Any = item.get("role")
        return Said(_ROLES.get(role, role), texts(item.get("content")))
    if kind.endswith("_output"):
        return Said("tool", texts(item.get("output")))
    return Said("assistant", texts(item.get("arguments") or item.get("input") or ""))


def _offers(tools: list[Object], space: str | None = None) -> Iterator[tuple[str, Offer]]:
    """Tools stand in the list, or in groups of it."""
    for one in tools:
        if one.get("type") == "namespace":
            yield from _offers(one.get("tools") or [], one.get("name"))
        else:
            known = Offer(properties=properties(one.get("parameters")), free=one.get("type") == "custom", space=space)
            yield one.get("name") or str(one.get("type")), known


def whole(turn: Turn, talk: Talk) -> Object:
    """A turn as one response."""
    said = {"type": "output_text", "text": turn.text, "annotations": []}
    items: list[Object] = [
        {
            "type": "message",
            "id": f"msg_{turn.scenario}_{turn.number}",
            "role": "assistant",
            "status": "completed",
            "content": [said],
        }
    ]
    items += [_item(call, call_id(turn, index, "call"), talk) for index, call in enumerate(turn.calls)]
    return _base(turn, talk) | {"status": "completed", "output": items, "usage": _USAGE}


def _base(turn: Turn, talk: Talk) -> Object:
    known = {"id": f"resp_{turn.scenario}_{turn.number}", "object": "response", "created_at": 1_700_000_000}
    return known | {"model": talk.model}


def _item(call: Call, known: str, talk: Talk) -> Object:
    offer = talk.tools.get(call.name, Offer())
    base = {"id": f"item_{known}", "call_id": known, "name": call.name, "status": "completed"}
    if type(call.input) is str:
        return {"type": "custom_tool_call", "input": call.input, **base}
    group = call.space or offer.space
    space = {"namespace": group} if group else {}
    return {"type": "function_call", "arguments": dump(call.input).decode(), **base, **space}


def pieces(turn: Turn, talk: Talk) -> Iterator[Piece]:
    """A turn as a stream."""
    done = whole(turn, talk)
    events = [_named("response.created", response={**done, "status": "in_progress", "output": [], "usage": None})]
    for index, item in enumerate(done["output"]):
        events.append(_named("response.output_item.added", output_index=index, item=item))
        events += _inside(index, item)
        events.append(_named("response.output_item.done", output_index=index, item=item))
    events.append(_named("response.completed", response=done))
    for number, event in enumerate(events):
        yield event["type"], {**event, "sequence_number": number}


def _inside(index: int, item: Object) -> list[Object]:
    where = {"item_id": item["id"], "output_index": index}
    if item["type"] == "message":
        text = item["content"][0]["text"]
        return [_named("response.output_text.delta", **where, content_index=0, delta=text)]
    if item["type"] == "function_call":
        return [_named("response.function_call_arguments.done", **where, arguments=item["arguments"])]
    return [_named("response.custom_tool_call_input.done", **where, input=item["input"])]


def _named(name: str, **more: object) -> Object:
    return {"type": name, **more}


def error(code: int, message: str) -> Object:
    """A refusal of the API itself."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": str(code)}}


API = Api(name="OpenAI Responses", read=read, whole=whole, pieces=pieces, error=error)

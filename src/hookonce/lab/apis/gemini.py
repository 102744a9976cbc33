"""Gemini generateContent."""

from collections.abc import Iterator
from typing import Any

from hookonce.lab.apis._api import Api, Piece, properties
from hookonce.lab.talk import Offer, Said, Talk, Turn
from hookonce.model import Object
from hookonce.texts import dump

_USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
_JSON = ("responseJsonSchema", "responseSchema")


def read(body: Object, path: str) -> Talk:
    """The conversation of a request."""
    model, _, verb = path.rpartition("/")[2].partition(":")
    settings = body.get("generationConfig") or {}
    declared = [one for group in body.get("tools") or [] for one in group.get("functionDeclarations") or []]
    said = [Said("system", _text(body.get("systemInstruction") or {}))]
    for content in body.get("contents") or []:
        said += _said(content)
    return Talk(
        said=said,
        tools={one["name"]: Offer(properties=_arguments(one)) for one in declared},
        model=model,
        streams=verb == "streamGenerateContent",
        wants_json=settings.get("responseMimeType") == "application/json" or any(key in settings for key in _JSON),
    )


def _arguments(declared: Object) -> tuple[str, ...]:
    return properties(declared.get("parametersJsonSchema") or declared.get("parameters"))


def _text(content: Any) -> str:
    if type(content) is str:
        return content
    return "\n".join(part.get("text", "") for part in content.get("parts") or [])


def _said(content: Object) -> list[Said]:
    """One content; what tools have answered comes in the user's name."""
    if content.get("role") == "model":
        return [Said("assistant", _text(content))]
    found = [part for part in content.get("parts") or [] if type(part) is dict]
    return [
        Said("tool", dump(part["functionResponse"]).decode())
        if "functionResponse" in part
        else Said("user", part.get("text", ""))
        for part in found
    ]


def whole(turn: Turn, _talk: Talk) -> Object:
    """A turn as one answer."""
    parts: list[Object] = [{"text": turn.text}] if turn.text or not turn.calls else []
    parts += [{"functionCall": {"name": call.name, "args": call.input}} for call in turn.calls]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": _USAGE, "modelVersion": "scripted"}


def pieces(turn: Turn, talk: Talk) -> Iterator[Piece]:
    """A turn as a stream, of one piece."""
    yield None, whole(turn, talk)


def error(code: int, message: str) -> Object:
    """A refusal of the API itself."""
    return {"error": {"code": code, "message": message, "status": "INVALID_ARGUMENT"}}


API = Api(name="Gemini generateContent", read=read, whole=whole, pieces=pieces, error=error)

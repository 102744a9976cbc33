"""Gemini generateContent API."""

from collections.abc import Iterator
from typing import Any

from hookonce.base.jsontext import dump
from hookonce.lab.fakes.apis import ModelApi, StreamEvent, argument_names
from hookonce.lab.fakes.conversation import ChatMessage, Conversation, ModelTurn, ToolOffer
from hookonce.model import Object

_USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
_SCHEMA_KEYS = ("responseJsonSchema", "responseSchema")


def read_request(body: Object, path: str) -> Conversation:
    """The conversation of a request."""
    model, _, verb = path.rpartition("/")[2].partition(":")
    settings = body.get("generationConfig") or {}
    declarations = [
        declaration for group in body.get("tools") or [] for declaration in group.get("functionDeclarations") or []
    ]
    messages = [ChatMessage("system", _content_text(body.get("systemInstruction") or {}))]
    for content in body.get("contents") or []:
        messages += _parse_content(content)
    return Conversation(
        messages=messages,
        tools={
            declaration["name"]: ToolOffer(properties=_declared_arguments(declaration)) for declaration in declarations
        },
        model=model,
        streams=verb == "streamGenerateContent",
        wants_json=settings.get("responseMimeType") == "application/json"
        or any(key in settings for key in _SCHEMA_KEYS),
    )


def _declared_arguments(declaration: Object) -> tuple[str, ...]:
    return argument_names(declaration.get("parametersJsonSchema") or declaration.get("parameters"))


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


def build_response(turn: ModelTurn, _conversation: Conversation) -> Object:
    """A turn as one answer."""
    parts: list[Object] = [{"text": turn.text}] if turn.text or not turn.calls else []
    parts += [{"functionCall": {"name": call.name, "args": call.input}} for call in turn.calls]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": _USAGE, "modelVersion": "scripted"}


def build_stream(turn: ModelTurn, conversation: Conversation) -> Iterator[StreamEvent]:
    """A turn as a stream, of one piece."""
    yield None, build_response(turn, conversation)


def build_error(code: int, message: str) -> Object:
    """A refusal of the API itself."""
    return {"error": {"code": code, "message": message, "status": "INVALID_ARGUMENT"}}


API = ModelApi(
    name="Gemini generateContent",
    read_request=read_request,
    build_response=build_response,
    build_stream=build_stream,
    build_error=build_error,
)

"""Model APIs that the scripted server speaks, one module each. This map is the only list of them."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from msgspec import Struct

from hookonce.lab.fakes.conversation import Conversation, ModelTurn
from hookonce.model import Object

StreamEvent = tuple[str | None, Object | str]  # the event's name if it has one, and its data


class ModelApi(Struct, frozen=True, kw_only=True):
    """Codec of one model API: parse a request, build a response, a stream or an error."""

    name: str
    read_request: Callable[[Object, str], Conversation]
    build_response: Callable[[ModelTurn, Conversation], Object]
    build_stream: Callable[[ModelTurn, Conversation], Iterator[StreamEvent]]
    build_error: Callable[[int, str], Object]


def join_texts(content: Any) -> str:
    """Join all text of a message's content, which is a text or nested parts."""
    if type(content) is str:
        return content
    if type(content) is dict:
        return join_texts(content.get("text") or content.get("content") or content.get("output") or "")
    return "\n".join(filter(None, map(join_texts, content))) if type(content) is list else ""


def argument_names(schema: Any) -> tuple[str, ...]:
    """Argument names of a tool's JSON schema."""
    arguments = schema.get("properties") if type(schema) is dict else None
    return tuple(arguments) if type(arguments) is dict else ()


API_MODULES: dict[str, str] = {
    "/messages": "anthropic",
    "/chat/completions": "chat",
    "/responses": "responses",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}


def find_api(path: str) -> ModelApi | None:
    """Find the API of a request path."""
    name = next((module for path_suffix, module in API_MODULES.items() if path.endswith(path_suffix)), None)
    api: ModelApi | None = import_module(f"hookonce.lab.fakes.apis.{name}").API if name else None
    return api

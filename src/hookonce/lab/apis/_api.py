"""What an API is to the scripted model, and how texts stand in requests of all of them."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from hookonce.lab.talk import Talk, Turn
from hookonce.model import Object

Piece = tuple[str | None, Object | str]  # the event's name if it has one, and its data


class Api(Struct, frozen=True, kw_only=True):
    """How an API is read and written."""

    name: str
    read: Callable[[Object, str], Talk]
    whole: Callable[[Turn, Talk], Object]
    pieces: Callable[[Turn, Talk], Iterator[Piece]]
    error: Callable[[int, str], Object]


def texts(content: Any) -> str:
    """All text of a message's content, which is a text or a list of parts, some of which hold parts again."""
    if type(content) is str:
        return content
    if type(content) is dict:
        return texts(content.get("text") or content.get("content") or content.get("output") or "")
    return "\n".join(filter(None, map(texts, content))) if type(content) is list else ""


def properties(schema: Any) -> tuple[str, ...]:
    """The names of a tool's arguments."""
    found = schema.get("properties") if type(schema) is dict else None
    return tuple(found) if type(found) is dict else ()

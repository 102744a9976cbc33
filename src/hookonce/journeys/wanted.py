"""What an action wanted to do, as far as its record still says it."""

from collections.abc import Iterator

from hookonce.canon.arguments import ARGUMENTS
from hookonce.model import Digest, Event, Json, Tool

_SUBJECT_CLASSES = frozenset({"command", "path"})  # the classes of arguments that say what was done, and to what
_MAX_SUBJECT_CHARS = 2000  # characters


def event_subject(event: Event) -> str:
    """The command, path or prompt of an event; empty if nothing of it was stored."""
    if event.tool is not None:
        text = ", ".join(_argument_texts(event.tool))
    elif isinstance(event.prompt, Digest):
        text = f"a prompt of {event.prompt.length} characters"
    else:
        text = event.prompt or ""
    excess_chars = len(text) - _MAX_SUBJECT_CHARS
    return text if excess_chars <= 0 else f"{text[:_MAX_SUBJECT_CHARS]}… and {excess_chars} characters more"


def _argument_texts(tool: Tool) -> Iterator[str]:
    """The telling arguments; of a tool without a table every text, since only what may be shown was stored."""
    classes = ARGUMENTS.get(tool.name)
    for key, value in tool.input.items():
        if classes is None or classes.get(key) in _SUBJECT_CLASSES:
            yield from _json_texts(value)


def _json_texts(value: Json) -> Iterator[str]:
    """A text, those of a list, or the paths of files; a digest in place of a text says nothing."""
    if type(value) is str:
        yield value
    elif type(value) is list:
        for item in value:
            yield from _json_texts(item)
    elif type(value) is dict and type(path := value.get("path")) is str:
        yield path

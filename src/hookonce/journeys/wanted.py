"""What an action wanted to do, as far as its record still says it."""

from collections.abc import Iterator

from hookonce.canon.arguments import ARGUMENTS
from hookonce.model import Digest, Event, Json, Tool

_TELLING = frozenset({"command", "path"})  # the classes of arguments that say what was done, and to what
_LONGEST = 2000  # characters


def wanted(event: Event) -> str:
    """The command, path or prompt of an event; empty if nothing of it was kept."""
    if event.tool is not None:
        text = ", ".join(_parts(event.tool))
    elif isinstance(event.prompt, Digest):
        text = f"a prompt of {event.prompt.length} characters"
    else:
        text = event.prompt or ""
    more = len(text) - _LONGEST
    return text if more <= 0 else f"{text[:_LONGEST]}… and {more} characters more"


def _parts(tool: Tool) -> Iterator[str]:
    """The telling arguments; of a tool without a table every text, since only what may be shown was kept."""
    classes = ARGUMENTS.get(tool.name)
    for key, value in tool.input.items():
        if classes is None or classes.get(key) in _TELLING:
            yield from _texts(value)


def _texts(value: Json) -> Iterator[str]:
    """A text, those of a list, or the paths of files; a digest in place of a text says nothing."""
    if type(value) is str:
        yield value
    elif type(value) is list:
        for one in value:
            yield from _texts(one)
    elif type(value) is dict and type(path := value.get("path")) is str:
        yield path

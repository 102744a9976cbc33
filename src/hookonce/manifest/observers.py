"""Hooks of an `.openhook.json`: they see events as OpenHook writes them, and decide nothing."""

from typing import Any

from hookonce.canon.events import EVENTS
from hookonce.errors import HookonceError
from hookonce.model import Handler, Hook, Manifest
from hookonce.texts import load

EVERY_EVENT = "*"
OPENHOOK_VERSIONS = ("0.1",)
OPENHOOK_DIALECT = "openhook"


class DiscoveryError(HookonceError):
    """A discovery file of which nothing can be used."""


def load_openhook_file(data: bytes) -> Manifest:
    """The manifest of an `.openhook.json`, one hook for each event of an entry; what is no entry is left out."""
    try:
        document: Any = load(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise DiscoveryError(f"no JSON: {problem}") from None
    entries = document.get("hooks") if type(document) is dict else None
    if type(entries) is not list:
        raise DiscoveryError("expected an object with openhook and hooks")
    hooks = [hook for number, entry in enumerate(entries, 1) for hook in _parse_observer(entry, number)]
    return Manifest(spec=f"openhook/{document.get('openhook')}", hooks=hooks)


def _parse_observer(entry: Any, number: int) -> list[Hook]:
    command = entry.get("command") if type(entry) is dict else None
    events = entry.get("events", [EVERY_EVENT]) if type(entry) is dict else None
    if type(command) is not str or not command or type(events) is not list:
        return []
    handler = Handler(type="command", command=command, background=entry.get("async") is True)
    names = [EVERY_EVENT] if EVERY_EVENT in events else list(dict.fromkeys(name for name in events if type(name) is str))
    return [Hook(event=name, name=f"observer {number}", handler=handler, dialect=OPENHOOK_DIALECT) for name in names]


def openhook_types_of(kind: str) -> set[str]:
    """The names that an event of a canonical kind may have in OpenHook: its own, and that of the files it wrote."""
    row = EVENTS.get(kind)
    types = {row.openhook} if row is not None and row.openhook else set()
    return types | ({"file.write"} if kind == "after_tool_execute" else set())

"""Hooks of an `.openhook.json`: they see events as OpenHook writes them, and decide nothing."""

from typing import Any

from hookonce.canon.events import EVENTS
from hookonce.errors import HookonceError
from hookonce.model import Handler, Hook, Manifest
from hookonce.texts import load

EVERY = "*"
VERSIONS = ("0.1",)
DIALECT = "openhook"


class DiscoveryError(HookonceError):
    """A discovery file of which nothing can be used."""


def observers(data: bytes) -> Manifest:
    """The hooks of a discovery file, one for each event that an entry names; what is no entry is left out."""
    try:
        found: Any = load(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise DiscoveryError(f"no JSON: {problem}") from None
    entries = found.get("hooks") if type(found) is dict else None
    if type(entries) is not list:
        raise DiscoveryError("expected an object with openhook and hooks")
    hooks = [hook for number, entry in enumerate(entries, 1) for hook in _observer(entry, number)]
    return Manifest(spec=f"openhook/{found.get('openhook')}", hooks=hooks)


def _observer(entry: Any, number: int) -> list[Hook]:
    command = entry.get("command") if type(entry) is dict else None
    told = entry.get("events", [EVERY]) if type(entry) is dict else None
    if type(command) is not str or not command or type(told) is not list:
        return []
    handler = Handler(type="command", command=command, background=entry.get("async") is True)
    names = [EVERY] if EVERY in told else list(dict.fromkeys(name for name in told if type(name) is str))
    return [Hook(event=name, name=f"observer {number}", handler=handler, dialect=DIALECT) for name in names]


def types_of(kind: str) -> set[str]:
    """The names that an event of a canonical kind may have in OpenHook: its own, and that of the files it wrote."""
    row = EVENTS.get(kind)
    found = {row.openhook} if row is not None and row.openhook else set()
    return found | ({"file.write"} if kind == "after_tool_execute" else set())

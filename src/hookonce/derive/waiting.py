"""Which of several like things came first: lists by key, oldest first, of bounded length.

Values, so that whoever fails to write what follows from a step still has the state before it.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TypeVar

from hookonce.model import Event
from hookonce.texts import dump

Item = TypeVar("Item")
Key = TypeVar("Key")


def key_of(event: Event) -> str:
    """What calls without an id have in common when one is the other's end: session, sub-agent, tool and input."""
    tool, sub = event.tool, event.subagent
    what = [tool and tool.name, tool and tool.input]
    known = dump([event.agent, event.session, sub and [sub.id, sub.type], *what])
    return sha256(known).hexdigest()[:32]


def put(table: Mapping[Key, tuple[Item, ...]], key: Key, item: Item, limit: int) -> dict[Key, tuple[Item, ...]]:
    """The table with one more at the end of its list; keys that were there first go first."""
    found = {**table, key: (*table.get(key, ()), item)[-limit:]}
    while len(found) > limit:
        del found[next(iter(found))]
    return found


def take(table: Mapping[Key, tuple[Item, ...]], key: Key) -> tuple[Item | None, dict[Key, tuple[Item, ...]]]:
    """The oldest of a list, and the table without it."""
    waiting = table.get(key)
    if not waiting:
        return None, dict(table)
    rest = dict(table)
    if len(waiting) > 1:
        rest[key] = waiting[1:]
    else:
        del rest[key]
    return waiting[0], rest


def kept(table: Mapping[Key, tuple[Item, ...]], wanted: Callable[[Item], bool]) -> dict[Key, tuple[Item, ...]]:
    """The table with only those that are wanted."""
    left = {key: tuple(item for item in items if wanted(item)) for key, items in table.items()}
    return {key: items for key, items in left.items() if items}

"""Open tool calls: pairing of outcomes with calls, refused calls, and attribution of calls to sub-agents.

A pair is known by the call's id. Without one it is the oldest open call of the same session, sub-agent, tool and
input, marked as a guess. A refused call is kept apart: its outcome is not expected. Tables are values of bounded
length: if writing the derived records fails, the state before it is still there.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TypeVar

from hookonce.model import Event
from hookonce.texts import dump

Item = TypeVar("Item")
Key = TypeVar("Key")


def call_signature(event: Event) -> str:
    """Hash of session, sub-agent, tool and input: pairs calls that have no id."""
    tool, sub = event.tool, event.subagent
    tool_parts = [tool and tool.name, tool and tool.input]
    identity = dump([event.agent, event.session, sub and [sub.id, sub.type], *tool_parts])
    return sha256(identity).hexdigest()[:32]


def append_bounded(table: Mapping[Key, tuple[Item, ...]], key: Key, item: Item, limit: int) -> dict[Key, tuple[Item, ...]]:
    """The table with an item appended to its key's list; the oldest items and keys are evicted."""
    new_table = {**table, key: (*table.get(key, ()), item)[-limit:]}
    while len(new_table) > limit:
        del new_table[next(iter(new_table))]
    return new_table


def pop_oldest(table: Mapping[Key, tuple[Item, ...]], key: Key) -> tuple[Item | None, dict[Key, tuple[Item, ...]]]:
    """The oldest item of a key, and the table without it."""
    items = table.get(key)
    if not items:
        return None, dict(table)
    rest = dict(table)
    if len(items) > 1:
        rest[key] = items[1:]
    else:
        del rest[key]
    return items[0], rest


def filter_items(table: Mapping[Key, tuple[Item, ...]], is_wanted: Callable[[Item], bool]) -> dict[Key, tuple[Item, ...]]:
    """The table with only the wanted items."""
    filtered_table = {key: tuple(item for item in items if is_wanted(item)) for key, items in table.items()}
    return {key: items for key, items in filtered_table.items() if items}

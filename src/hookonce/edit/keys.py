"""A way into a document: keys of objects and indices of arrays, from the outside in."""

from collections.abc import Callable, Sequence
from typing import Any

from hookonce.edit.refusal import Refusal

Keys = Sequence[str | int]


def shown(keys: Keys) -> str:
    """A place as people write it, such as `$.hooks.PreToolUse[0]`."""
    return "$" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)


def held(value: Any, keys: Keys, default: Any = None) -> Any:
    """What stands at the place."""
    for key in keys:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return default
    return value


def matching(value: Any, predicate: Callable[[Any], bool]) -> list[Any]:
    """The indices of an array, or keys of an object, that hold what is looked for; none of anything else."""
    if isinstance(value, dict):
        return [key for key, inner in value.items() if predicate(inner)]
    return [index for index, inner in enumerate(value) if predicate(inner)] if isinstance(value, list) else []


def nested(keys: Keys, value: Any) -> Any:
    """The value inside the objects that keys ask for; items cannot be made up."""
    for key in reversed(keys):
        value = {named(key): value}
    return value


def named(key: str | int) -> str:
    """The key of an object, or a refusal."""
    if isinstance(key, int):
        raise Refusal(f"there is no item {key} to put a value into")
    return key

"""Key paths into a document: keys of objects and indices of arrays, from the outside in."""

from typing import Any

from hookonce.base.files import FileEditError

DocumentPath = tuple[str | int, ...]


def format_path(keys: DocumentPath) -> str:
    """A path as people write it, such as `$.hooks.PreToolUse[0]`."""
    return "$" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)


def value_at_path(value: Any, keys: DocumentPath, default: Any = None) -> Any:
    """The value at a path."""
    for key in keys:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return default
    return value


def nest_value(keys: DocumentPath, value: Any) -> Any:
    """Wrap a value into the objects that a path asks for; items cannot be made up."""
    for key in reversed(keys):
        value = {require_name(key): value}
    return value


def require_name(key: str | int) -> str:
    """The key of an object; an index raises FileEditError."""
    if isinstance(key, int):
        raise FileEditError(f"there is no item {key} to put a value into")
    return key

"""New TOML: tables with headers, or values in one line."""

from collections.abc import Iterator, Sequence
from typing import Any

import tomlkit
from tomlkit.items import SingleKey

from hookonce.edit.refusal import Refusal


def block(keys: Sequence[str], value: dict[str, Any], *, array: bool = False) -> str:
    """A table under its header, and the tables inside it under theirs; lines end in LF but for the last."""
    return "\n".join(_lines(tuple(keys), value, array=array))


def _lines(keys: tuple[str, ...], value: dict[str, Any], *, array: bool) -> Iterator[str]:
    yield f"[{header(keys)}]" if array else header(keys)
    yield from (assignment(name, inner) for name, inner in value.items() if not _tables(inner))
    for name, inner in value.items():
        for table in _tables(inner):
            yield ""
            yield from _lines((*keys, name), table, array=isinstance(inner, list))


def _tables(value: Any) -> list[dict[str, Any]]:
    """What deserves a header: a table, or each entry of an array of nothing but tables."""
    if isinstance(value, list):
        return value if all(isinstance(inner, dict) for inner in value) else []
    return [value] if isinstance(value, dict) else []


def header(keys: Sequence[str]) -> str:
    """`[a.b]`."""
    return f"[{'.'.join(map(key, keys))}]"


def assignment(name: str, value: Any) -> str:
    """`key = value`."""
    return f"{key(name)} = {inline(value)}"


def key(name: str) -> str:
    """A key, in quotes where it needs them."""
    return SingleKey(name).as_string()


def inline(value: Any) -> str:
    """A value in one line."""
    if isinstance(value, dict):
        inner = ", ".join(assignment(name, held) for name, held in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(inline, value))}]"
    if value is None:
        raise Refusal("TOML has no word for null")
    return str(tomlkit.item(value).as_string())

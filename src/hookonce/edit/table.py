"""New TOML: tables with headers, or values in one line."""

from collections.abc import Iterator, Sequence
from typing import Any

import tomlkit
from tomlkit.items import SingleKey

from hookonce.edit.refusal import FileEditError


def render_table(keys: Sequence[str], value: dict[str, Any], *, array: bool = False) -> str:
    """Render a table under its header, and the tables inside it under theirs; lines end in LF but for the last."""
    return "\n".join(_table_lines(tuple(keys), value, array=array))


def _table_lines(keys: tuple[str, ...], value: dict[str, Any], *, array: bool) -> Iterator[str]:
    yield f"[{render_header(keys)}]" if array else render_header(keys)
    yield from (render_assignment(name, inner) for name, inner in value.items() if not _header_tables(inner))
    for name, inner in value.items():
        for table in _header_tables(inner):
            yield ""
            yield from _table_lines((*keys, name), table, array=isinstance(inner, list))


def _header_tables(value: Any) -> list[dict[str, Any]]:
    """The tables that deserve a header: a table, or each entry of an array of nothing but tables."""
    if isinstance(value, list):
        return value if all(isinstance(inner, dict) for inner in value) else []
    return [value] if isinstance(value, dict) else []


def render_header(keys: Sequence[str]) -> str:
    """Render `[a.b]`."""
    return f"[{'.'.join(map(render_key, keys))}]"


def render_assignment(name: str, value: Any) -> str:
    """Render `key = value`."""
    return f"{render_key(name)} = {render_value(value)}"


def render_key(name: str) -> str:
    """Render a key, in quotes where it needs them."""
    return SingleKey(name).as_string()


def render_value(value: Any) -> str:
    """Render a value in one line."""
    if isinstance(value, dict):
        inner = ", ".join(render_assignment(name, member) for name, member in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(render_value, value))}]"
    if value is None:
        raise FileEditError("TOML has no word for null")
    return str(tomlkit.item(value).as_string())

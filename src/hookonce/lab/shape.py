"""The shape of a payload: its keys as JSON paths, each with the types of its values; never the values themselves."""

import re
from collections.abc import Iterable

from hookonce.model import Json

Shape = dict[str, frozenset[str]]

_TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
_PLAIN = re.compile(r"[A-Za-z_$][\w$-]*")
_VARIES = re.compile(r"[/\\\s]|\d{4}|[0-9a-fA-F]{8}-|\d+$")  # paths, times, ids and numbers: keys of a map


def shape(value: Json) -> Shape:
    """The shape of one payload."""
    found: dict[str, set[str]] = {}
    _walk(value, "$", found)
    return {path: frozenset(types) for path, types in found.items()}


def joined(shapes: Iterable[Shape]) -> Shape:
    """What is seen in any of them."""
    found: Shape = {}
    for one in shapes:
        for path, types in one.items():
            found[path] = found.get(path, frozenset()) | types
    return found


def _walk(value: Json, path: str, found: dict[str, set[str]]) -> None:
    found.setdefault(path, set()).add(_TYPES.get(type(value), "number"))
    if type(value) is dict:
        for key, item in value.items():
            _walk(item, path + _step(key), found)
    elif type(value) is list:
        for item in value:
            _walk(item, f"{path}[]", found)


def _step(key: str) -> str:
    """A key in a path; of a map whose keys are values, such as file names, they all are one."""
    if _VARIES.search(key):
        return ".*"
    return f".{key}" if _PLAIN.fullmatch(key) else f'["{key}"]'

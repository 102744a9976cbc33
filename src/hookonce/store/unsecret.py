"""The last step before a record may be kept: no secret is, at any level, wherever it stands."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce.guard.names import announced
from hookonce.guard.secrets import find, hints, is_mask, mask, masked, named
from hookonce.model import Gap, Stored, Tool
from hookonce.texts import dump

_DIGEST = {"hash", "length", "lines"}
_NAMING = ("name", "key", "header")  # of a pair that is written as an object with a value


def unsecret(stored: Stored) -> Stored:
    """The record without its secrets; each is a gap with its place and kind.

    One look at the JSON of the whole is enough for most records.
    """
    if not hints(dump(stored)):
        return stored
    gaps: list[Gap] = []
    clean: Stored = _struct(stored, "$", gaps)
    return replace(clean, gaps=[*clean.gaps, *gaps]) if gaps else clean


def cleaned(value: Any) -> tuple[Any, list[Gap]]:
    """Any JSON value without its secrets, each of which is a gap."""
    gaps: list[Gap] = []
    return _value(value, "$", gaps), gaps


def _value(value: Any, where: str, gaps: list[Gap]) -> Any:
    kind = type(value)
    if kind is str:
        return _text(value, where, gaps)
    if kind is dict:
        return _object(value, where, gaps)
    if kind is list:
        return _list(value, where, gaps)
    return _struct(value, where, gaps) if isinstance(value, Struct) else value


def _struct(value: Any, where: str, gaps: list[Gap]) -> Any:
    fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
    known = {name: (field, _value(field, f"{where}.{name}", gaps)) for name, field in fields if field is not None}
    changed = {name: new for name, (old, new) in known.items() if new is not old}
    if type(value) is Tool and "native" in changed:  # what the name was taken apart to may hold half of a secret
        changed |= {"name": changed["native"], "mcp_server": None}
    return replace(value, **changed) if changed else value


def _text(text: str, where: str, gaps: list[Gap]) -> str:
    clean, kinds = masked(text)
    if not kinds:
        return text
    gaps.append(_gap(where, kinds))
    return clean


def _object(given: dict[str, Any], where: str, gaps: list[Gap]) -> dict[str, Any]:
    """Keys too; a field with a telling name holds a secret, and so does the value beside such a name."""
    clean: dict[str, Any] = {}
    naming = next((given[key] for key in _NAMING if type(given.get(key)) is str), "")
    for key, item in given.items():
        known = _text(key, where, gaps)
        place = f"{where}.{known}"
        clean[known] = _field(naming if key == "value" and naming else key, item, place, gaps)
    return clean if clean.keys() != given.keys() or any(clean[key] is not given[key] for key in given) else given


def _field(name: str, item: Any, where: str, gaps: list[Gap]) -> Any:
    kind = _held(name, item)
    if kind is None:
        if type(item) is list and any(_held(name, one) for one in item):
            return [_field(name, one, f"{where}[{number}]", gaps) for number, one in enumerate(item)]
        return _value(item, where, gaps)
    gaps.append(_gap(where, [kind]))
    return mask(kind)


def _held(name: str, item: Any) -> str | None:
    """The kind of secret that a field holds; of one that was hashed only the name can tell."""
    if type(item) is str:
        return None if is_mask(item) else named(name, item)
    if type(item) is dict and item.keys() == _DIGEST:
        told = announced(name)
        return told[0] if told is not None and told[1] != "perhaps" and item["length"] else None
    return None


def _list(given: list[Any], where: str, gaps: list[Gap]) -> list[Any]:
    """What follows a flag is read together with it, as where a command is a list of words."""
    clean: list[Any] = []
    before: Any = None
    for number, item in enumerate(given):
        place = f"{where}[{number}]"
        flagged = type(item) is str and type(before) is str and before.startswith("-")
        clean.append(_flagged(before, item, place, gaps) if flagged else _value(item, place, gaps))
        before = item
    return clean if any(new is not old for new, old in zip(clean, given, strict=True)) else given


def _flagged(flag: Any, word: str, where: str, gaps: list[Gap]) -> str:
    quoted = word if word.isalnum() else "'" + word.replace("'", '"') + "'"
    for one in find(f"{flag} {quoted}"):
        if one.start > len(flag):
            gaps.append(_gap(where, [one.kind]))
            at = one.start - len(flag) - 1 - (quoted != word)
            end = one.end - len(flag) - 1 - (quoted != word)
            return _text(word[:at] + mask(one.kind) + word[end:], where, gaps)
    return _text(word, where, gaps)


def _gap(where: str, kinds: list[str]) -> Gap:
    return Gap(where=where, strategy="masked", note=", ".join(dict.fromkeys(kinds)))

"""Masking of secrets in records and JSON values, at every privacy level; each mask is a gap."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce.model import Gap, Stored, Tool
from hookonce.secrets.detect import classify_field, find_secrets, is_mask, mask_secrets, match_hints, secret_mask
from hookonce.secrets.secret_names import classify_name

_DIGEST_FIELDS = {"hash", "length", "lines"}
_NAME_FIELDS = ("name", "key", "header")  # of a pair that is written as an object with a value


def mask_record(record: Stored, raw: bytes) -> Stored:
    """Mask the secrets of a record, each a gap with path and kind; most have no hint of one in their JSON.

    `raw` has every text of the record: the JSON of the event, where the rest repeats it or is empty.
    """
    if not match_hints(raw):
        return record
    gaps: list[Gap] = []
    clean: Stored = _mask_struct(record, "$", gaps)
    return replace(clean, gaps=[*clean.gaps, *gaps]) if gaps else clean


def mask_json(value: Any) -> tuple[Any, list[Gap]]:
    """Mask the secrets of a JSON value; each is a gap."""
    gaps: list[Gap] = []
    return _mask_value(value, "$", gaps), gaps


def _mask_value(value: Any, where: str, gaps: list[Gap]) -> Any:
    kind = type(value)
    if kind is str:
        return _mask_text(value, where, gaps)
    if kind is dict:
        return _mask_object(value, where, gaps)
    if kind is list:
        return _mask_list(value, where, gaps)
    return _mask_struct(value, where, gaps) if isinstance(value, Struct) else value


def _mask_struct(value: Any, where: str, gaps: list[Gap]) -> Any:
    fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
    pairs = ((name, old, _mask_value(old, f"{where}.{name}", gaps)) for name, old in fields if old is not None)
    changes = {name: new for name, old, new in pairs if new is not old}
    if type(value) is Tool and "native" in changes:  # what the name was taken apart to may hold half of a secret
        changes |= {"name": changes["native"], "mcp_server": None}
    return replace(value, **changes) if changes else value


def _mask_text(text: str, where: str, gaps: list[Gap]) -> str:
    clean, kinds = mask_secrets(text)
    if not kinds:
        return text
    gaps.append(_build_gap(where, kinds))
    return clean


def _mask_object(source: dict[str, Any], where: str, gaps: list[Gap], outer_name: str = "") -> dict[str, Any]:
    """Keys too; a value whose field, sibling `name` or outer field announces a secret is one."""
    clean: dict[str, Any] = {}
    sibling_name = next((source[key] for key in _NAME_FIELDS if type(source.get(key)) is str), "")
    for key, item in source.items():
        clean_key = _mask_text(key, where, gaps)
        name = sibling_name if key == "value" and sibling_name else key
        if outer_name and classify_name(name) is None:
            name = outer_name
        clean[clean_key] = _mask_field(name, item, f"{where}.{clean_key}", gaps)
    return clean if clean.keys() != source.keys() or any(clean[key] is not source[key] for key in source) else source


def _mask_field(name: str, item: Any, where: str, gaps: list[Gap]) -> Any:
    kind = _secret_kind(name, item)
    if kind is None:
        if type(item) not in {dict, list} or classify_name(name) is None:
            return _mask_value(item, where, gaps)
        if type(item) is dict:
            return _mask_object(item, where, gaps, name)
        clean = [_mask_field(name, element, f"{where}[{number}]", gaps) for number, element in enumerate(item)]
        return clean if any(new is not old for new, old in zip(clean, item, strict=True)) else item
    gaps.append(_build_gap(where, [kind]))
    return secret_mask(kind)


def _secret_kind(name: str, item: Any) -> str | None:
    """The kind of secret that a field holds; of a digest only the name can tell."""
    if type(item) is str:
        return None if is_mask(item) else classify_field(name, item)
    kind, confidence = classify_name(name) or (None, "possible")
    if type(item) is dict and item.keys() == _DIGEST_FIELDS:
        return kind if confidence != "possible" and item["length"] else None
    return kind if confidence == "certain" and type(item) in {int, float} else None


def _mask_list(items: list[Any], where: str, gaps: list[Gap]) -> list[Any]:
    """A word after a flag is read together with it, as in a command's argument list."""
    clean: list[Any] = []
    previous: Any = None
    for number, item in enumerate(items):
        path = f"{where}[{number}]"
        is_flag_value = type(item) is str and type(previous) is str and previous.startswith("-")
        clean.append(_mask_flag_value(previous, item, path, gaps) if is_flag_value else _mask_value(item, path, gaps))
        previous = item
    return clean if any(new is not old for new, old in zip(clean, items, strict=True)) else items


def _mask_flag_value(flag: Any, word: str, where: str, gaps: list[Gap]) -> str:
    shell_word = word if word.isalnum() else "'" + word.replace("'", '"') + "'"
    for span in find_secrets(f"{flag} {shell_word}"):
        if span.start > len(flag):
            gaps.append(_build_gap(where, [span.kind]))
            start = span.start - len(flag) - 1 - (shell_word != word)
            end = span.end - len(flag) - 1 - (shell_word != word)
            return _mask_text(word[:start] + secret_mask(span.kind) + word[end:], where, gaps)
    return _mask_text(word, where, gaps)


def _build_gap(where: str, kinds: list[str]) -> Gap:
    return Gap(where=where, strategy="masked", note=", ".join(dict.fromkeys(kinds)))

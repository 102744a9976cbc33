"""Texts that may have been left out: formats write a length and a hash, and the text only if it is there."""

from hashlib import sha256
from typing import Any

from hookonce.model import Digest, Object
from hookonce.texts import dump


def hash_and_length(value: Any) -> tuple[str, int]:
    """Hash and length of a text, or those of its digest."""
    if isinstance(value, Digest):
        return value.hash, value.length
    if type(value) is dict and type(value.get("hash")) is str and type(value.get("length")) is int:
        return value["hash"], value["length"]
    text = as_text(value)
    return "sha256:" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), len(text)


def is_digest(value: Any) -> bool:
    """Whether only a digest of the text remains."""
    return isinstance(value, Digest) or (type(value) is dict and value.keys() == {"hash", "length", "lines"})


def as_text(value: Any) -> str:
    """A value as text: itself, or its JSON."""
    return value if type(value) is str else dump(value).decode()


def text_fields(name: str, value: Any) -> Object:
    """`name_hash` and `name_length`, and `name_text` where the text itself is there."""
    if value is None:
        return {}
    text_hash, length = hash_and_length(value)
    result: Object = {f"{name}_hash": text_hash, f"{name}_length": length}
    if not is_digest(value):
        result[f"{name}_text"] = as_text(value)
    return result

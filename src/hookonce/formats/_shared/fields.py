"""Document fields that the envelopes share: typed readers, text digests, model ids with their provider.

A field of the wrong type is a DocumentError with its JSON path. A text may have been left out by redaction:
formats then write its length and hash alone.
"""

from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeVar

from hookonce.base import times
from hookonce.base.jsontext import dump
from hookonce.errors import DocumentError
from hookonce.model import Digest, Event, Gap, Object, Usage
from hookonce.vocabulary.events import EVENTS
from hookonce.vocabulary.names import MODEL_PROVIDERS

T = TypeVar("T")
_MAX_COUNT = 2**63  # no count, and no infinity either
_DIGEST_FIELDS = frozenset(Digest.__struct_fields__)
_TYPE_NAMES: dict[type, str] = {
    str: "a string",
    dict: "an object",
    list: "a list",
    int: "an integer",
    float: "a number",
    bool: "true or false",
}


def require_field(doc: Object, key: str, kind: type[T], where: str = "$") -> T:
    """A field that must be there."""
    if key not in doc:
        raise DocumentError(f"{key} is required", where)
    value = read_field(doc, key, kind, where)
    if value is None:
        raise DocumentError(f"expected {_TYPE_NAMES[kind]}, got null", f"{where}.{key}")
    return value


def read_field(doc: Object, key: str, kind: type[T], where: str = "$") -> T | None:
    """A field that may be missing or null; a wrong type is a DocumentError with its path."""
    value = doc.get(key)
    if value is None or type(value) is kind:
        return value
    if kind is float and type(value) is int:
        return value  # type: ignore[return-value]  # a whole number is a number
    raise DocumentError(f"expected {_TYPE_NAMES[kind]}, got {_TYPE_NAMES.get(type(value), 'null')}", f"{where}.{key}")


def read_usage(data: Object) -> Usage | None:
    """The token counts of an event's `data`, if it has any."""
    counts = {key: read_field(data, key, int, "$.data") for key in ("input_tokens", "output_tokens")}
    return Usage(**counts) if any(count is not None for count in counts.values()) else None


def describe_event(event: Event) -> str:
    """What an event means, in a phrase, and which tool it is about."""
    row = EVENTS.get(event.type)
    meaning = event.type if row is None else row.meaning
    return meaning if event.tool is None else f"{meaning}: {event.tool.native}"


def path_of(event: Event) -> str | None:
    """The path of a file event, if it names one."""
    path = event.data.get("path")
    return path if type(path) is str and path else None


def require_time(doc: Object, key: str, gaps: list[Gap]) -> str:
    """A required time; one without a zone is taken for UTC, which is a gap."""
    text = require_field(doc, key, str)
    if times.has_zone(text):
        return text
    time = times.parse_time(text)
    if time is None:
        raise DocumentError("expected a time such as 2026-02-23T10:15:30Z", f"$.{key}")
    gaps.append(Gap(where=f"$.{key}", strategy="assumed", note="the time names no zone and was taken for UTC"))
    return times.format_time(time)


def as_count(value: Any) -> int | None:
    """A non-negative count, rounded; None for what is none."""
    if type(value) is bool or not isinstance(value, int | float) or not 0 <= value < _MAX_COUNT:
        return None
    return round(value)


def hash_and_length(value: Any) -> tuple[str, int]:
    """Hash and length of a text, or those of its digest."""
    if type(value) is Digest:
        return value.hash, value.length
    if type(value) is dict and type(value.get("hash")) is str and type(value.get("length")) is int:
        return value["hash"], value["length"]
    text = as_text(value)
    return "sha256:" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), len(text)


def is_digest(value: Any) -> bool:
    """Whether only a digest of the text remains."""
    return type(value) is Digest or (type(value) is dict and value.keys() == _DIGEST_FIELDS)


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


@lru_cache(maxsize=256)
def provider_of(model: str) -> str | None:
    """The provider of a model id: what stands before the slash, else what the id begins with."""
    vendor, slash, _ = model.partition("/")
    if slash:
        return vendor or None
    return next((provider for prefix, provider in MODEL_PROVIDERS.items() if model.startswith(prefix)), None)


@lru_cache(maxsize=256)
def qualify_model(model: str) -> str:
    """`provider/model`, where the provider is known."""
    provider = provider_of(model)
    return model if provider is None or "/" in model else f"{provider}/{model}"

"""The registry of Amplifier's stable events: the fields that each of them has to have, beyond those of Event v1."""

from collections.abc import Iterator

from hookonce.formats._rest import EXTENSION_KEY
from hookonce.model import Json, Object, Problem

REQUIRED_FIELDS: dict[str, tuple[str, ...]] = {
    "session:start": ("session_id", "data.plan"),
    "session:fork": ("session_id", "data.parent"),
    "session:end": ("session_id",),
    "mount:add": ("data.path", "data.module"),
    "mount:remove": ("data.path",),
    "hook:register": ("data.event",),
    "context:get": (),
    "context:set": ("data.key",),
    "context:pre_compact": (),
    "context:post_compact": ("data.delta_bytes",),
    "module:invoke": ("module", "data.op", "status", "duration_ms"),
    "policy:decision": ("data.capability", "status"),
    "artifact:write": ("data.uri", "data.bytes"),
    "artifact:read": ("data.uri", "status"),
}
# The published transcripts do not have it either.
_LENIENT_FIELDS = frozenset({"data.plan"})


def missing_fields(document: Object) -> tuple[list[Problem], list[Problem]]:
    """Problems and doubts about required fields that are missing; of an agent's event they are doubts only.

    Agents do not say everything that a kernel knows, and what they do not say is not made up.
    """
    name = document.get("event")
    absent = [path for path in REQUIRED_FIELDS.get(name, ()) if _value_at(document, path) is None] if type(name) is str else []
    lenient_fields = frozenset(absent) if _is_own_document(document) else _LENIENT_FIELDS
    return [*_required_problems(name, absent, except_paths=lenient_fields)], [*_required_problems(name, [path for path in absent if path in lenient_fields])]


def _required_problems(name: Json, paths: list[str], except_paths: frozenset[str] = frozenset()) -> Iterator[Problem]:
    return ((f"$.{path}", f"is required for {name}") for path in paths if path not in except_paths)


def _value_at(document: Object, path: str) -> Json:
    outer, _, inner = path.partition(".")
    value = document.get(outer)
    if not inner or value is None:
        return value
    return value.get(inner) if type(value) is dict else value


def _is_own_document(document: Object) -> bool:
    data = document.get("data")
    return type(data) is dict and type(data.get(EXTENSION_KEY)) is dict

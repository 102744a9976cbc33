"""The registry of Amplifier's stable events: the fields that each of them has to have, beyond those of Event v1."""

from collections.abc import Iterator

from hookonce.formats._rest import KEY
from hookonce.model import Json, Object, Problem

REQUIRED: dict[str, tuple[str, ...]] = {
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
_LENIENT = frozenset({"data.plan"})


def missing(document: Object) -> tuple[list[Problem], list[Problem]]:
    """What the registry asks for and is not there; where an agent's event was written as one of these, doubts only.

    Agents do not tell everything that a kernel knows, and what they do not tell is not made up.
    """
    name = document.get("event")
    absent = [path for path in REQUIRED.get(name, ()) if _at(document, path) is None] if type(name) is str else []
    lenient = frozenset(absent) if _is_ours(document) else _LENIENT
    return [*_told(name, absent, but=lenient)], [*_told(name, [path for path in absent if path in lenient])]


def _told(name: Json, paths: list[str], but: frozenset[str] = frozenset()) -> Iterator[Problem]:
    return ((f"$.{path}", f"is required for {name}") for path in paths if path not in but)


def _at(document: Object, path: str) -> Json:
    """What stands there; of something that is no object the schema has said enough."""
    first, _, second = path.partition(".")
    found = document.get(first)
    if not second or found is None:
        return found
    return found.get(second) if type(found) is dict else found


def _is_ours(document: Object) -> bool:
    data = document.get("data")
    return type(data) is dict and type(data.get(KEY)) is dict

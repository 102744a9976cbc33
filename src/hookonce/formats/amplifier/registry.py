"""Registry of Amplifier's event names and of the fields that each of them requires beyond those of Event v1."""

from hookonce.base.jsontext import as_dict
from hookonce.formats._shared.rest import EXTENSION_KEY
from hookonce.model import Event, Json, Object, Problem
from hookonce.vocabulary.events import EVENTS, FILE_EVENTS_BY_OPERATION, FROM_AMPLIFIER


def _expand_names(**areas: str) -> frozenset[str]:
    return frozenset(f"{area}:{verb}" for area, verbs in areas.items() for verb in verbs.split())


SEED_NAMES = _expand_names(  # which the protocol promised to keep
    session="start fork end",
    mount="add remove",
    hook="register",
    context="get set pre_compact post_compact",
    module="invoke",
    policy="decision",
    artifact="write read",
)
CORE_NAMES = _expand_names(  # of the later core
    session="start end fork resume",
    prompt="submit complete",
    plan="start end",
    provider="request response retry error throttle tool_sequence_repaired resolve",
    llm="request response",
    content_block="start delta end",
    thinking="delta final",
    tool="pre post error",
    context="pre_compact post_compact compaction include",
    orchestrator="complete",
    execution="start end",
    user="notification",
    artifact="write read",
    policy="violation",
    approval="required granted denied",
    cancel="requested completed",
    module="on_session_ready_failed",
)
ALL_NAMES = SEED_NAMES | CORE_NAMES

_VENDOR_PREFIX = "vendor.amplifier."
_DENIED_STATUSES = frozenset({"denied", "deny"})
# Names that only reading meets: the core needs two for what `module:invoke` says with its status.
_READ_ONLY_NAMES = {
    "tool:post": "after_tool_execute",
    "tool:error": "tool_use_failure",
    "session:resume": "session_start",
}


def event_name_of(event: Event) -> str:
    """Amplifier's name of an event; where it has none, the agent's vendor name."""
    kind = event.type
    row = EVENTS.get(kind)
    if row is not None and row.amplifier is not None:
        return row.amplifier
    if kind.startswith("vendor."):
        return kind.removeprefix(_VENDOR_PREFIX) or kind
    return f"vendor.{event.agent}.{kind}"


def canonical_type_of(name: str, status: str | None, data: Object) -> str:
    """The canonical type of a name; some names mean several, which status or data distinguish."""
    if name.startswith("vendor."):
        last_part = name.rpartition(".")[2]
        return last_part if last_part in EVENTS else name
    if name == "module:invoke" and status == "error":
        return "tool_use_failure"
    if name == "policy:decision" and status not in _DENIED_STATUSES:
        return _VENDOR_PREFIX + name
    operation = data.get("operation")
    if name == "artifact:write" and type(operation) is str:
        return FILE_EVENTS_BY_OPERATION.get(operation, "file_changed")
    return FROM_AMPLIFIER.get(name) or _READ_ONLY_NAMES.get(name) or _VENDOR_PREFIX + name


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
    """Problems and doubts about required fields that are missing; of an agent's event, which says less, only doubts."""
    name = document.get("event")
    paths = REQUIRED_FIELDS.get(name, ()) if type(name) is str else ()
    absent = [path for path in paths if _value_at(document, path) is None]
    is_own = type(as_dict(document.get("data")).get(EXTENSION_KEY)) is dict
    problems: list[Problem] = []
    doubts: list[Problem] = []
    for path in absent:
        (doubts if is_own or path in _LENIENT_FIELDS else problems).append((f"$.{path}", f"is required for {name}"))
    return problems, doubts


def _value_at(document: Object, path: str) -> Json:
    outer, _, inner = path.partition(".")
    value = document.get(outer)
    if not inner or value is None:
        return value
    return value.get(inner) if type(value) is dict else value

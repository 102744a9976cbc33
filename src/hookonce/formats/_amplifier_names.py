"""Registry of Amplifier's event names and of the fields that each of them requires beyond those of Event v1.

The seed names are those that the protocol promised to keep; the others are of the later core.
"""

from hookonce.canon.events import EVENTS, FILE_OPERATIONS, FROM_AMPLIFIER
from hookonce.model import Event, Object


def _expand_names(areas: dict[str, str]) -> frozenset[str]:
    return frozenset(f"{area}:{verb}" for area, verbs in areas.items() for verb in verbs.split())


SEED_NAMES = _expand_names(
    {
        "session": "start fork end",
        "mount": "add remove",
        "hook": "register",
        "context": "get set pre_compact post_compact",
        "module": "invoke",
        "policy": "decision",
        "artifact": "write read",
    }
)
CORE_NAMES = _expand_names(
    {
        "session": "start end fork resume",
        "prompt": "submit complete",
        "plan": "start end",
        "provider": "request response retry error throttle tool_sequence_repaired resolve",
        "llm": "request response",
        "content_block": "start delta end",
        "thinking": "delta final",
        "tool": "pre post error",
        "context": "pre_compact post_compact compaction include",
        "orchestrator": "complete",
        "execution": "start end",
        "user": "notification",
        "artifact": "write read",
        "policy": "violation",
        "approval": "required granted denied",
        "cancel": "requested completed",
        "module": "on_session_ready_failed",
    }
)
DIALECTS = {"seed": SEED_NAMES, "core": CORE_NAMES}
ALL_NAMES = SEED_NAMES | CORE_NAMES

_VENDOR_PREFIX = "vendor.amplifier."
_TYPE_BY_OPERATION = {operation: kind for kind, operation, _ in FILE_OPERATIONS}
_DENIED_STATUSES = frozenset({"denied", "deny"})
# Names that only reading meets: the core needs two for what `module:invoke` says with its status.
_TYPE_BY_NAME = FROM_AMPLIFIER | {
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
        return _TYPE_BY_OPERATION.get(operation, "file_changed")
    return _TYPE_BY_NAME.get(name) or _VENDOR_PREFIX + name

"""The event names of Amplifier: those that the seed protocol promised to keep, and those of the later core."""

from hookonce.canon.events import EVENTS, FILE_FATES, FROM_AMPLIFIER
from hookonce.model import Event, Object


def _spelled(areas: dict[str, str]) -> frozenset[str]:
    return frozenset(f"{area}:{verb}" for area, verbs in areas.items() for verb in verbs.split())


SEED = _spelled(
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
CORE = _spelled(
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
DIALECTS = {"seed": SEED, "core": CORE}
EVERY = SEED | CORE

_VENDOR = "vendor.amplifier."
_FATES = {operation: kind for kind, operation, _ in FILE_FATES}
_DENIED = frozenset({"denied", "deny"})
# Names that only reading meets: the core needs two for what `module:invoke` says with its status.
_KINDS = FROM_AMPLIFIER | {
    "tool:post": "after_tool_execute",
    "tool:error": "tool_use_failure",
    "session:resume": "session_start",
}


def name_of(event: Event) -> str:
    """What Amplifier calls an event; where it has no word, the agent's vendor name."""
    kind = event.type
    row = EVENTS.get(kind)
    if row is not None and row.amplifier is not None:
        return row.amplifier
    if kind.startswith("vendor."):
        return kind.removeprefix(_VENDOR) or kind
    return f"vendor.{event.agent}.{kind}"


def kind_of(name: str, status: str | None, told: Object) -> str:
    """The canonical type of a name; some names mean several, which status or data tell apart."""
    if name.startswith("vendor."):
        last = name.rpartition(".")[2]
        return last if last in EVENTS else name
    if name == "module:invoke" and status == "error":
        return "tool_use_failure"
    if name == "policy:decision" and status not in _DENIED:
        return _VENDOR + name
    operation = told.get("operation")
    if name == "artifact:write" and type(operation) is str:
        return _FATES.get(operation, "file_changed")
    return _KINDS.get(name) or _VENDOR + name

"""OCSF 1.9: events as security tools want them. Written and never read back; what it lacks is named below."""

from functools import lru_cache

from hookonce import __version__, ids, times
from hookonce.canon.events import EVENTS
from hookonce.formats._model import provider_of
from hookonce.formats._ocsf_control import RISK_LEVEL_IDS, control_profile
from hookonce.formats._ocsf_subject import BASE_CLASS, HOSTNAME, OTHER_ACTIVITY, OcsfSubject, classify_event
from hookonce.formats._read import drop_none
from hookonce.formats._rest import EXTENSION_KEY, is_repeat, remaining_fields, rest_of
from hookonce.model import Event, Format, Gap, Object, Problem, Record

VERSION = "1.9.0"
_CLASSES = {
    0: ("Uncategorized", "Base Event", {}),
    1001: ("System Activity", "File System Activity", {0: "Unknown", 1: "Create", 2: "Read", 3: "Update", 4: "Delete"}),
    1007: ("System Activity", "Process Activity", {1: "Launch", 2: "Terminate"}),
    4002: ("Network Activity", "HTTP Activity", {3: "Get"}),
    6001: ("Application Activity", "Web Resources Activity", {5: "Search"}),
    6002: ("Application Activity", "Application Lifecycle", {3: "Start", 4: "Stop"}),
    6003: ("Application Activity", "API Activity", {}),
    6008: ("Application Activity", "Application Error", {1: "General Error"}),
}
_SEVERITIES = {1: "Informational", 2: "Low", 3: "Medium", 4: "High", 5: "Critical"}
_FAILURE_TYPES = ("tool_use_failure", "error_occurred", "model_failed")
_SEVERITY_BY_TYPE = {
    **dict.fromkeys(_FAILURE_TYPES, 2),
    **dict.fromkeys(("policy_violation", "policy_blocked", "permission_denied", "retry_loop_detected"), 3),
}
_REMAINING = remaining_fields("type", "time", "received", "agent_version", "model", "origin")


def write(record: Record) -> list[Object]:
    """One document per subject: an event that touches several files is one document for each of them."""
    event = record.event
    if is_repeat(event):
        return []
    return [_document(record, subject, index) for index, subject in enumerate(classify_event(event))]


def _document(record: Record, subject: OcsfSubject, index: int) -> Object:
    event, risk = record.event, record.risk
    severity = _SEVERITY_BY_TYPE.get(event.type, 1) if risk is None or risk.level is None else RISK_LEVEL_IDS[risk.level] + 1
    profiles = ["host"] if subject.class_uid == BASE_CLASS else ["host", "ai_operation"]
    document: Object = {
        **_class_fields(subject.class_uid, subject.activity_id, subject.label),
        "time": _milliseconds(event.time),
        "severity_id": severity,
        "severity": _SEVERITIES[severity],
        "message": _message(event),
        **subject.objects,
        **_status_fields(event),
        "actor": _actor_object(event),
        "device": {"hostname": HOSTNAME, "type_id": 0},
    }
    if subject.class_uid != BASE_CLASS:
        document |= _ai_profile(event)
    if profile := control_profile(record):
        document |= profile
        profiles.append("security_control")
    document["metadata"] = _metadata(event, profiles, index)
    document["unmapped"] = {EXTENSION_KEY: _unmapped_fields(record, index)}
    return document


@lru_cache(maxsize=512)
def _class_pairs(class_uid: int, activity_id: int, label: str | None) -> tuple[tuple[str, int | str], ...]:
    category, name, activities = _CLASSES[class_uid]
    activity = label or activities[activity_id]
    return (
        ("class_uid", class_uid),
        ("class_name", name),
        ("category_uid", class_uid // 1000),
        ("category_name", category),
        ("activity_id", activity_id),
        ("activity_name", activity),
        ("type_uid", class_uid * 100 + activity_id),
        ("type_name", f"{name}: {activity}"),
    )


def _class_fields(class_uid: int, activity_id: int, label: str | None) -> Object:
    return dict(_class_pairs(class_uid, activity_id, label))


def _milliseconds(text: str) -> int:
    return (times.to_nanoseconds(text) or 0) // 1_000_000


def _message(event: Event) -> str:
    row, error = EVENTS.get(event.type), event.data.get("error")
    meaning = event.type if row is None else row.meaning
    if event.tool is not None:
        return f"{event.agent}: {meaning}: {event.tool.native}"
    return f"{event.agent}: {meaning}: {error}" if type(error) is str else f"{event.agent}: {meaning}"


def _status_fields(event: Event) -> Object:
    result = event.tool.result if event.tool is not None else None
    ok = None if result is None else result.ok
    if ok is None and event.type in _FAILURE_TYPES:
        ok = False
    if ok is None:
        return {}
    fields: Object = {"status_id": 1, "status": "Success"} if ok else {"status_id": 2, "status": "Failure"}
    if result is not None and result.exit_code is not None:
        fields["status_code"] = str(result.exit_code)
    if result is not None and type(result.error) is str:
        fields["status_detail"] = result.error
    return fields


def _actor_object(event: Event) -> Object:
    actor: Object = {"application": drop_none({"name": event.agent, "version": event.agent_version})}
    if event.session:
        actor["session"] = {"uid": event.session}
    if event.user is not None:
        actor["user"] = drop_none({"uid": event.user.id, "name": event.user.name})
    return actor


def _ai_profile(event: Event) -> Object:
    agent: Object = {"uid": event.agent, "name": event.agent, "type_id": 1, "type": "Native"}
    if event.session:
        agent["instance_uid"] = event.session
    if event.agent_version is not None:
        agent["version"] = event.agent_version
    if event.model is not None:
        agent["ai_model"] = {"name": event.model, "ai_provider": provider_of(event.model) or "unknown"}
    usage = event.usage
    if usage is None:
        return {"ai_agent": agent}
    context = {
        "application": {"name": event.agent},
        "uid": event.session,
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
    }
    return {"ai_agent": agent, "message_context": drop_none(context)}


def _metadata(event: Event, profiles: list[str], index: int) -> Object:
    metadata: Object = {
        "version": VERSION,
        "product": {"name": "hookonce", "vendor_name": "hookonce", "version": __version__},
        "profiles": profiles,
        "uid": ids.derive_id(event.id, "ocsf", str(index)) if index else event.id,
        "event_code": event.type,
        "original_time": event.time,
    }
    if event.session:
        metadata["correlation_uid"] = event.session
    if event.received is not None:
        metadata["processed_time"] = _milliseconds(event.received)
    if event.origin is not None and event.origin.id:
        metadata["original_event_uid"] = event.origin.id
    return metadata


def _unmapped_fields(record: Record, index: int) -> Object:
    rest = rest_of(record.event, _REMAINING)
    if record.decision is not None:
        rest["decision"] = record.decision
    if record.runs:
        rest["runs"] = record.runs
    if index:
        rest["derived_from"] = record.event.id
    return rest


def check(doc: Object, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001  one table, one signature
    """What a schema cannot express: numbers that follow from others, and names that are required."""
    problems: list[Problem] = []
    kind, activity = doc.get("class_uid"), doc.get("activity_id")
    if type(kind) is int and type(activity) is int and doc.get("type_uid") != kind * 100 + activity:
        problems.append(
            ("$.type_uid", f"expected {kind * 100 + activity}, which is class_uid times 100 plus activity_id")
        )
    if type(kind) is int and doc.get("category_uid") != kind // 1000 % 100:
        problems.append(("$.category_uid", f"class {kind} is of category {kind // 1000 % 100}"))
    if activity == OTHER_ACTIVITY and not doc.get("activity_name"):
        problems.append(("$.activity_name", "an activity of 99 must be named"))
    metadata = doc.get("metadata")
    version = metadata.get("version") if type(metadata) is dict else None
    if type(version) is str and version != VERSION:
        note = ("$.metadata.version", f"version {version} is checked as {VERSION}")
        return (problems, [note])
    return problems, []


# What no class of OCSF has a place for: it travels in `unmapped` alone.
_UNMAPPED_FIELDS = (
    "$.event.turn",
    "$.event.parent_session",
    "$.event.prompt",
    "$.event.mode",
    "$.event.actor",
    "$.event.origin",
    "$.event.caused_by",
    "$.event.derived_from",
    "$.event.tool.native_input",
    "$.event.tool.result.duration_ms",
    "$.event.tool.result.output",
    "$.runs",
)

FORMAT = Format(
    name="ocsf",
    title="Open Cybersecurity Schema Framework",
    versions=(VERSION,),
    mime="application/json",
    write=write,
    is_mine=lambda doc: "class_uid" in doc,
    check=check,
    lacks=frozenset({"runs"}),
    gaps=(
        *(Gap(where=where, strategy="unmapped") for where in _UNMAPPED_FIELDS),
        Gap(where="$.event.type", strategy="narrowed", note="prompts, turns, plans and notices are Base Events"),
        Gap(where="$.event.subagent", strategy="narrowed", note="named at its beginning and end, as an application"),
        Gap(where="$.event.usage", strategy="narrowed", note="cache and reasoning tokens have no place"),
        Gap(
            where="$.event.tool.name",
            strategy="narrowed",
            note="a write is Update unless the call says that it creates",
        ),
        Gap(where="$.decision.outcome", strategy="narrowed", note="ask is action Unknown, disposition Challenge"),
        Gap(
            where="$.device", strategy="assumed", note="a hook is not told its machine's name: localhost stands for it"
        ),
        Gap(where="$", strategy="write only", note="OCSF is never read back"),
    ),
)

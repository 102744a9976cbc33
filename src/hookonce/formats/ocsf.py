"""OCSF 1.9 events for security tools: class, activity, objects, security control profile. Write only, with gaps."""

from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from hookonce import __version__
from hookonce.base import ids, times
from hookonce.base.jsontext import as_dict, drop_none
from hookonce.formats._shared.fields import describe_event, path_of, provider_of
from hookonce.formats._shared.rest import EXTENSION_KEY, is_repeat, remaining_fields, rest_of
from hookonce.model import Event, Format, Gap, Object, Problem, Record, Risk, Tool
from hookonce.vocabulary.events import OPERATIONS_BY_FILE_EVENT, TOOL_END_EVENTS
from hookonce.vocabulary.file_writes import list_written_files

BASE_CLASS, FILE_CLASS, PROCESS_CLASS, HTTP_CLASS = 0, 1001, 1007, 4002
WEB_CLASS, LIFECYCLE_CLASS, API_CLASS, ERROR_CLASS = 6001, 6002, 6003, 6008
OTHER_ACTIVITY = 99
HOSTNAME = "localhost"  # a hook is not told the name of its machine
_CREATE, _READ, _UPDATE, _DELETE = 1, 2, 3, 4
_LAUNCH, _TERMINATE = 1, 2
_START, _STOP = 3, 4
_GET, _SEARCH, _GENERAL_ERROR = 3, 5, 1
_REGULAR_FILE, _UNKNOWN = 1, 0

_ACTIVITY_BY_OPERATION = {"create": _CREATE, "update": _UPDATE, "delete": _DELETE}
_ACTIVITY_BY_TOOL = {"file_read": _READ, "file_write": _UPDATE, "file_edit": _UPDATE}
_SEARCH_TOOLS = frozenset({"search", "find"})
_ACTIVITY_BY_EVENT = {"file_changed": _UNKNOWN, "instructions_loaded": _READ, "config_change": _UPDATE} | {
    kind: _ACTIVITY_BY_OPERATION[operation] for kind, operation in OPERATIONS_BY_FILE_EVENT.items()
}
_LIFECYCLE_ACTIVITIES = {
    **dict.fromkeys(("session_start", "subagent_start"), _START),
    **dict.fromkeys(("session_end", "session_abort", "subagent_stop"), _STOP),
}
_MODEL_TYPES = frozenset({"before_model", "after_model"})
_ERROR_TYPES = frozenset({"error_occurred", "model_failed"})


class OcsfSubject(NamedTuple):
    """An OCSF class, an activity of it (with our own label where it has none), and its objects."""

    class_uid: int
    activity_id: int
    label: str | None
    objects: Object


def classify_event(event: Event) -> list[OcsfSubject]:
    """Classify an event: one subject, or one per file."""
    kind, tool = event.type, event.tool
    if tool is not None:
        return _classify_tool(event, tool)
    if kind in _ACTIVITY_BY_EVENT and (path := path_of(event)):
        return [OcsfSubject(FILE_CLASS, _ACTIVITY_BY_EVENT[kind], None, {"file": _file_object(path, event.cwd)})]
    if kind in _LIFECYCLE_ACTIVITIES:
        objects = {"application": _application_object(event)}
        return [OcsfSubject(LIFECYCLE_CLASS, _LIFECYCLE_ACTIVITIES[kind], None, objects)]
    if kind in _ERROR_TYPES:
        return [OcsfSubject(ERROR_CLASS, _GENERAL_ERROR, None, {})]
    if kind in _MODEL_TYPES:
        return [_api_subject("chat", event.model and provider_of(event.model), event.id, None)]
    return [OcsfSubject(BASE_CLASS, OTHER_ACTIVITY, kind, {})]


def _classify_tool(event: Event, tool: Tool) -> list[OcsfSubject]:
    if tool.name == "shell":
        return [_process_subject(event, tool)]
    if tool.name in _ACTIVITY_BY_TOOL and (files := [file for file in list_written_files(tool) if file["path"]]):
        return [_file_subject(event, tool, file) for file in files]
    if tool.name in _SEARCH_TOOLS and (path := tool.input.get("path") or event.cwd) and type(path) is str:
        return [OcsfSubject(FILE_CLASS, _READ, None, {"file": _file_object(path, event.cwd, _UNKNOWN)})]
    if tool.name == "web_fetch" and (page := _http_objects(tool.input.get("url"))):
        return [OcsfSubject(HTTP_CLASS, _GET, None, page)]
    if tool.name == "web_search" and type(query := tool.input.get("query")) is str:
        objects = {"web_resources": [{"name": query, "type": "search query"}], "src_endpoint": {"hostname": HOSTNAME}}
        return [OcsfSubject(WEB_CLASS, _SEARCH, None, objects)]
    operation = tool.name.partition("/")[2] or tool.native
    return [_api_subject(operation, tool.mcp_server, tool.call_id or event.id, tool.input)]


def _process_subject(event: Event, tool: Tool) -> OcsfSubject:
    """A command that is to run is a launch; one that has run is a termination."""
    command = tool.input.get("command")
    process: Object = {"cmd_line": command if type(command) is str else "", "uid": tool.call_id or event.id}
    if event.cwd is not None:
        process["working_directory"] = event.cwd
    objects: Object = {"process": process}
    if tool.result is not None and tool.result.exit_code is not None:
        objects["exit_code"] = tool.result.exit_code
    return OcsfSubject(PROCESS_CLASS, _TERMINATE if event.type in TOOL_END_EVENTS else _LAUNCH, None, objects)


def _file_subject(event: Event, tool: Tool, file: Object) -> OcsfSubject:
    activity = _ACTIVITY_BY_OPERATION.get(file.get("operation", ""), _ACTIVITY_BY_TOOL[tool.name])
    return OcsfSubject(FILE_CLASS, activity, None, {"file": _file_object(file["path"], event.cwd)})


def _file_object(path: str, cwd: str | None, kind: int = _REGULAR_FILE) -> Object:
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    is_absolute = path[:1] in "/\\~" or path[1:2] == ":" or "://" in path
    full_path = path if is_absolute or not cwd else f"{cwd.rstrip('/')}/{path}"
    return {"name": name or path, "path": full_path, "type_id": kind}


def _http_objects(url: object) -> Object | None:
    """Request and server of a fetch; None for what is no URL with a host."""
    if type(url) is not str:
        return None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host:
        return None
    url_fields = drop_none({"scheme": parts.scheme, "hostname": host, "port": port, "path": parts.path or None})
    return {
        "http_request": {"http_method": "GET", "url": {"url_string": url, **url_fields}},
        "dst_endpoint": drop_none({"hostname": host, "port": port}),
        "src_endpoint": {"hostname": HOSTNAME},
    }


def _api_subject(operation: str, service: str | None, uid: str, arguments: Object | None) -> OcsfSubject:
    api: Object = {"operation": operation, "request": {"uid": uid}}
    if service:
        api["service"] = {"name": service}
    if arguments:
        api["request"]["data"] = arguments
    return OcsfSubject(API_CLASS, OTHER_ACTIVITY, "Call", {"api": api, "src_endpoint": {"hostname": HOSTNAME}})


def _application_object(event: Event) -> Object:
    subagent = event.subagent
    if subagent is not None and event.type.startswith("subagent_"):
        return drop_none({"name": subagent.type or event.agent, "uid": subagent.id})
    return drop_none({"name": event.agent, "version": event.agent_version})


# The profile's number of each level of risk; an event's severity is one more.
RISK_LEVEL_IDS = {"low": 1, "medium": 2, "high": 3, "critical": 4}
# Outcome: what the control did, and what came of it.
_ACTIONS = {
    "allow": (1, "Allowed", 1, "Allowed"),
    "deny": (2, "Denied", 2, "Blocked"),
    "ask": (0, "Unknown", 23, "Challenge"),
    "rewrite": (4, "Modified", 11, "Corrected"),
}
_DENIAL_TYPES = frozenset({"policy_blocked", "permission_denied"})


def control_profile(record: Record) -> Object:
    """The security control profile: what was decided, and the risk."""
    decision = record.decision
    outcome: str | None = None if decision is None else decision.outcome
    if decision is not None and decision.updated_input is not None and outcome != "deny":
        outcome = "rewrite"
    if outcome is None and record.event.type in _DENIAL_TYPES:
        outcome = "deny"
    profile: Object = {}
    if outcome is not None:
        names = ("action_id", "action", "disposition_id", "disposition")
        profile = dict(zip(names, _ACTIONS[outcome], strict=True))
        if decision is not None and decision.by:
            profile["policy"] = drop_none({"name": decision.by, "desc": decision.reason})
    return profile if record.risk is None else profile | _risk_fields(record.risk)


def _risk_fields(risk: Risk) -> Object:
    level = risk.level
    fields = {
        "risk_score": risk.score,
        "risk_level_id": None if level is None else RISK_LEVEL_IDS[level],
        "risk_level": None if level is None else level.capitalize(),
        "risk_details": ", ".join(risk.factors) or None,
    }
    return drop_none(fields)


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
    severity = _SEVERITY_BY_TYPE.get(event.type, 1)
    if risk is not None and risk.level is not None:
        severity = RISK_LEVEL_IDS[risk.level] + 1
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
def _class_fields(class_uid: int, activity_id: int, label: str | None) -> Object:
    category, name, activities = _CLASSES[class_uid]
    activity = label or activities[activity_id]
    return {
        "class_uid": class_uid,
        "class_name": name,
        "category_uid": class_uid // 1000,
        "category_name": category,
        "activity_id": activity_id,
        "activity_name": activity,
        "type_uid": class_uid * 100 + activity_id,
        "type_name": f"{name}: {activity}",
    }


def _milliseconds(text: str) -> int:
    return (times.to_nanoseconds(text) or 0) // 1_000_000


def _message(event: Event) -> str:
    text, error = f"{event.agent}: {describe_event(event)}", event.data.get("error")
    return f"{text}: {error}" if event.tool is None and type(error) is str else text


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
        message = f"expected {kind * 100 + activity}, which is class_uid times 100 plus activity_id"
        problems.append(("$.type_uid", message))
    if type(kind) is int and doc.get("category_uid") != kind // 1000 % 100:
        problems.append(("$.category_uid", f"class {kind} is of category {kind // 1000 % 100}"))
    if activity == OTHER_ACTIVITY and not doc.get("activity_name"):
        problems.append(("$.activity_name", "an activity of 99 must be named"))
    version = as_dict(doc.get("metadata")).get("version")
    is_other = type(version) is str and version != VERSION
    return problems, [("$.metadata.version", f"version {version} is checked as {VERSION}")] if is_other else []


# What no class of OCSF has a place for: it travels in `unmapped` alone.
_UNMAPPED_FIELDS = """
    $.event.turn $.event.parent_session $.event.prompt $.event.mode $.event.actor $.event.origin $.event.caused_by
    $.event.derived_from $.event.tool.native_input $.event.tool.result.duration_ms $.event.tool.result.output $.runs
"""
_GAPS = (
    ("$.event.type", "narrowed", "prompts, turns, plans and notices are Base Events"),
    ("$.event.subagent", "narrowed", "named at its beginning and end, as an application"),
    ("$.event.usage", "narrowed", "cache and reasoning tokens have no place"),
    ("$.event.tool.name", "narrowed", "a write is Update unless the call says that it creates"),
    ("$.decision.outcome", "narrowed", "ask is action Unknown, disposition Challenge"),
    ("$.device", "assumed", "a hook is not told its machine's name: localhost stands for it"),
    ("$", "write only", "OCSF is never read back"),
)

FORMAT = Format(
    name="ocsf",
    title="Open Cybersecurity Schema Framework",
    versions=(VERSION,),
    write=write,
    check=check,
    lacks=frozenset({"runs"}),
    gaps=(
        *(Gap(where=where, strategy="unmapped") for where in _UNMAPPED_FIELDS.split()),
        *(Gap(where=where, strategy=strategy, note=note) for where, strategy, note in _GAPS),
    ),
)

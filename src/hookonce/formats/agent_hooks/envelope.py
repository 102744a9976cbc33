"""Agent Hooks 0.1.0 envelope: 23 event types, with actor, mode, decision and risk."""

import re
from functools import lru_cache

from msgspec.structs import replace

from hookonce.base import ids
from hookonce.base.jsontext import as_dict
from hookonce.errors import DocumentError
from hookonce.formats._shared import rest as rest_fields
from hookonce.formats._shared.fields import read_field, require_field, require_time
from hookonce.formats._shared.rest import EXTENSION_KEY
from hookonce.formats._shared.trace_link import trace_record_id
from hookonce.formats.agent_hooks import data as detail
from hookonce.model import Actor, Decision, Event, Format, Gap, Mode, Object, Problem, Record, Risk, User
from hookonce.vocabulary.events import EVENTS, FROM_AGENT_HOOKS
from hookonce.vocabulary.names import AGENT_ALIASES

VERSION = "0.1.0"
_SEMVER = re.compile(r"(\d+)\.(\d+)\.\d+")
_ACTOR_TYPES = {"user": "user", "ai_agent": "ai_agent", "agent": "ai_agent", "system": "system"}
_MODES: frozenset[str] = frozenset({"agent", "plan", "execute", "chat", "edit"})
_RISK_LEVELS = frozenset({"low", "medium", "high", "critical"})
_MAX_RISK_SCORE = 100
_build_rest = rest_fields.rest_builder("id", "time", "agent_version", "parent_session", "actor", "mode")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_DECISION_TYPES = frozenset({"Action.Before", "Action.After", "Prompt.Submitted"})
# Where the specification's own table of agents says something else than the agents do.
_TABLE_TYPES = {("cursor", "agent_stop"): "Session.End", ("windsurf", "worktree_create"): "Session.Start"}


def write_strict_table(record: Record) -> list[Object]:
    """Write the types of the specification's table: there a stop ends Cursor's session, not its turn."""
    return write(record, _TABLE_TYPES.get((record.event.agent, record.event.type)))


def write(record: Record, kind: str | None = None) -> list[Object]:
    """The event, and the further events that it means in this vocabulary."""
    event = record.event
    if rest_fields.is_repeat(event):
        return []
    documents = [_document(event, kind or detail.type_name(event.type, event.agent), record)]
    has_own_origin = event.origin is not None and event.origin.format == FORMAT.name
    if event.type not in detail.DERIVING_TYPES or has_own_origin:
        return documents  # whoever wrote it in this format has said there what else it means
    for index, (derived_type, data) in enumerate(detail.derived_events(event)):
        documents.append(_derived_document(documents[0], event, derived_type, data, index))
    return documents


def event_type_of(event: Event) -> str:
    """The event's type name here; what the taxonomy lacks gets the agent's vendor prefix."""
    return detail.type_name(event.type, event.agent)


def _document(event: Event, kind: str, record: Record) -> Object:
    document: Object = {
        "spec_version": VERSION,
        "event_id": event.id,
        "event_type": kind,
        "timestamp": event.time,
        "source": {"tool": event.agent},
        "session_id": event.session or "",
    }
    if event.agent_version is not None:
        document["source"]["version"] = event.agent_version
    if event.parent_session is not None:
        document["parent_session_id"] = event.parent_session
    if event.user is not None:
        document["user"] = event.user
    if event.actor is not None:
        document["actor"] = event.actor
    if event.mode is not None:
        document["agent_mode"] = event.mode
    data = detail.DATA_WRITERS[kind](event) if kind in detail.DATA_WRITERS else {}
    decision = record.decision
    if decision is not None and decision.outcome is not None:
        data["decision"] = {"outcome": decision.outcome} | ({"reason": decision.reason} if decision.reason else {})
    if data:
        document["data"] = data
    if record.risk is not None:
        document["risk"] = record.risk
    document["metadata"] = _metadata(event)
    return document


def _metadata(event: Event) -> Object:
    rest = _build_rest(event)
    if _agent_slug(event.agent) != event.agent:
        rest = replace(rest, agent=event.agent)
    metadata: Object = {EXTENSION_KEY: rest}
    trace = event.data.get("trace_record_id")
    if trace is None and (event.origin is None or event.origin.format != FORMAT.name):
        trace = trace_record_id(event)
    if trace is not None:
        metadata["trace_record_id"] = trace
    if event.type in {"before_compact", "after_compact"}:
        metadata["phase"] = event.type.partition("_")[0]
    return metadata


def _derived_document(parent: Object, event: Event, kind: str, data: Object, index: int) -> Object:
    common = {key: value for key, value in parent.items() if key not in {"data", "risk", "metadata"}}
    return common | {
        "event_id": ids.derive_id(event.id, kind, str(index)),
        "event_type": kind,
        "data": data,
        "metadata": {EXTENSION_KEY: {"derived_from": event.id, "data": {"index": index}}},
    }


def read(doc: Object) -> Record:
    """Parse an event; newer minor versions and unknown types are kept and named in the gaps."""
    gaps: list[Gap] = []
    _check_version(doc, gaps)
    kind, data = require_field(doc, "event_type", str), read_field(doc, "data", dict) or {}
    source = require_field(doc, "source", dict)
    tool = require_field(source, "tool", str, "$.source")
    metadata = read_field(doc, "metadata", dict) or {}
    fields, decision = detail.event_fields(kind, data), _read_decision(kind, data)
    if decision is not None:
        fields["data"].pop("decision", None)
    parent = as_dict(metadata.get(EXTENSION_KEY)).get("derived_from")
    trace = metadata.get("trace_record_id", doc.get("trace_record_id"))
    if type(trace) is str:
        fields["data"]["trace_record_id"] = trace
    event = rest_fields.plain_event(
        "agent-hooks",
        doc,
        require_field(doc, "event_id", str),
        type=fields.pop("type", None) or _canonical_type(kind, metadata),
        agent=_agent_slug(tool),
        agent_version=read_field(source, "version", str, "$.source"),
        session=require_field(doc, "session_id", str) or None,
        parent_session=read_field(doc, "parent_session_id", str),
        time=require_time(doc, "timestamp", gaps),
        user=_read_user(doc),
        actor=_read_actor(doc),
        mode=_read_mode(doc, gaps),
        derived_from=parent if type(parent) is str else None,
        **fields,
    )
    plain = Record(event=event, decision=decision, risk=_read_risk(doc), gaps=gaps)
    return rest_fields.complete_from_rest(FORMAT, plain, doc, metadata.get(EXTENSION_KEY))


def _check_version(doc: Object, gaps: list[Gap]) -> None:
    version = require_field(doc, "spec_version", str)
    match = _SEMVER.fullmatch(version)
    if match is None:
        raise DocumentError("expected a version such as 0.1.0", "$.spec_version")
    if match.groups() != ("0", "1"):
        gaps.append(Gap(where="$.spec_version", strategy="best effort", note=f"version {version} is not known"))


@lru_cache(maxsize=256)
def _agent_slug(tool: str) -> str:
    slug = tool.lower().replace(" ", "-")
    return AGENT_ALIASES.get(slug, slug)


def _canonical_type(kind: str, metadata: Object) -> str:
    if kind == "Context.Compaction" and metadata.get("phase") == "after":
        return "after_compact"
    if kind.startswith("vendor."):
        vendor, _, own_name = kind[len("vendor.") :].partition(".")
        return own_name if own_name in EVENTS else f"vendor.{AGENT_ALIASES.get(vendor, vendor)}.{own_name}"
    return FROM_AGENT_HOOKS.get(kind) or f"vendor.agent-hooks.{kind}"


def _read_user(doc: Object) -> User | None:
    user = read_field(doc, "user", dict)
    if user is None:
        return None
    return User(id=read_field(user, "id", str, "$.user"), name=read_field(user, "name", str, "$.user"))


def _read_actor(doc: Object) -> Actor | None:
    actor = read_field(doc, "actor", dict)
    if actor is None:
        return None
    kind = _ACTOR_TYPES.get(require_field(actor, "type", str, "$.actor"))
    if kind is None:
        raise DocumentError("expected user, ai_agent or system", "$.actor.type")
    actor_id, name = read_field(actor, "id", str, "$.actor"), read_field(actor, "name", str, "$.actor")
    return Actor(type=kind, id=actor_id, name=name)  # type: ignore[arg-type]  # one of the three, as the table says


def _read_mode(doc: Object, gaps: list[Gap]) -> Mode | None:
    mode = read_field(doc, "agent_mode", str)
    if mode is None or mode in _MODES:
        return mode  # type: ignore[return-value]  # one of the five
    gaps.append(Gap(where="$.agent_mode", strategy="kept", note=f"unknown mode {mode}"))
    return None


def _read_decision(kind: str, data: Object) -> Decision | None:
    """The decision; where a type has none of its own, a field of that name may mean anything."""
    try:
        return _require_valid_decision(data)
    except DocumentError:
        if kind in _DECISION_TYPES:
            raise
        return None


def _require_valid_decision(data: Object) -> Decision | None:
    decision = read_field(data, "decision", dict, "$.data")
    if decision is None:
        return None
    outcome = read_field(decision, "outcome", str, "$.data.decision")
    if outcome not in {None, "allow", "deny", "ask"}:
        raise DocumentError("expected allow, deny or ask", "$.data.decision.outcome")
    return Decision(outcome=outcome, reason=read_field(decision, "reason", str, "$.data.decision"))  # type: ignore[arg-type]


def _read_risk(doc: Object) -> Risk | None:
    risk = read_field(doc, "risk", dict)
    if risk is None:
        return None
    level = read_field(risk, "level", str, "$.risk")
    if level is not None and level not in _RISK_LEVELS:
        raise DocumentError("expected low, medium, high or critical", "$.risk.level")
    factors = [str(factor) for factor in read_field(risk, "factors", list, "$.risk") or []]
    score = read_field(risk, "score", int, "$.risk")
    if score is not None and not 0 <= score <= _MAX_RISK_SCORE:
        raise DocumentError("expected 0 to 100", "$.risk.score")
    return Risk(score=score, level=level, factors=factors)  # type: ignore[arg-type]  # one of the four


def check(doc: Object, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001  one table, one signature
    """What a schema cannot express."""
    doubts: list[Problem] = []
    kind, user = doc.get("event_type"), doc.get("user")
    if type(kind) is str and kind not in FROM_AGENT_HOOKS and not kind.startswith("vendor."):
        doubts.append(("$.event_type", f"{kind} is no event type of Agent Hooks {VERSION}"))
    if type(actor := doc.get("actor")) is dict and actor.get("type") == "agent":
        doubts.append(("$.actor.type", "agent is an older spelling of ai_agent"))
    notes: list[Problem] = []
    if type(user) is dict and type(user.get("id")) is str and _MAIL.fullmatch(user["id"]):
        notes.append(("$.user.id", "looks like an e-mail address; use an organisational id"))
    if type(version := doc.get("spec_version")) is str and not version.startswith("0.1."):
        notes.append(("$.spec_version", f"version {version} is not known; read as {VERSION}"))
    return (doubts, notes) if strict else ([], doubts + notes)


FORMAT = Format(
    name="agent-hooks",
    title="Agent Hooks",
    versions=(VERSION,),
    mime="application/vnd.agent-hooks.event+json",
    stream_mime="application/vnd.agent-hooks.stream+jsonl",
    write=write,
    omits=rest_fields.is_repeat,
    read=read,
    id_path=("event_id",),
    type_key="event_type",
    check=check,
    variants={"strict_table": write_strict_table},
    lacks=frozenset({"runs"}),
)

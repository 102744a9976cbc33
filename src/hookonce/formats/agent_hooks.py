"""Agent Hooks 0.1.0: 23 event types in one envelope, with actor, mode, decision and risk."""

from functools import lru_cache
from re import compile as pattern

from hookonce import ids
from hookonce.canon.events import EVENTS, FROM_AGENT_HOOKS
from hookonce.canon.names import AGENT_ALIASES
from hookonce.errors import DocumentError
from hookonce.formats import _agent_hooks_data as detail
from hookonce.formats._read import moment, optional, required
from hookonce.formats._rest import KEY, believed, is_repeat, names, plain_event, rest_of
from hookonce.model import (
    Actor,
    Decision,
    Event,
    Format,
    Gap,
    Mode,
    Object,
    Problem,
    Record,
    Risk,
    User,
)

VERSION = "0.1.0"
_OWN = frozenset({"spec_version", "event_id", "event_type"})  # one of them may have been forgotten
_SEMVER = pattern(r"(\d+)\.(\d+)\.\d+")
_ACTORS = {"user": "user", "ai_agent": "ai_agent", "agent": "ai_agent", "system": "system"}
_MODES: frozenset[str] = frozenset({"agent", "plan", "execute", "chat", "edit"})
_LEVELS = frozenset({"low", "medium", "high", "critical"})
_HIGHEST = 100
_REMAINING = names("id", "time", "agent_version", "parent_session", "actor", "mode")
_MAIL = pattern(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_DECIDED = frozenset({"Action.Before", "Action.After", "Prompt.Submitted"})
# Where the specification's own table of agents says something else than the agents do.
_TABLE = {("cursor", "agent_stop"): "Session.End", ("windsurf", "worktree_create"): "Session.Start"}


def write(record: Record) -> list[Object]:
    """The event, and the further events that one native event means in this vocabulary."""
    return _documents(record, name_of(record.event))


def by_the_table(record: Record) -> list[Object]:
    """The types that the specification's table prints: there a stop ends Cursor's session, not its turn."""
    event = record.event
    return _documents(record, _TABLE.get((event.agent, event.type)) or name_of(event))


def _documents(record: Record, kind: str) -> list[Object]:
    event = record.event
    if is_repeat(event):
        return []
    documents = [_document(event, kind, record)]
    if event.origin is not None and event.origin.format == FORMAT.name:
        return documents  # whoever wrote it in this format has said there what else it means
    for index, (more, data) in enumerate(detail.further(event)):
        documents.append(_derived(documents[0], event, more, data, index))
    return documents


def name_of(event: Event) -> str:
    """The type's name here; what the taxonomy lacks goes under the agent's vendor prefix."""
    return detail.type_name(event.type, event.agent)


def _document(event: Event, kind: str, record: Record) -> Object:
    document: Object = {
        "spec_version": VERSION,
        "event_id": event.id,
        "event_type": kind,
        "timestamp": event.time,
        "source": _source(event),
        "session_id": event.session or "",
    }
    if event.parent_session is not None:
        document["parent_session_id"] = event.parent_session
    if event.user is not None:
        document["user"] = event.user
    if event.actor is not None:
        document["actor"] = event.actor
    if event.mode is not None:
        document["agent_mode"] = event.mode
    data = detail.data_of(kind, event)
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
    rest = rest_of(event, _REMAINING)
    if _agent(event.agent) != event.agent:
        rest["agent"] = event.agent
    metadata: Object = {KEY: rest}
    trace = event.data.get("trace_record_id")
    if trace is not None:
        metadata["trace_record_id"] = trace
    if event.type in {"before_compact", "after_compact"}:
        metadata["phase"] = event.type.partition("_")[0]
    return metadata


def _source(event: Event) -> Object:
    tool: Object = {"tool": event.agent}
    if event.agent_version is not None:
        tool["version"] = event.agent_version
    return tool


def _derived(parent: Object, event: Event, kind: str, data: Object, index: int) -> Object:
    shared = {key: value for key, value in parent.items() if key not in {"data", "risk", "metadata"}}
    return shared | {
        "event_id": ids.derive(event.id, kind, str(index)),
        "event_type": kind,
        "data": data,
        "metadata": {KEY: {"derived_from": event.id, "data": {"index": index}}},
    }


def read(doc: Object) -> Record:
    """The record of an event; newer minor versions and unknown types are kept and named."""
    gaps: list[Gap] = []
    _version(doc, gaps)
    kind, data = required(doc, "event_type", str), optional(doc, "data", dict) or {}
    source = required(doc, "source", dict)
    tool = required(source, "tool", str, "$.source")
    metadata = optional(doc, "metadata", dict) or {}
    fields, decision = detail.event_of(kind, data), _decision(kind, data)
    if decision is not None:
        fields["data"].pop("decision", None)
    trace = metadata.get("trace_record_id", doc.get("trace_record_id"))
    if type(trace) is str:
        fields["data"]["trace_record_id"] = trace
    event = plain_event(
        "agent-hooks",
        doc,
        required(doc, "event_id", str),
        type=fields.pop("type", None) or _kind(kind, metadata),
        agent=_agent(tool),
        agent_version=optional(source, "version", str, "$.source"),
        session=required(doc, "session_id", str) or None,
        parent_session=optional(doc, "parent_session_id", str),
        time=moment(doc, "timestamp", gaps),
        user=_user(doc),
        actor=_actor(doc),
        mode=_mode(doc, gaps),
        derived_from=_derived_from(metadata),
        **fields,
    )
    plain = Record(event=event, decision=decision, risk=_risk(doc), gaps=gaps)
    return believed(FORMAT, plain, doc, metadata.get(KEY))


def _version(doc: Object, gaps: list[Gap]) -> None:
    version = required(doc, "spec_version", str)
    found = _SEMVER.fullmatch(version)
    if found is None:
        raise DocumentError("expected a version such as 0.1.0", "$.spec_version")
    if found.groups() != ("0", "1"):
        gaps.append(Gap(where="$.spec_version", strategy="best effort", note=f"version {version} is not known"))


@lru_cache(maxsize=256)
def _agent(tool: str) -> str:
    """The agent's own slug, however the tool is spelt."""
    slug = tool.lower().replace(" ", "-")
    return AGENT_ALIASES.get(slug, slug)


def _kind(kind: str, metadata: Object) -> str:
    if kind == "Context.Compaction" and metadata.get("phase") == "after":
        return "after_compact"
    if kind.startswith("vendor."):
        vendor, _, own = kind[len("vendor.") :].partition(".")
        return own if own in EVENTS else f"vendor.{AGENT_ALIASES.get(vendor, vendor)}.{own}"
    return FROM_AGENT_HOOKS.get(kind) or f"vendor.agent-hooks.{kind}"


def _derived_from(metadata: Object) -> str | None:
    ours = metadata.get(KEY)
    parent = ours.get("derived_from") if type(ours) is dict else None
    return parent if type(parent) is str else None


def _user(doc: Object) -> User | None:
    user = optional(doc, "user", dict)
    if user is None:
        return None
    return User(id=optional(user, "id", str, "$.user"), name=optional(user, "name", str, "$.user"))


def _actor(doc: Object) -> Actor | None:
    actor = optional(doc, "actor", dict)
    if actor is None:
        return None
    kind = _ACTORS.get(required(actor, "type", str, "$.actor"))
    if kind is None:
        raise DocumentError("expected user, ai_agent or system", "$.actor.type")
    who, name = optional(actor, "id", str, "$.actor"), optional(actor, "name", str, "$.actor")
    return Actor(type=kind, id=who, name=name)  # type: ignore[arg-type]  # one of the three, as the table says


def _mode(doc: Object, gaps: list[Gap]) -> Mode | None:
    mode = optional(doc, "agent_mode", str)
    if mode is None or mode in _MODES:
        return mode  # type: ignore[return-value]  # one of the five
    gaps.append(Gap(where="$.agent_mode", strategy="kept", note=f"unknown mode {mode}"))
    return None


def _decision(kind: str, data: Object) -> Decision | None:
    """The decision; where a type has none of its own, a field of that name may mean anything."""
    try:
        return _decided(data)
    except DocumentError:
        if kind in _DECIDED:
            raise
        return None


def _decided(data: Object) -> Decision | None:
    decision = optional(data, "decision", dict, "$.data")
    if decision is None:
        return None
    outcome = optional(decision, "outcome", str, "$.data.decision")
    if outcome not in {None, "allow", "deny", "ask"}:
        raise DocumentError("expected allow, deny or ask", "$.data.decision.outcome")
    return Decision(outcome=outcome, reason=optional(decision, "reason", str, "$.data.decision"))  # type: ignore[arg-type]


def _risk(doc: Object) -> Risk | None:
    risk = optional(doc, "risk", dict)
    if risk is None:
        return None
    level = optional(risk, "level", str, "$.risk")
    if level is not None and level not in _LEVELS:
        raise DocumentError("expected low, medium, high or critical", "$.risk.level")
    factors = [str(factor) for factor in optional(risk, "factors", list, "$.risk") or []]
    score = optional(risk, "score", int, "$.risk")
    if score is not None and not 0 <= score <= _HIGHEST:
        raise DocumentError("expected 0 to 100", "$.risk.score")
    return Risk(score=score, level=level, factors=factors)  # type: ignore[arg-type]  # one of the four


def check(doc: Object, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001  one table, one signature
    """What the schema cannot say."""
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
    read=read,
    is_mine=lambda doc: len(doc.keys() & _OWN) > 1,
    check=check,
    variants={"strict_table": by_the_table},
    lacks=frozenset({"runs"}),
)

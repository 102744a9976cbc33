"""CloudEvents 1.0 as structured JSON: the envelope names the event, and `data` holds the rest of the record."""

from functools import lru_cache
from re import compile as pattern
from typing import Any
from urllib.parse import quote

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from hookonce.canon.events import EVENTS
from hookonce.formats._place import unquoted
from hookonce.formats._read import moment, optional, required
from hookonce.formats._rest import believed, is_repeat, names, plain_event, rest_of
from hookonce.model import Decision, Event, Format, Gap, HookRun, Object, Problem, Record, Risk, User
from hookonce.times import EPOCH, has_zone

DATASCHEMA = "https://hookonce.dev/schemas/cloudevents-data.json"
TYPES = "dev.hookonce."
AGENTS = "urn:hookonce:agent:"

# RFC 3339 to the letter; the calendar itself was consulted when the event was read.
_TIME = pattern(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d(\.\d+)?(Z|[+-][0-2]\d:[0-5]\d)")
_REMAINING = names("id", "type", "time")
_BESIDE = frozenset({"user", "session"})
_ATTRIBUTES = frozenset({"specversion", "id", "source", "type", "time", "subject", "datacontenttype", "dataschema"})
_BODY = frozenset({"data", "data_base64"})
_LONGEST = 20


class Beside(Struct, frozen=True):
    """Who and where, which only a payload may say and an extension may not."""

    user: User | None = None
    session: str | None = None


class Payload(Struct, frozen=True):
    """The `data` of an event that hookonce wrote: a record without what its envelope says."""

    event: dict[str, Any]
    decision: Decision | None = None
    risk: Risk | None = None
    runs: list[HookRun] = []


def write(record: Record) -> list[Object]:
    """One document: nothing needs a second one, since `data` has room for everything."""
    event = record.event
    if is_repeat(event):
        return []
    payload: Object = {"event": rest_of(event, _REMAINING)}
    document = _envelope(event, payload["event"])
    if record.decision is not None:
        payload["decision"] = record.decision
    if record.risk is not None:
        payload["risk"] = record.risk
    if record.runs:
        payload["runs"] = record.runs
    document["data"] = payload
    return [document]


def _envelope(event: Event, rest: Object) -> Object:
    """The attributes; what an attribute may not hold (no text at all, control characters) joins the rest."""
    origin, session, kind = event.origin, event.session, event.type
    foreign = origin.id if origin is not None else None
    if not kind.isprintable():
        rest["type"], kind = kind, quote(kind, errors="surrogatepass")
    document: Object = {
        "specversion": "1.0",
        "id": foreign if foreign and foreign.isprintable() else event.id,
        "source": _source(event.agent),
        "type": TYPES + kind,
    }
    if event.time_source != "none" and _TIME.fullmatch(event.time):
        document["time"] = event.time
    elif event.time != EPOCH:
        rest["time"] = event.time
    if session and session.isprintable():
        document["subject"] = session
    elif session is not None:
        rest["session"] = session
    if event.user is not None:
        rest["user"] = event.user
    document["datacontenttype"] = "application/json"
    document["dataschema"] = DATASCHEMA
    return document


@lru_cache(maxsize=256)
def _source(agent: str) -> str:
    return AGENTS + quote(agent, safe="", errors="surrogatepass")


def read(doc: Object) -> Record:
    """The record of an event; anybody else's event becomes `vendor.cloudevents.<type>`, its payload untouched."""
    gaps: list[Gap] = []
    version, kind = required(doc, "specversion", str), required(doc, "type", str)
    if version != "1.0":
        gaps.append(Gap(where="$.specversion", strategy="best effort", note=f"version {version} is not known"))
    source, subject = required(doc, "source", str), optional(doc, "subject", str)
    known = _known(kind) if source.startswith(AGENTS) else None
    if known is None:
        gaps.append(Gap(where="$.type", strategy="kept", note=f"{kind} is no type of hookonce"))
    dated = optional(doc, "time", str) is not None
    event = plain_event(
        "cloudevents",
        doc,
        required(doc, "id", str),
        type=known or f"vendor.cloudevents.{kind}",
        agent="cloudevents" if known is None else unquoted(source.removeprefix(AGENTS)),
        session=None if known is None else subject,
        time=moment(doc, "time", gaps) if dated else EPOCH,
        time_source="agent" if dated else "none",
        data=_kept(doc),
    )
    plain = Record(event=event, gaps=gaps)
    return plain if known is None else _completed(plain, doc)


def _known(kind: str) -> str | None:
    """The canonical type behind one of ours; a name that a later version may have coined is not guessed at."""
    name = kind.removeprefix(TYPES)
    return name if name != kind and (name in EVENTS or name.startswith("vendor.")) else None


def _kept(doc: Object) -> Object:
    """All that stands in the envelope beside id, type and time; extension attributes have a place of their own."""
    named = {key: doc.get(key) for key in ("source", "subject", "datacontenttype", "dataschema", *_BODY)}
    data = {key: value for key, value in named.items() if value is not None}
    further = {key: value for key, value in doc.items() if key not in _ATTRIBUTES and key not in _BODY}
    return data | {"attributes": further} if further else data


def _completed(plain: Record, doc: Object) -> Record:
    """The record with its payload, unless the payload speaks of another event than the envelope."""
    if doc.get("dataschema") != DATASCHEMA:
        return plain
    try:
        payload = convert(doc.get("data"), Payload)
        beside = convert(payload.event, Beside)
    except (ValidationError, UnicodeError, RecursionError):
        return plain
    session = plain.event.session if beside.session is None else beside.session
    event = replace(plain.event, user=beside.user, session=session)
    whole = replace(plain, event=event, decision=payload.decision, risk=payload.risk, runs=payload.runs)
    rest = {key: value for key, value in payload.event.items() if key not in _BESIDE}
    found = believed(FORMAT, whole, doc, rest)
    return plain if found is whole else found


def check(doc: Object, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001  one table, one signature
    """Advice of the specification, and the rules that a schema cannot say."""
    doubts: list[Problem] = []
    version, kind, time = doc.get("specversion"), doc.get("type"), doc.get("time")
    if type(version) is str and version != "1.0":
        doubts.append(("$.specversion", f"version {version} is not known; read as 1.0"))
    if type(time) is str and not has_zone(time):
        doubts.append(("$.time", "the time is no RFC 3339 instant with a zone"))
    if type(kind) is str and kind.startswith(TYPES) and _known(kind) is None:
        doubts.append(("$.type", f"{kind} is no type of hookonce"))
    notes = [
        (f"$.{key}", "an attribute's name should have at most 20 characters") for key in doc if len(key) > _LONGEST
    ]
    if type(kind) is str and "." not in kind:
        notes.append(("$.type", "a type should begin with a domain name in reverse"))
    return (doubts, notes) if strict else ([], doubts + notes)


FORMAT = Format(
    name="cloudevents",
    title="CloudEvents",
    versions=("1.0",),
    mime="application/cloudevents+json",
    write=write,
    read=read,
    is_mine=lambda doc: "specversion" in doc,
    check=check,
)

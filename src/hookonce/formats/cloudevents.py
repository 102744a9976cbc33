"""CloudEvents 1.0 as structured JSON: the envelope names the event, and `data` holds the rest of the record."""

import re
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from hookonce.base.file_uris import decode_uri_part
from hookonce.base.jsontext import drop_none
from hookonce.base.times import EPOCH_TEXT, has_zone
from hookonce.formats._shared.fields import read_field, require_field, require_time
from hookonce.formats._shared.rest import complete_from_rest, is_repeat, plain_event, remaining_fields, rest_of
from hookonce.model import Decision, Event, Format, Gap, HookRun, Object, Problem, Record, Risk, User
from hookonce.vocabulary.events import EVENTS

DATASCHEMA = "https://hookonce.dev/schemas/cloudevents-data.json"
TYPE_PREFIX = "dev.hookonce."
SOURCE_PREFIX = "urn:hookonce:agent:"

# RFC 3339 to the letter; the calendar itself was consulted when the event was read.
_TIME = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d(\.\d+)?(Z|[+-][0-2]\d:[0-5]\d)")
_REMAINING = remaining_fields("id", "type", "time")
_IDENTITY_FIELDS = frozenset({"user", "session"})
_ATTRIBUTES = frozenset({"specversion", "id", "source", "type", "time", "subject", "datacontenttype", "dataschema"})
_BODY_FIELDS = frozenset({"data", "data_base64"})
_MAX_ATTRIBUTE_CHARS = 20


class PayloadIdentity(Struct, frozen=True):
    """User and session, which only a payload may name and an extension may not."""

    user: User | None = None
    session: str | None = None


class CloudEventPayload(Struct, frozen=True):
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
    foreign_id = origin.id if origin is not None else None
    if not kind.isprintable():
        rest["type"], kind = kind, quote(kind, errors="surrogatepass")
    document: Object = {
        "specversion": "1.0",
        "id": foreign_id if foreign_id and foreign_id.isprintable() else event.id,
        "source": _source(event.agent),
        "type": TYPE_PREFIX + kind,
    }
    if event.time_source != "none" and _TIME.fullmatch(event.time):
        document["time"] = event.time
    elif event.time != EPOCH_TEXT:
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
    return SOURCE_PREFIX + quote(agent, safe="", errors="surrogatepass")


def read(doc: Object) -> Record:
    """The record of an event; anybody else's event becomes `vendor.cloudevents.<type>`, its payload untouched."""
    gaps: list[Gap] = []
    version, kind = require_field(doc, "specversion", str), require_field(doc, "type", str)
    if version != "1.0":
        gaps.append(Gap(where="$.specversion", strategy="best effort", note=f"version {version} is not known"))
    source, subject = require_field(doc, "source", str), read_field(doc, "subject", str)
    canonical = _canonical_type(kind) if source.startswith(SOURCE_PREFIX) else None
    if canonical is None:
        gaps.append(Gap(where="$.type", strategy="kept", note=f"{kind} is not an event type of hookonce"))
    has_time = read_field(doc, "time", str) is not None
    event = plain_event(
        "cloudevents",
        doc,
        require_field(doc, "id", str),
        type=canonical or f"vendor.cloudevents.{kind}",
        agent="cloudevents" if canonical is None else decode_uri_part(source.removeprefix(SOURCE_PREFIX)),
        session=None if canonical is None else subject,
        time=require_time(doc, "time", gaps) if has_time else EPOCH_TEXT,
        time_source="agent" if has_time else "none",
        data=_foreign_data(doc),
    )
    plain = Record(event=event, gaps=gaps)
    return plain if canonical is None else _with_payload(plain, doc)


def _canonical_type(kind: str) -> str | None:
    """The canonical type behind one of ours; None for a name that a later version may have coined."""
    name = kind.removeprefix(TYPE_PREFIX)
    return name if name != kind and (name in EVENTS or name.startswith("vendor.")) else None


def _foreign_data(doc: Object) -> Object:
    """The envelope's fields beside id, type and time; extension attributes have a place of their own."""
    data = drop_none(
        {key: doc.get(key) for key in ("source", "subject", "datacontenttype", "dataschema", *_BODY_FIELDS)}
    )
    extensions = {key: value for key, value in doc.items() if key not in _ATTRIBUTES and key not in _BODY_FIELDS}
    return data | {"attributes": extensions} if extensions else data


def _with_payload(plain: Record, doc: Object) -> Record:
    """The record with its payload, unless the payload speaks of another event than the envelope."""
    if doc.get("dataschema") != DATASCHEMA:
        return plain
    try:
        payload = convert(doc.get("data"), CloudEventPayload)
        identity = convert(payload.event, PayloadIdentity)
    except (ValidationError, UnicodeError, RecursionError):
        return plain
    session = plain.event.session if identity.session is None else identity.session
    event = replace(plain.event, user=identity.user, session=session)
    candidate = replace(plain, event=event, decision=payload.decision, risk=payload.risk, runs=payload.runs)
    rest = {key: value for key, value in payload.event.items() if key not in _IDENTITY_FIELDS}
    record = complete_from_rest(FORMAT, candidate, doc, rest)
    return plain if record is candidate else record


def check(doc: Object, strict: bool) -> tuple[list[Problem], list[Problem]]:  # noqa: FBT001  one table, one signature
    """Advice of the specification, and the rules that a schema cannot express."""
    doubts: list[Problem] = []
    version, kind, time = doc.get("specversion"), doc.get("type"), doc.get("time")
    if type(version) is str and version != "1.0":
        doubts.append(("$.specversion", f"version {version} is not known; read as 1.0"))
    if type(time) is str and not has_zone(time):
        doubts.append(("$.time", "the time is no RFC 3339 instant with a zone"))
    if type(kind) is str and kind.startswith(TYPE_PREFIX) and _canonical_type(kind) is None:
        doubts.append(("$.type", f"{kind} is not an event type of hookonce"))
    long_names = [key for key in doc if len(key) > _MAX_ATTRIBUTE_CHARS]
    notes = [(f"$.{key}", "an attribute's name should have at most 20 characters") for key in long_names]
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
    id_path=("id",),
    type_key="type",
    check=check,
)

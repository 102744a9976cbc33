"""Translation of event streams between formats, line by line: parse, redact, write. A bad line stops nothing."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from hookonce import agents, formats
from hookonce.agents import decode, encode
from hookonce.base import settings
from hookonce.base.ids import StreamIds, random_id
from hookonce.base.json_stream import TOO_DEEP, StreamLine, duplicate_keys, parse_json
from hookonce.base.jsontext import dump, load
from hookonce.base.times import now
from hookonce.dispatch.identification import foreign_home, identify
from hookonce.errors import HookonceError, UnknownName
from hookonce.model import Actor, Agent, Event, Format, Gap, Object, Origin, Record, User
from hookonce.sessions.attribution import public_user
from hookonce.sessions.stream_context import StreamContext
from hookonce.store.integrity.signature import sign_document
from hookonce.store.privacy.redact import Level, redact
from hookonce.vocabulary.events import same_event

_MAX_PARENTS = 16
_MAX_NOTE_KINDS = 200


class TranslationPlan(Struct, frozen=True, kw_only=True):
    """What to translate into what. No source means that each line is identified by itself.

    `profile` is one of the source's `readers`, `variant` one of the target's `variants`; `received` is a time, or
    `now` for the moment at which each line is read. `signs` says that each document is signed. `stable_ids` says that
    the ids of payloads follow from their contents and their order, so that the same stream gives the same ids again.
    `keeps_users` says that a user stays whom everybody may know.
    """

    target: Format
    variant: str = ""
    source: Agent | Format | None = None
    profile: str = ""
    event: str | None = None
    level: Level = "minimal"
    user: str | None = None
    received: str | None = None
    strict: bool = False
    signs: bool = False
    stable_ids: bool = False
    keeps_users: bool = False


class LineFault(Struct, frozen=True, kw_only=True):
    """A line that could not be translated."""

    line: int
    message: str


class Translation:
    """One stream being translated: ids already used, parents for fan-out, and counts."""

    def __init__(self, plan: TranslationPlan) -> None:
        self.plan = plan
        self.read_count = 0
        self.written_count = 0
        self.unwritten_types: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self._next_id = StreamIds().next if plan.stable_ids else _random_id
        self._context = StreamContext()
        self._parents: dict[str, Record] = {}
        self._write = plan.target.variants[plan.variant] if plan.variant else plan.target.write
        self._keeps_native = plan.level == "full" or plan.target.name == "canonical"
        # The canon and agents' payloads stay on this machine at full: they are what an agent has said, to the letter.
        self._is_local_target = plan.target.name not in formats.FORMATS.keys() - {"canonical"}
        self.withheld_count = 0
        if plan.user is not None and "user" in plan.target.lacks:
            self.notes[f"{plan.target.title} cannot hold a user"] += 1

    def json_lines(self, lines: Iterable[StreamLine]) -> Iterator[bytes | LineFault]:
        """The documents of each line as JSON lines, or why there are none."""
        for line in lines:
            before = self.written_count
            try:
                yield b"".join(dump(self._sign_document(document)) + b"\n" for document in self.translate_line(line))
            except RecursionError:
                self.written_count = before
                yield LineFault(line=line.number, message=TOO_DEEP)
            except HookonceError as problem:
                yield LineFault(line=line.number, message=str(problem))

    def _sign_document(self, document: Object) -> Object:
        """The document as somebody else will read it, with a signature of that; or as it is, if none was asked for."""
        return sign_document(self.plan.target.name, load(dump(document).decode())) if self.plan.signs else document

    def translate_line(self, line: StreamLine) -> list[Object]:
        """Translate one line into its documents."""
        if line.fault is not None:
            raise HookonceError(line.fault)
        plan, raw = self.plan, line.raw
        document = parse_json(raw)
        if plan.strict and (duplicates := duplicate_keys(raw)):
            raise HookonceError(f"duplicate key {duplicates[0]!r}")
        self.read_count += 1
        source = plan.source or _identify_source(document)
        received = now() if plan.received == "now" else plan.received
        if isinstance(source, Agent):
            event_name = plan.event or _event_by_shape(source, document)
            event = decode(source, document, event_name, id=self._next_id(source.name, raw), received=received)
            if (home := foreign_home(source, document)) is not None:
                _count_bounded(self.notes, f"read as {source.title}, although the transcript is in {home}")
            return self._write_documents(Record(event=self._context.complete(event)))
        if type(document) is not dict:
            raise HookonceError("expected a JSON object")
        if reader := source.readers.get(plan.profile):
            return self._write_documents(reader(document, self._next_id(source.name, raw), received))
        return self._from_format(source, document)

    def _from_format(self, source: Format, document: Object) -> list[Object]:
        if source.read is None:
            raise UnknownName(f"{source.title} can be written but not read")
        record = source.read(document)
        if self._is_fan_out(source, record.event, document):
            return []
        self._remember(record)
        if source.name != self.plan.target.name:
            record = _carry_native(record, document, source, self.plan.target)
        return self._write_documents(record, is_document=True)

    def _is_fan_out(self, source: Format, event: Event, document: Object) -> bool:
        """Whether the line only repeats what a line before it produces anew."""
        parent = self._parents.get(event.derived_from or "")
        return parent is not None and document in to_builtins(source.write(parent))[1:]

    def _remember(self, record: Record) -> None:
        self._parents[record.event.id] = record
        while len(self._parents) > _MAX_PARENTS:
            del self._parents[next(iter(self._parents))]

    def _write_documents(self, record: Record, *, is_document: bool = False) -> list[Object]:
        """The documents of a record; at full one that was a document of some format is the same in another."""
        plan = self.plan
        for gap in record.gaps:
            if gap.note is not None:
                _count_bounded(self.notes, gap.note)
        output_record: Record = record
        if plan.level != "full" and record.event.native is not None:
            self.withheld_count += 1
        if plan.target.omits is not None and plan.target.omits(record.event):  # what nobody gets is not redacted
            _count_bounded(self.unwritten_types, record.event.type)
            return []
        user = None if plan.user is None else User(id=plan.user)
        if plan.keeps_users:
            user = public_user(record.event.user, settings.load().user)
        if plan.level != "full" or not (is_document or self._is_local_target):
            output_record = redact(record, plan.level, native=self._keeps_native, user=user)
        elif user is not None:
            output_record = replace(record, event=replace(record.event, user=user))
        documents = self._write(output_record)
        if not documents:
            _count_bounded(self.unwritten_types, record.event.type)
        elif output_record.event.origin is not None and (native := _restore_native(output_record, plan)) is not None:
            documents[0] = native
        self.written_count += len(documents)
        return documents


def _random_id(_agent: str, _payload: bytes) -> str:
    """An id that nobody else has: two payloads are two events, however alike they are."""
    return random_id()


def translate(
    payload: Object,
    source: str,
    to: str,
    *,
    event: str | None = None,
    privacy: Level = "minimal",
    stable_ids: bool = False,
) -> list[Object]:
    """Translate one payload or event into documents, as plain JSON objects; `source` and `to` are names.

    A payload is a new event at each call, with an id of its own, unless `stable_ids` asks for one made of its content.
    """
    origin = formats.load(source) if source in formats.FORMATS else agents.load(source)
    target = formats.load(to) if to in formats.FORMATS else payload_format(agents.load(to))
    plan = TranslationPlan(source=origin, target=target, event=event, level=privacy, stable_ids=stable_ids)
    translation = Translation(plan)
    return [load(dump(document).decode()) for document in translation.translate_line(StreamLine(1, dump(payload)))]


def payload_format(agent: Agent) -> Format:
    """A format that writes an agent's own payloads: what its hooks would get."""

    def write(record: Record) -> list[Object]:
        try:
            return [encode(agent, record.event)]
        except UnknownName:
            return []

    everything = frozenset({"decision", "risk", "runs", "user"})
    title = f"{agent.title} payloads"
    return Format(name=agent.name, title=title, versions=(), write=write, lacks=everything)


def _count_bounded(counter: Counter[str], kind: str) -> None:
    """Count, but not ever more kinds: a stream may be endless."""
    counter[kind if kind in counter or len(counter) < _MAX_NOTE_KINDS else "others"] += 1


def _identify_source(document: Any) -> Agent | Format:
    identity = identify(document)
    if identity.kind == "agent" and identity.name:
        return agents.load(identity.name)
    if identity.kind == "format" and identity.name:
        return formats.load(identity.name)
    if type(document) is not dict:
        raise HookonceError(identity.evidence[0])
    hint = f"it may be {', '.join(identity.candidates)}; " if identity.candidates else ""
    raise HookonceError(f"cannot tell whose payload this is; {hint}name it with --from")


def _event_by_shape(agent: Agent, document: Any) -> str | None:
    """Only for agents whose payloads do not name their event."""
    return agent.recognise(document) if agent.recognise is not None and type(document) is dict else None


def _carry_native(record: Record, document: Object, source: Format, target: Format) -> Record:
    """What the target has no trusted place for stays in the native document, which then travels whole."""
    actor = record.event.actor
    person = record.event.user or (actor is not None and (actor.id or actor.name))
    values = {"decision": record.decision, "risk": record.risk, "runs": record.runs, "user": person}
    if not any(values[name] for name in target.lacks & values.keys()):
        return record
    event = replace(record.event, native=document, origin=Origin(format=source.name))
    gaps = [Gap(where=f"$.{name}", strategy="carried") for name in sorted(target.lacks) if values.get(name)]
    return replace(record, event=event, gaps=record.gaps + gaps)


def _restore_native(record: Record, plan: TranslationPlan) -> Object | None:
    """The document that the event was first read from, if it is of the target's format and still says the same."""
    event, target = record.event, plan.target
    origin, native = event.origin, event.native
    if plan.variant or origin is None or origin.format != target.name or target.read is None:
        return None
    if type(native) is not dict:
        return None
    try:
        first = target.read(native)
    except HookonceError:
        return None
    user, actor = event.user or first.event.user, first.event.actor
    if actor is not None and event.actor in {None, Actor(type=actor.type)}:  # not everybody may name them
        event = replace(event, actor=actor)
    is_same = same_event(replace(event, user=user), first.event)
    pairs = ((record.decision, first.decision), (record.risk, first.risk), (record.runs, first.runs))
    return native if is_same and all(not current or current == original for current, original in pairs) else None

"""translate: line ─ read ─ Record ─ redact ─ write ─ lines. Streaming; one bad line stops nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from hookonce import agents, formats
from hookonce.agents import decode, encode
from hookonce.errors import HookonceError, UnknownName
from hookonce.formats._rest import same_event
from hookonce.ids import StreamIds
from hookonce.journeys.context import Context
from hookonce.journeys.identify import identify, strange_home
from hookonce.journeys.lines import TOO_DEEP, Line, duplicate_keys, parse
from hookonce.model import Actor, Agent, Event, Format, Gap, Object, Origin, Record, User
from hookonce.store.redact import Level, redact
from hookonce.store.signature import signed
from hookonce.texts import dump, load
from hookonce.times import now

_PARENTS = 16
_KINDS = 200
Made = TypeVar("Made")


class Plan(Struct, frozen=True, kw_only=True):
    """What to translate into what. No source means that each line is identified by itself.

    `profile` is one of the source's `readers`, `variant` one of the target's `variants`; `received` is a
    time, or `now` for the moment at which each line is read. `signs` says that each document is signed.
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


class Fault(Struct, frozen=True, kw_only=True):
    """A line that could not be translated."""

    line: int
    message: str


class Translation:
    """One stream on its way: ids already given, parents seen, and what was counted."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.read = 0
        self.written = 0
        self.folded = 0
        self.left_out: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self._ids = StreamIds()
        self._context = Context()
        self._parents: dict[str, Record] = {}
        self._write = plan.target.variants[plan.variant] if plan.variant else plan.target.write
        self.withheld = 0
        if plan.user is not None and "user" in plan.target.lacks:
            self.notes[f"{plan.target.title} has no place for a user"] += 1

    def run(self, lines: Iterable[Line]) -> Iterator[list[Object] | Fault]:
        """The documents of each line, or why there are none."""
        return _each(lines, self.line)

    def texts(self, lines: Iterable[Line]) -> Iterator[bytes | Fault]:
        """The same as JSON lines."""
        return _each(lines, self._text)

    def _text(self, line: Line) -> bytes:
        before = self.written
        try:
            return b"".join(dump(self._signed(document)) + b"\n" for document in self.line(line))
        except RecursionError:
            self.written = before
            raise

    def _signed(self, document: Object) -> Object:
        """The document as somebody else will read it, with a signature of that; or as it is, if none was asked for."""
        return signed(self.plan.target.name, load(dump(document).decode())) if self.plan.signs else document

    def line(self, line: Line) -> list[Object]:
        """The documents of one line."""
        if line.fault is not None:
            raise HookonceError(line.fault)
        document = parse(line.raw)
        if self.plan.strict and (repeated := duplicate_keys(line.raw)):
            raise HookonceError(f"duplicate key {repeated[0]!r}")
        self.read += 1
        source = self.plan.source or _identified(document)
        received = now() if self.plan.received == "now" else self.plan.received
        if isinstance(source, Agent):
            event_id = self._ids.next(source.name, line.raw)
            told = self.plan.event or _shape(source, document)
            event = decode(source, document, told, id=event_id, received=received)
            if (home := strange_home(source, document)) is not None:
                _count(self.notes, f"read as {source.title}, though the transcript lies in {home}")
            return self._documents(Record(event=self._context.completed(event)))
        if type(document) is not dict:
            raise HookonceError("expected a JSON object")
        if reader := source.readers.get(self.plan.profile):
            event_id = self._ids.next(source.name, line.raw)
            return self._documents(reader(document, event_id, received))
        return self._from_format(source, document)

    def _from_format(self, source: Format, document: Object) -> list[Object]:
        if source.read is None:
            raise UnknownName(f"{source.title} can be written but not read")
        record = source.read(document)
        if self._is_fan_out(source, record.event, document):
            self.folded += 1
            return []
        self._remember(record)
        if source.name != self.plan.target.name:
            record = _carrying(record, document, source, self.plan.target)
        return self._documents(record)

    def _is_fan_out(self, source: Format, event: Event, document: Object) -> bool:
        """Whether the line only repeats what a line before it makes anew."""
        parent = self._parents.get(event.derived_from or "")
        return parent is not None and document in to_builtins(source.write(parent))[1:]

    def _remember(self, record: Record) -> None:
        self._parents[record.event.id] = record
        while len(self._parents) > _PARENTS:
            del self._parents[next(iter(self._parents))]

    def _documents(self, record: Record) -> list[Object]:
        plan = self.plan
        for gap in record.gaps:
            if gap.note is not None:
                _count(self.notes, gap.note)
        kept: Record = record
        if plan.level != "full":
            kept = redact(record, plan.level, native=plan.target.name == "canonical")
            self.withheld += record.event.native is not None
        if plan.user is not None:
            kept = replace(kept, event=replace(kept.event, user=User(id=plan.user)))
        documents = self._write(kept)
        if not documents:
            _count(self.left_out, record.event.type)
        elif kept.event.origin is not None and (native := _restored(kept, plan)) is not None:
            documents[0] = native
        self.written += len(documents)
        return documents


def translate(
    payload: Object, source: str, to: str, *, event: str | None = None, privacy: Level = "minimal"
) -> list[Object]:
    """The documents of one payload or event, as plain JSON objects; `source` and `to` are names."""
    origin = formats.load(source) if source in formats.FORMATS else agents.load(source)
    target = formats.load(to) if to in formats.FORMATS else payloads_of(agents.load(to))
    walk = Translation(Plan(source=origin, target=target, event=event, level=privacy))
    return [load(dump(document).decode()) for document in walk.line(Line(1, dump(payload)))]


def payloads_of(agent: Agent) -> Format:
    """An agent's own payloads as a target: what its hooks would be given."""

    def write(record: Record) -> list[Object]:
        try:
            return [encode(agent, record.event)]
        except UnknownName:
            return []

    everything = frozenset({"decision", "risk", "runs", "user"})
    title = f"{agent.title} payloads"
    return Format(
        name=agent.name,
        title=title,
        versions=(),
        mime="application/json",
        write=write,
        is_mine=_never,
        lacks=everything,
    )


def _never(_: Object) -> bool:
    return False


def _count(counter: Counter[str], what: str) -> None:
    """Count, but not ever more kinds: a stream may be endless."""
    counter[what if what in counter or len(counter) < _KINDS else "others"] += 1


def _each(lines: Iterable[Line], make: Callable[[Line], Made]) -> Iterator[Made | Fault]:
    for line in lines:
        try:
            yield make(line)
        except RecursionError:
            yield Fault(line=line.number, message=TOO_DEEP)
        except HookonceError as problem:
            yield Fault(line=line.number, message=str(problem))


def _identified(document: Any) -> Agent | Format:
    found = identify(document)
    if found.kind == "agent" and found.name:
        return agents.load(found.name)
    if found.kind == "format" and found.name:
        return formats.load(found.name)
    if type(document) is not dict:
        raise HookonceError(found.evidence[0])
    who = f"it may be {', '.join(found.candidates)}; " if found.candidates else ""
    raise HookonceError(f"cannot tell whose payload this is; {who}say so with --from")


def _shape(agent: Agent, document: Any) -> str | None:
    """The event that the payload's shape tells, where the agent's payloads do not name it."""
    return agent.recognise(document) if agent.recognise is not None and type(document) is dict else None


def _carrying(record: Record, document: Object, source: Format, target: Format) -> Record:
    """What the target has no trusted place for stays in the document, which then travels whole."""
    actor = record.event.actor
    who = record.event.user or (actor is not None and (actor.id or actor.name))
    held = {"decision": record.decision, "risk": record.risk, "runs": record.runs, "user": who}
    if not any(held[name] for name in target.lacks & held.keys()):
        return record
    event = replace(record.event, native=document, origin=Origin(format=source.name))
    lost = [Gap(where=f"$.{name}", strategy="carried") for name in sorted(target.lacks) if held.get(name)]
    return replace(record, event=event, gaps=record.gaps + lost)


def _restored(record: Record, plan: Plan) -> Object | None:
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
    same = same_event(replace(event, user=user), first.event)
    pairs = ((record.decision, first.decision), (record.risk, first.risk), (record.runs, first.runs))
    return native if same and all(not mine or mine == theirs for mine, theirs in pairs) else None

"""matrix: all that is known of an agent's hooks on one sheet, a row for each lifecycle point.

The sheet is derived from the agent's own tables and from what certificates have shown of it (agents/proven), and says
nothing that they do not say. What `hookonce agents` prints, its JSON and the documentation are made of it.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from hookonce.agents import kind_of, natives, point_of
from hookonce.agents.proven import PROVEN, Shown
from hookonce.canon.capabilities import CAPABILITIES
from hookonce.model import Agent, Config, Json, Point
from hookonce.texts import dump

Proof = Literal["proven", "captured", "documented"]
Power = Literal["prevents", "retries", "rewrites", "context", "observes"]
Fate = Literal["open", "closed"]
TOOL = "before_tool_execute"  # the event that `crash` and `late` of a table speak about

_POWERS: dict[str, Power] = {"prevent": "prevents", "retry": "retries", "rewrite": "rewrites", "context": "context"}
_UNITS = {1: "seconds", 1000: "milliseconds"}


class Row(Struct, frozen=True, kw_only=True):
    """One lifecycle point: its name in the agent's configuration, our name, and what a hook can do there.

    No powers, and null for `ask`, `rewrite` and `install`: nobody has looked yet. `cap` is in seconds. `crash`
    and `late` say what becomes of the action when a hook dies or does not answer in time; null where a hook has
    no say, and `open` also where nobody has seen the opposite. `proof` is proven if a certificate shows that the event
    comes and that an answer has every power there, else the mark of the agent's table. `contradicted` are claims about
    this event that did not hold.
    """

    event: str
    canonical: str
    powers: list[Power]
    ask: Literal["native", "denies_headless", "ignored", "fatal", "none"] | None
    rewrite: Literal["whole", "merge", "fields", "no"] | None
    install: Literal["default", "opt-in", "never"] | None
    why: str | None
    cap: int | float | None
    crash: Fate | None
    late: Fate | None
    proof: Proof
    proven_on: str | None
    contradicted: list[str]
    contradicted_on: str | None


_UNSEEN = Row(
    event="",
    canonical="",
    powers=[],
    ask=None,
    rewrite=None,
    install=None,
    why=None,
    cap=None,
    crash=None,
    late=None,
    proof="documented",
    proven_on=None,
    contradicted=[],
    contradicted_on=None,
)


class Timeouts(Struct, frozen=True, kw_only=True):
    """How long a hook may take, in seconds; no unit means that an entry cannot say.

    An agent that takes numbers below `least` for seconds, whatever its unit, has one.
    """

    unit: str | None
    default: int | float | None
    longest: int | float | None
    least: int | None


class Switch(Struct, frozen=True, kw_only=True):
    """A key of an entry and the value that makes the agent refuse when the hook fails."""

    key: str
    value: Json


class Failure(Struct, frozen=True, kw_only=True):
    """What a failing hook does to a tool call, the switch against it, and where a killed hook lets things pass."""

    crash: Fate
    late: Fate
    switch: Switch | None
    open_at: list[str]


class Off(Struct, frozen=True, kw_only=True):
    """A setting that turns hooks off: the file, the keys down to it, and the value that does it."""

    file: str
    keys: list[str]
    value: Json


class Setup(Struct, frozen=True, kw_only=True):
    """How the agent is told of its hooks, and what it does with them."""

    language: Literal["json", "toml", "code"]
    files: dict[str, str]
    reads: dict[str, list[str]]
    borrows: list[str]
    programs: list[str]
    capabilities: dict[str, bool]
    matching: str
    timeouts: Timeouts
    handlers: dict[str, dict[str, str]]
    failure: Failure
    ambiguous: dict[str, list[str]]
    silence: str
    switches: list[Off]
    trust: str | None


class Certified(Struct, frozen=True, kw_only=True):
    """The certificate of the newest version that was run: which, when, and the claims that did not hold."""

    version: str
    date: str
    contradicted: list[str]


class Sheet(Struct, frozen=True, kw_only=True):
    """One agent. `events` are the names in its payloads, `points` those of its configuration.

    `proof` is the mark of its table; `certificate` is null for an agent that was never run. `config` is null for an
    agent whose configuration cannot be converted yet.
    """

    name: str
    title: str
    source: str
    checked: str
    proof: Proof
    certificate: Certified | None
    vendor: str
    events: dict[str, str]
    tools: dict[str, str]
    arguments: dict[str, dict[str, str]]
    modes: dict[str, str]
    writes_payloads: bool
    quirks: list[str]
    points: list[Row]
    config: Setup | None


class Group(NamedTuple):
    """Native events of one agent at which a hook can do the very same."""

    natives: list[str]
    row: Row


def sheet(agent: Agent, event: str | None = None, proven: Mapping[str, Shown] = PROVEN) -> Sheet:
    """All that is known of an agent; with an event, of its points only those of that canonical name."""
    shown = proven.get(agent.name)
    rows = [row if shown is None else _marked(row, shown) for row in rows_of(agent)]
    return Sheet(
        name=agent.name,
        title=agent.title,
        source=agent.source,
        checked=agent.checked,
        proof=agent.proof,
        certificate=None if shown is None else _certified(shown),
        vendor=agent.vendor,
        events=dict(agent.events),
        tools=dict(agent.tools),
        arguments={tool: dict(names) for tool, names in agent.arguments.items()},
        modes=dict(agent.modes),
        writes_payloads=agent.encodes,
        quirks=list(agent.quirks),
        points=[row for row in rows if event in (None, row.canonical)],
        config=None if agent.config is None else _setup(agent.config, rows),
    )


def _certified(shown: Shown) -> Certified:
    return Certified(version=shown.version, date=shown.date, contradicted=list(shown.contradicted))


def rows_of(agent: Agent) -> list[Row]:
    """A row for each point that can be configured, or that the table describes; all bear the mark of the table."""
    points = () if agent.config is None else agent.config.points
    return [_row(agent, native) for native in dict.fromkeys([*natives(agent), *points])]


def _row(agent: Agent, native: str) -> Row:
    kind, config, known = kind_of(agent, native), agent.config, point_of(agent, native)
    if config is None:
        return replace(_UNSEEN, event=native, canonical=kind, proof=agent.proof)
    crash, late = _fates(config, kind, known)
    return Row(
        event=native,
        canonical=kind,
        powers=_powers(known),
        ask=known.ask,
        rewrite=known.rewrite or "no",
        install=known.install,
        why=known.why,
        cap=known.cap,
        crash=crash,
        late=late,
        proof=agent.proof,
        proven_on=None,
        contradicted=[],
        contradicted_on=None,
    )


def _marked(row: Row, shown: Shown) -> Row:
    """The row with what was seen there; where a claim did not hold, or nobody knows the powers, nothing is proven."""
    if wrong := [claim for claim, event in shown.contradicted.items() if event == row.event]:
        return replace(row, contradicted=wrong, contradicted_on=shown.version)
    seen = {"observes", *shown.held.get(row.event, ())}
    if row.event not in shown.held or not row.powers or not seen.issuperset(row.powers):
        return row
    return replace(row, proof="proven", proven_on=shown.version)


def _powers(known: Point) -> list[Power]:
    return [word for power, word in _POWERS.items() if power in known.can] or ["observes"]


def _fates(config: Config, kind: str, known: Point) -> tuple[Fate | None, Fate | None]:
    """The tables speak of tool calls alone; at other points a refusal that nobody has seen is not promised."""
    if not known.can & {"prevent", "retry"}:
        return None, None
    return (config.crash, config.late) if kind == TOOL else ("open", "open")


def _setup(config: Config, rows: list[Row]) -> Setup:
    return Setup(
        language=config.language,
        files=dict(config.files),
        reads={scope: list(files) for scope, files in config.reads.items()},
        borrows=list(config.borrows),
        programs=list(config.programs),
        capabilities={name: name in config.capabilities for name in CAPABILITIES},
        matching=config.matching,
        timeouts=_timeouts(config),
        handlers={kind: dict(keys) for kind, keys in config.handlers.items()},
        failure=_failure(config, rows),
        ambiguous={tool: list(names) for tool, names in config.ambiguous.items()},
        silence=config.silence,
        switches=[Off(file=file, keys=list(keys), value=value) for file, keys, value in config.switches],
        trust=config.trust,
    )


def _timeouts(config: Config) -> Timeouts:
    told = any("timeout" in keys for keys in config.handlers.values())
    unit = _UNITS.get(config.units, f"1/{config.units} second")
    least = config.least if told and config.least else None
    return Timeouts(unit=unit if told else None, default=config.timeout, longest=config.longest, least=least)


def _failure(config: Config, rows: list[Row]) -> Failure:
    switch = None if config.closed is None else Switch(key=config.closed[0], value=config.closed[1])
    passing = [row.event for row in rows if "open" in (row.crash, row.late)]
    return Failure(crash=config.crash, late=config.late, switch=switch, open_at=passing)


def grouped(rows: list[Row]) -> list[Group]:
    """Rows that differ in nothing but the native name, as one."""
    groups: dict[bytes, Group] = {}
    for row in rows:
        groups.setdefault(dump(replace(row, event="")), Group([], row)).natives.append(row.event)
    return list(groups.values())

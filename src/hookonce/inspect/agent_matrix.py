"""Capability matrix of the agents: one sheet for each, derived from its tables and its newest certificate alone."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, convert
from msgspec.structs import replace

from hookonce.agents import canonical_event_of, config_events, point_of
from hookonce.agents.certificates import CERTIFICATES, CertificateSummary
from hookonce.agents.compaction import describe_rule
from hookonce.base.jsontext import dump
from hookonce.manifest.load import openhook_types_of
from hookonce.model import Agent, Config, Json, Point
from hookonce.vocabulary.decision_merge import CAPABILITIES
from hookonce.vocabulary.events import FROM_OPENHOOK

Proof = Literal["proven", "captured", "documented"]
Power = Literal["prevents", "retries", "rewrites", "context", "observes"]
FailureOutcome = Literal["open", "closed"]
TOOL_EVENT = "before_tool_execute"  # the event that `crash` and `late` of a table speak about

_POWERS: dict[str, Power] = {"prevent": "prevents", "retry": "retries", "rewrite": "rewrites", "context": "context"}
# Fields of an agent's tables that its sheet has under the same name.
_AGENT_FIELDS = ("name", "title", "source", "checked", "proof", "vendor", "quirks")
_AGENT_TABLES = ("events", "tools", "arguments", "modes")
_CONFIG_FIELDS = ("language", "borrows", "programs", "matching", "silence", "trust", "notice")
_CONFIG_TABLES = ("files", "reads", "handlers", "ambiguous")
_TIMEOUT_UNITS = {1: "seconds", 1000: "milliseconds"}


class PointRow(Struct, frozen=True, kw_only=True):
    """One lifecycle point: its name in the agent's configuration, our name, and what a hook can do there.

    `cap` is in seconds. `crash` and `late` say what becomes of the action when a hook dies or does not answer in time;
    null where a hook has no say, and `open` also where nobody has seen the opposite. `proof` is proven if a certificate
    shows that the event comes and that an answer has every power there, else the mark of the agent's table.
    `contradicted` are claims about this event that did not hold.
    """

    event: str
    canonical: str
    powers: list[Power]
    ask: Literal["native", "denies_headless", "ignored", "fatal", "none"]
    rewrite: Literal["whole", "merge", "fields", "no"]
    install: Literal["default", "opt-in", "never"]
    why: str | None
    cap: int | float | None
    crash: FailureOutcome | None
    late: FailureOutcome | None
    proof: Proof
    proven_on: str | None
    contradicted: list[str]
    contradicted_on: str | None


class HookTimeouts(Struct, frozen=True, kw_only=True):
    """How long a hook may take, in seconds; no unit means that an entry cannot say.

    An agent that takes numbers below `least` for seconds, whatever its unit, has one.
    """

    unit: str | None
    default: int | float | None
    longest: int | float | None
    least: int | None


class FailClosedSwitch(Struct, frozen=True, kw_only=True):
    """A key of an entry and the value that makes the agent refuse when the hook fails."""

    key: str
    value: Json


class FailurePolicy(Struct, frozen=True, kw_only=True):
    """What a failing hook does to a tool call, the switch against it, and where a killed hook lets things pass."""

    crash: FailureOutcome
    late: FailureOutcome
    switch: FailClosedSwitch | None
    open_at: list[str]


class OffSwitch(Struct, frozen=True, kw_only=True):
    """A setting that turns hooks off: the file, the keys down to it, and the value that does it."""

    file: str
    keys: list[str]
    value: Json


class AgentSetup(Struct, frozen=True, kw_only=True):
    """How the agent is told of its hooks, and what it does with them."""

    language: Literal["json", "toml", "code"]
    files: dict[str, str]
    reads: dict[str, list[str]]
    borrows: list[str]
    programs: list[str]
    capabilities: dict[str, bool]
    matching: str
    timeouts: HookTimeouts
    handlers: dict[str, dict[str, str]]
    failure: FailurePolicy
    ambiguous: dict[str, list[str]]
    silence: str
    switches: list[OffSwitch]
    trust: str | None
    notice: list[str] | None  # the event, and how that is known


class AgentCertificate(Struct, frozen=True, kw_only=True):
    """The certificate of the newest version that was run: which, when, and the claims that did not hold."""

    version: str
    date: str
    contradicted: list[str]


class OpenHookReach(Struct, frozen=True, kw_only=True):
    """The OpenHook level that an agent reaches through hookonce, and where each event is from; no means never."""

    level: Literal[0, 1, 3]  # level 3 asks for a discovery file, which every project may have, and so is no step
    events: dict[str, Literal["told", "derived", "no"]]


class CompactionSheet(Struct, frozen=True, kw_only=True):
    """When an agent compacts its context, and where that is from; `unknown` where nobody knows."""

    rule: str
    source: str | None
    date: str | None


class AgentSheet(Struct, frozen=True, kw_only=True):
    """One agent. `events` are the names in its payloads, `points` those of its configuration.

    `openhook` is what observers hear of it. `proof` is the mark of its table; `certificate` is null for an agent that
    was never run.
    """

    name: str
    title: str
    source: str
    checked: str
    proof: Proof
    certificate: AgentCertificate | None
    vendor: str
    events: dict[str, str]
    tools: dict[str, str]
    arguments: dict[str, dict[str, str]]
    modes: dict[str, str]
    writes_payloads: bool
    quirks: list[str]
    points: list[PointRow]
    openhook: OpenHookReach
    compaction: CompactionSheet
    config: AgentSetup


def build_sheet(
    agent: Agent, event: str | None = None, proofs: Mapping[str, CertificateSummary] = CERTIFICATES
) -> AgentSheet:
    """Build the sheet of an agent; with an event, of its points only those of that canonical name."""
    proof = proofs.get(agent.name)
    rows = [row if proof is None else _mark_proof(row, proof) for row in build_rows(agent)]
    certificate = None
    if proof is not None:
        certificate = AgentCertificate(version=proof.version, date=proof.date, contradicted=list(proof.failed_claims))
    fields = {
        "certificate": certificate,
        "writes_payloads": agent.encodes,
        "points": [row for row in rows if event in (None, row.canonical)],
        "openhook": find_openhook_reach(agent),
        "compaction": _build_compaction(agent),
        "config": _build_setup(agent.config, rows),
    }
    return convert(fields | {name: getattr(agent, name) for name in _AGENT_FIELDS + _AGENT_TABLES}, AgentSheet)


_BEGIN_TYPES = ("prompt.submit", "tool.start")  # by which a session begins that its agent does not tell of
_LEVEL_2_TYPES = ("session.start", "prompt.submit", "tool.start", "tool.end")  # beside session.end, which is level 1


def find_openhook_reach(agent: Agent) -> OpenHookReach:
    """What an observer of `.openhook.json` hears of an agent: what it tells to entries of ours, and what we derive."""
    types: dict[str, Literal["told", "derived", "no"]] = dict.fromkeys((*_LEVEL_2_TYPES, *FROM_OPENHOOK), "no")
    for native in config_events(agent):
        if point_of(agent, native).install != "never":
            types |= dict.fromkeys(openhook_types_of(canonical_event_of(agent, native)), "told")
    if any(types[name] == "told" for name in _BEGIN_TYPES):
        types |= {name: "derived" for name in ("session.start", "session.end") if types[name] == "no"}
    if types["session.end"] == "no":
        return OpenHookReach(level=0, events=types)
    return OpenHookReach(level=1 if any(types[name] == "no" for name in _LEVEL_2_TYPES) else 3, events=types)


def _build_compaction(agent: Agent) -> CompactionSheet:
    rule = agent.compaction
    source, date = (None, None) if rule is None else (rule.source, rule.date)
    return CompactionSheet(rule=describe_rule(rule), source=source, date=date)


def build_rows(agent: Agent) -> list[PointRow]:
    """Build a row for each point that can be configured, or that the table describes, with the table's mark."""
    return [_build_row(agent, native) for native in dict.fromkeys([*config_events(agent), *agent.config.points])]


def _build_row(agent: Agent, native: str) -> PointRow:
    kind, point = canonical_event_of(agent, native), point_of(agent, native)
    crash, late = _failure_outcomes(agent.config, kind, point)
    powers = [word for power, word in _POWERS.items() if power in point.capabilities] or list[Power](["observes"])
    return PointRow(
        event=native,
        canonical=kind,
        powers=powers,
        ask=point.ask,
        rewrite=point.rewrite or "no",
        install=point.install,
        why=point.why,
        cap=point.hard_timeout_s,
        crash=crash,
        late=late,
        proof=agent.proof,
        proven_on=None,
        contradicted=[],
        contradicted_on=None,
    )


def _mark_proof(row: PointRow, certificate: CertificateSummary) -> PointRow:
    """Where a claim did not hold, nothing is proven."""
    if failed_claims := [claim for claim, event in certificate.failed_claims.items() if event == row.event]:
        return replace(row, contradicted=failed_claims, contradicted_on=certificate.version)
    proven_powers = {"observes", *certificate.capabilities_by_event.get(row.event, ())}
    if row.event not in certificate.capabilities_by_event or not proven_powers.issuperset(row.powers):
        return row
    return replace(row, proof="proven", proven_on=certificate.version)


def _failure_outcomes(config: Config, kind: str, point: Point) -> tuple[FailureOutcome | None, FailureOutcome | None]:
    """The tables speak of tool calls alone; at other points a refusal that nobody has seen is not promised."""
    if not point.capabilities & {"prevent", "retry"}:
        return None, None
    return (config.crash, config.on_timeout) if kind == TOOL_EVENT else ("open", "open")


def _build_setup(config: Config, rows: list[PointRow]) -> AgentSetup:
    unit, least = None, None
    if any("timeout" in keys for keys in config.handlers.values()):
        unit, least = _TIMEOUT_UNITS.get(config.units, f"1/{config.units} second"), config.min_unit or None
    key = config.fail_closed_key
    switch = None if key is None else FailClosedSwitch(key=key[0], value=key[1])
    open_events = [row.event for row in rows if "open" in (row.crash, row.late)]
    fields = {
        "capabilities": {name: name in config.capabilities for name in CAPABILITIES},
        "timeouts": HookTimeouts(unit=unit, default=config.timeout, longest=config.longest, least=least),
        "failure": FailurePolicy(crash=config.crash, late=config.on_timeout, switch=switch, open_at=open_events),
        "switches": [OffSwitch(file=file, keys=list(keys), value=value) for file, keys, value in config.switches],
    }
    return convert(fields | {name: getattr(config, name) for name in _CONFIG_FIELDS + _CONFIG_TABLES}, AgentSetup)


def group_rows(rows: list[PointRow]) -> list[tuple[list[str], PointRow]]:
    """Group rows that differ in nothing but the native name: the names, and one of the rows."""
    groups: dict[bytes, tuple[list[str], PointRow]] = {}
    for row in rows:
        groups.setdefault(dump(replace(row, event="")), ([], row))[0].append(row.event)
    return list(groups.values())

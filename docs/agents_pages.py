"""docs/agents.md and a page for each agent, made from the same sheets as `hookonce agents`."""

from collections.abc import Callable, Mapping

from certificates_page import anchor
from page import GENERATED_NOTE, code, plain, table

from hookonce import agents
from hookonce.agents.certificates import CertificateSummary
from hookonce.cli.setup.agents import (
    EVENT_COLUMNS,
    OVERVIEW_COLUMNS,
    ability_rows,
    config_rows,
    event_cells,
    failure_rows,
    format_powers,
    format_proof,
    format_seconds,
    format_word,
    install_notes,
    overview_cells,
)
from hookonce.inspect.agent_matrix import AgentSheet, PointRow, build_sheet
from hookonce.vocabulary.events import CANONICAL_EVENTS
from hookonce.vocabulary.tools import ARGUMENTS

INTRODUCTION = """\
What a hook can see and do on each coding agent, generated from the tables that the program uses. Every agent has its
own page; `hookonce agents` prints the same, `hookonce agents --event EVENT` compares the agents at one event."""
COUNTED = """\
*prevent*, *ask* and *rewrite* are the number of events at which a hook can do that; *crash* is what happens to a tool
call when its hook crashes: *open*, the call is made; *closed*, it is refused."""
OBSERVED = """\
Which events an observer in `.openhook.json` gets through hookonce: *told* by the agent, *derived* by hookonce (see
[hooks](hooks.md#events-that-no-agent-tells)), or *no*. Level 1 has `session.end`, level 2 the four lifecycle events and
the transcript's path where it is known, level 3 the discovery file, which every project may have."""
COMPACTED = """\
`context_until_compaction` counts the tokens against the size at which the agent compacts its context, unless its
settings change it. Where that size is not known there is no such event, and `hookonce show` says that."""
SEVERAL = "Several entries in one cell belong to several native events; the agent's page lists them."
MARKS = {"proven": "✓", "captured": "•", "documented": "°"}
LEGEND = """\
*Proven* (✓): tested on the running agent, in the version shown: the event came, and a hook could do everything that is
listed; a [certificate](certificates.md) has the evidence. *Captured* (•): checked against payloads of the agent.
*Documented* (°): only read in the agent's documentation or code. Each event is proven on its own; events that are not
proven show how the rest of the agent's table was checked (• or °). *Contradicted* (✗): the running agent did something
else than listed."""
WORDS = """\
- **prevents**: the hook can refuse the action. **retries**: it can make the agent continue instead of ending.
  **context**: it can add text for the model. **observes**: it changes nothing.
- **ask**: whether a hook can leave the decision to the user. *denies headless*: where no person can be asked, the
  call is refused; *ignored*: the call is made as if there were no decision; *fatal*: the agent ends.
- **rewrite**: how the agent takes a new input: *whole*, *merged* into the old one, or only some *fields*.
- **fails**: what happens to the action when the hook crashes or times out. *open* also where this was never tested.
- **install**: whether `hookonce install` adds an entry for the event. **cap**: after this time the agent goes on, even
  if the entry has a longer timeout."""
POWERS = {
    "prevents": "refuse",
    "retries": "make the agent continue",
    "rewrites": "rewrite the input",
    "context": "add text for the model",
}
PART = 8  # agents beside each other in one table


def pages(proven: Mapping[str, CertificateSummary]) -> dict[str, str]:
    """Every page by its place in the repository."""
    sheets = [build_sheet(agents.load(name), proofs=proven) for name in agents.AGENTS]
    made = {f"docs/agents/{one.name}.md": "\n".join(_page(one)) for one in sheets}
    return {"docs/agents.md": "\n".join(_overview(sheets))} | made


def _overview(sheets: list[AgentSheet]) -> list[str]:
    lines = ["# The agents", "", GENERATED_NOTE, "", INTRODUCTION, "", LEGEND, ""]
    rows = [
        (f"[{one.title}](agents/{one.name}.md)", code(one.name), *overview_cells(one), *_written(one)) for one in sheets
    ]
    lines += [*table(("agent", "name", *OVERVIEW_COLUMNS, "config", "payloads"), rows), "", COUNTED]
    lines += ["", *_observed(sheets)]
    lines += ["", "## What a hook can do", "", SEVERAL, "", *_beside(sheets, _power), "## The words", "", WORDS, ""]
    lines += ["## Native names of canonical events", "", *_beside(sheets, _natives)]
    lines += ["## Native names of canonical tools", ""]
    rows = [(code(one.name), *[_tools(one, tool) for tool in ARGUMENTS]) for one in sheets]
    return [*lines, *table(("agent", *ARGUMENTS), rows), ""]


def _observed(sheets: list[AgentSheet]) -> list[str]:
    """What observers hear of each agent, with its OpenHook level, and when it compacts."""
    kinds = list(sheets[0].openhook.events)
    rows = [(code(one.name), str(one.openhook.level), *[one.openhook.events[kind] for kind in kinds]) for one in sheets]
    lines = ["## OpenHook levels", "", OBSERVED, "", *table(("agent", "level", *map(code, kinds)), rows), ""]
    known = [(code(one.name), one.compaction) for one in sheets if one.compaction.source is not None]
    rows = [(name, found.rule, plain(f"{found.source}; {found.date}")) for name, found in known]
    unknown = ", ".join(code(one.name) for one in sheets if one.compaction.source is None)
    lines += ["## When the context is compacted", "", COMPACTED, ""]
    return [*lines, *table(("agent", "compacts at", "source"), rows), "", f"Unknown: {unknown}.", ""]


def _written(one: AgentSheet) -> tuple[str, str]:
    """In what its hooks are configured, and what we do with its payloads."""
    return one.config.language, "read, write" if one.writes_payloads else "read"


def _beside(sheets: list[AgentSheet], cell: Callable[[AgentSheet, str], str]) -> list[str]:
    """Canonical events by agents, in tables that are not too wide."""
    kinds = [
        row.name
        for row in CANONICAL_EVENTS
        if any(row.name == known.canonical for one in sheets for known in one.points)
    ]
    lines: list[str] = []
    for start in range(0, len(sheets), PART):
        part = sheets[start : start + PART]
        rows = [(code(kind), *[cell(one, kind) for one in part]) for kind in kinds]
        lines += [*table(("canonical", *[one.name for one in part]), rows), ""]
    return lines


def _power(one: AgentSheet, kind: str) -> str:
    found = dict.fromkeys(f"{format_powers(row)} {_sign(row)}" for row in one.points if row.canonical == kind)
    return " / ".join(found) or "–"


def _sign(row: PointRow) -> str:
    return "✗" if row.contradicted else MARKS[row.proof]


def _natives(one: AgentSheet, kind: str) -> str:
    return ", ".join(code(row.event) for row in one.points if row.canonical == kind) or "–"


def _tools(one: AgentSheet, tool: str) -> str:
    return ", ".join(code(native) for native, known in one.tools.items() if known == tool) or "–"


def _page(one: AgentSheet) -> list[str]:
    lines = [
        f"# {one.title}",
        "",
        GENERATED_NOTE,
        "",
        f"Known here as `{one.name}`; {_known(one)}, checked {one.checked}.",
    ]
    lines += ["What the words mean: [the agents](../agents.md#the-words).", ""]
    lines += _contradicted(one)
    lines += ["## Where its hooks live", "", *_pairs(config_rows(one.config))]
    lines += ["## What can be prevented", "", *_able(one), ""]
    lines += ["## When a hook fails", "", *_pairs(failure_rows(one.config))]
    lines += ["## What an entry can say", "", *_pairs(ability_rows(one.config))]
    lines += [*_events(one), *_tool_names(one), "## Quirks", "", *[f"- {plain(quirk)}" for quirk in one.quirks], ""]
    return [*lines, "## Source", "", f"{plain(one.source)}; checked {one.checked}.", ""]


def _contradicted(one: AgentSheet) -> list[str]:
    if one.certificate is None or not one.certificate.contradicted:
        return []
    claims = ", ".join(map(code, one.certificate.contradicted))
    return [f"Contradicted on {one.certificate.version}, as the certificate shows: {claims}.", ""]


def _known(one: AgentSheet) -> str:
    """How much of it is proven, with the evidence, or else its mark."""
    if one.certificate is None:
        return f"*{one.proof}*"
    where = f"../certificates.md#{anchor(one.name, one.certificate.version)}"
    return f"*{format_proof(one)}* ([certificate]({where}) of {one.certificate.date}), the rest *{one.proof}*"


def _pairs(rows: list[tuple[str, str]]) -> list[str]:
    return [*table(("what", "how"), [(plain(what), plain(how)) for what, how in rows]), ""]


def _able(one: AgentSheet) -> list[str]:
    """What an answer can do, and at which events."""
    found = {what: [row.event for row in one.points if word in row.powers] for word, what in POWERS.items()}
    found["leave it to the user"] = [row.event for row in one.points if row.ask in ("native", "denies_headless")]
    return ["An answer can:", ""] + [
        f"- {what}: {', '.join(map(code, events)) or 'nowhere'}" for what, events in found.items()
    ]


def _events(one: AgentSheet) -> list[str]:
    head = ("event", "canonical", *EVENT_COLUMNS, "install", "cap")
    rows = [
        (code(row.event), code(row.canonical), *event_cells(row), format_word(row.install), format_seconds(row.cap))
        for row in one.points
    ]
    lines = ["## Events", "", *table(head, rows), ""]
    if remarks := [f"- {plain(note)}" for note in install_notes(one.points)]:
        lines += [*remarks, ""]
    spelt = {row.event: row.canonical for row in one.points}
    others = [(code(name), code(kind)) for name, kind in one.events.items() if spelt.get(name) != kind]
    told = ["Payloads use other names:", "", *table(("in payloads", "canonical"), others), ""]
    return lines + (told if others else [])


def _tool_names(one: AgentSheet) -> list[str]:
    tools = [(code(native), code(known)) for native, known in one.tools.items()]
    names = [
        ("every tool" if tool == "*" else code(tool), code(native), code(known))
        for tool, arguments in one.arguments.items()
        for native, known in arguments.items()
    ]
    lines = ["## Tools", "", *table(("native", "canonical"), tools), ""] if tools else []
    return lines + (["## Arguments", "", *table(("tool", "native", "canonical"), names), ""] if names else [])

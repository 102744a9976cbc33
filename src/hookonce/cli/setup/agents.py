"""hookonce agents: capability matrix of every agent's hooks, and its texts on a terminal and in the docs."""

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Collection

from hookonce import agents
from hookonce.base.jsontext import dump
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.layout import Column
from hookonce.cli._ui.messages import print_json
from hookonce.cli._ui.tables import print_table, print_words
from hookonce.inspect.agent_matrix import AgentSetup, AgentSheet, HookTimeouts, PointRow, build_sheet, group_rows
from hookonce.inspect.query_args import find_agent, find_event_type
from hookonce.vocabulary.events import EVENTS

PROOF_LEGEND = "proven: tested on the running agent; captured means seen in its payloads, documented only read about"
PROOF_NOTES = (
    "With a version: in that version the event came, and every answer listed for it worked",
    "contradicted: the running agent did something else than listed; hookonce prove shows the evidence",
)
POWER_LEGEND = (
    "prevents: the hook can refuse; retries: it can make the agent continue; context: it can add text for the model",
    "fails: what happens to the action when the hook crashes or times out; open also where this is unknown",
)
EVENT_COLUMNS = ("power", "ask", "rewrite", "fails", "proof")
OVERVIEW_COLUMNS = ("events", "prevent", "ask", "rewrite", "crash", "proof", "checked")

_NONE = "–"
_FAIL_MODE_TEXTS = {"open": "the tool call is made (open)", "closed": "the tool call is refused (closed)"}
_ASK_TEXTS = {
    "native": "asks",
    "denies_headless": "asks, and denies where no person can be asked",
    "ignored": "ask is ignored",
    "fatal": "ask ends the agent",
}


def overview_cells(sheet: AgentSheet) -> tuple[str, ...]:
    """The agent in the overview, column by column as in COUNTS."""
    power_counts = Counter(power for row in sheet.points for power in row.powers)
    asks = sum(row.ask in ("native", "denies_headless") for row in sheet.points)
    counts = map(str, (power_counts["prevents"], asks, power_counts["rewrites"]))
    return (str(len(sheet.points)), *counts, sheet.config.failure.crash, format_proof(sheet), sheet.checked)


def format_proof(sheet: AgentSheet) -> str:
    """How much of the agent is proven, and on which version; the mark of its table if it was never run."""
    if sheet.certificate is None:
        return sheet.proof
    proven_count = sum(row.proven_on is not None for row in sheet.points)
    return f"proven {proven_count}/{len(sheet.points)} on {sheet.certificate.version}"


def proof_mark(row: PointRow) -> str:
    """How a row is known, and on which version it was shown or contradicted."""
    if row.contradicted:
        return f"{row.proof}, contradicted on {row.contradicted_on}"
    return row.proof if row.proven_on is None else f"{row.proof} on {row.proven_on}"


def event_cells(row: PointRow) -> tuple[str, ...]:
    """What a row says, column by column as in CELLS."""
    return (format_powers(row), format_word(row.ask), format_word(row.rewrite), _format_fail_mode(row), proof_mark(row))


def event_summary(row: PointRow) -> str:
    """The same in one cell, without what does not apply."""
    parts = [f"rewrites: {row.rewrite}" if word == "rewrites" else word for word in row.powers]
    parts += [_ASK_TEXTS[row.ask]] if row.ask in _ASK_TEXTS else []
    parts += [f"fails {_format_fail_mode(row)}"] if row.crash is not None else []
    return " · ".join(parts + event_remarks(row))


def event_remarks(row: PointRow) -> list[str]:
    """What is out of the ordinary: a point that nobody installs unasked, or that has little time."""
    parts = [row.install] if row.install in ("opt-in", "never") else []
    return parts + ([f"cap {format_seconds(row.cap)}"] if row.cap is not None else [])


def format_powers(row: PointRow) -> str:
    """What an answer can do; a rewrite has a column of its own, unless it is all there is."""
    words = [word for word in row.powers if word != "rewrites"] or row.powers
    return ", ".join(words)


def format_word(word: str) -> str:
    """A word of the table; a dash where the agent has no such thing."""
    return _NONE if word in ("none", "no") else word.replace("_", " ")


def _format_fail_mode(row: PointRow) -> str:
    if row.crash == row.late:
        return row.crash or _NONE
    return "open if late" if row.late == "open" else "open if killed"


def format_seconds(seconds: float | None) -> str:
    """A number of seconds, if there is one."""
    return _NONE if seconds is None else f"{seconds:.10g} s"


def install_notes(rows: list[PointRow]) -> list[str]:
    """Why some points are not installed unless asked for, or never."""
    events_by_reason: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.why is not None:
            events_by_reason.setdefault((format_word(row.install), row.why), []).append(row.event)
    return [f"{install}: {', '.join(events)}: {why}" for (install, why), events in events_by_reason.items()]


def format_contradictions(sheet: AgentSheet) -> str | None:
    """The claims that did not hold on the running agent."""
    if sheet.certificate is None or not sheet.certificate.contradicted:
        return None
    return f"contradicted on {sheet.certificate.version}: {', '.join(sheet.certificate.contradicted)}"


def config_rows(setup: AgentSetup) -> list[tuple[str, str]]:
    """Where hooks live, and what must be true for them to run."""
    rows = [(f"{scope} file", file) for scope, file in setup.files.items()]
    rows += [(f"also reads, {scope}", ", ".join(files)) for scope, files in setup.reads.items()]
    rows += [("also runs hooks of", ", ".join(setup.borrows))] if setup.borrows else []
    rows += [("language", setup.language), ("programs", ", ".join(setup.programs) or _NONE)]
    rows += [("before hooks run", setup.trust or "nothing, as far as is known")]
    for switch in setup.switches:
        rows.append(("turned off by", f"{'.'.join(switch.keys)}: {dump(switch.value).decode()} in {switch.file}"))
    return rows


def context_rows(sheet: AgentSheet) -> list[tuple[str, str]]:
    """The OpenHook level that the agent reaches through hookonce, and when it compacts its context."""
    reach, compaction = sheet.openhook, sheet.compaction
    event_names = {
        word: [name for name, source in reach.events.items() if source == word] for word in ("derived", "no")
    }
    notes = "; ".join(f"{word}: {', '.join(names)}" for word, names in event_names.items() if names)
    source = "" if compaction.source is None else f" ({compaction.source}; checked {compaction.date})"
    return [
        ("OpenHook level", f"{reach.level} ({notes})" if notes else str(reach.level)),
        ("compacts at", f"{compaction.rule}{source}"),
    ]


def ability_rows(setup: AgentSetup) -> list[tuple[str, str]]:
    """What an entry can say, and what the agent can do with it."""
    rows = []
    for kind, keys in setup.handlers.items():
        words = (key if field == key else f"{key} ({field})" for field, key in keys.items())
        rows.append((f"{kind} handler", ", ".join(words)))
    rows.append(("matcher", setup.matching))
    rows += [(f"{tool} is", " or ".join(names)) for tool, names in setup.ambiguous.items()]
    rows.append(("timeout", _format_timeouts(setup.timeouts)))
    rows += [(name, "yes" if is_there else "no") for name, is_there in setup.capabilities.items()]
    return [*rows, ("no decision", f"prints {setup.silence or 'nothing'}")]


def failure_rows(setup: AgentSetup) -> list[tuple[str, str]]:
    """What becomes of a call whose hook fails, and what can be done about it."""
    failure = setup.failure
    switch = "none" if failure.switch is None else f"{failure.switch.key}: {dump(failure.switch.value).decode()}"
    switch_note = "" if failure.switch is None else f", unless the entry says {switch}"
    open_points = f"{', '.join(failure.open_at)}{switch_note}" if failure.open_at else "nowhere"
    notice = (
        f"at {setup.notice[0]}: {setup.notice[1]}" if setup.notice is not None else "not possible, as far as is known"
    )
    return [
        ("a hook crashes", _FAIL_MODE_TEXTS[failure.crash]),
        ("a hook times out", _FAIL_MODE_TEXTS[failure.late]),
        ("fail-closed switch", switch),
        ("open after a kill at", open_points),
        ("where broken hooks are reported", notice),
    ]


def _format_timeouts(timeouts: HookTimeouts) -> str:
    unit = f"in {timeouts.unit}" if timeouts.unit else "cannot be set in an entry"
    min_unit_note = f", numbers below {timeouts.least} are seconds" if timeouts.least else ""
    default = "default not known" if timeouts.default is None else f"default {format_seconds(timeouts.default)}"
    longest = "" if timeouts.longest is None else f"; at most {format_seconds(timeouts.longest)}"
    return f"{unit}{min_unit_note}; {default}{longest}"


_EXAMPLES = """examples:
  hookonce agents
  hookonce agents codex
  hookonce agents --event before_tool_execute
  hookonce agents codex --json"""


def configure(parser: ArgumentParser) -> None:
    """The options of `agents`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("names", nargs="*", metavar="NAME", help="an agent; default: a summary of all")
    parser.add_argument("--event", metavar="CANONICAL", help="compare what agents let a hook do at one event")
    add_flag(parser, "--json", "print one JSON object per agent, with everything")


def run(options: Namespace) -> None:
    """Show one agent whole, all in a table, or one event of them all."""
    sheets = [build_sheet(find_agent(name), options.event) for name in options.names or agents.AGENTS]
    if options.event is not None and options.event not in EVENTS and not any(sheet.points for sheet in sheets):
        find_event_type(options.event)
    if options.json:
        print_json(*sheets)
    elif options.event is not None:
        _print_event(sheets, options.event)
    elif options.names:
        for sheet in sheets:
            _print_agent(sheet)
    else:
        _print_overview(sheets)


def _print_overview(sheets: list[AgentSheet]) -> None:
    columns = [Column(title, right=title in OVERVIEW_COLUMNS[:4]) for title in ("agent", *OVERVIEW_COLUMNS)]
    print_table(columns, [(sheet.name, *overview_cells(sheet)) for sheet in sheets])
    print("\nprevent, ask, rewrite: the number of events at which a hook can do that")
    print("crash: open, a tool call is made although its hook crashed; closed, it is refused")
    for text in (PROOF_LEGEND, *PROOF_NOTES[:1]):
        print_words(text)
    print_words("Next: hookonce agents NAME shows everything about one; hookonce agents --event EVENT compares all")


def _print_event(sheets: list[AgentSheet], event: str) -> None:
    rows = []
    for sheet in sheets:
        for natives, row in group_rows(sheet.points):
            remark_text = f" ({', '.join(event_remarks(row))})" if event_remarks(row) else ""
            rows.append((sheet.name, *event_cells(row), ", ".join(natives) + remark_text))
    print(f"{event}: {EVENTS[event].meaning}" if event in EVENTS else event)
    _print_rows(("agent", *EVENT_COLUMNS, "native events"), rows)
    _print_lines([f"{sheet.name}, {note}" for sheet in sheets for note in install_notes(sheet.points)])
    if without := [sheet.name for sheet in sheets if not sheet.points]:
        print(f"\nWithout this event: {', '.join(without)}")
    print("", *POWER_LEGEND, PROOF_LEGEND, *PROOF_NOTES, sep="\n")


def _print_agent(sheet: AgentSheet) -> None:
    proof_text = "" if sheet.certificate is None else f" ({sheet.certificate.date}), the rest {sheet.proof}"
    print(f"{sheet.title} ({sheet.name}): {format_proof(sheet)}{proof_text}, checked {sheet.checked}")
    print(f"Source: {sheet.source}")
    if contradiction_text := format_contradictions(sheet):
        print(contradiction_text)
    for title, rows_of in (("hooks", config_rows), ("entries", ability_rows), ("failure", failure_rows)):
        _print_rows((title, ""), rows_of(sheet.config))
    _print_rows(("hooks that only observe or add context", ""), context_rows(sheet))
    points = [(row.event, row.canonical, proof_mark(row), event_summary(row)) for row in sheet.points]
    _print_rows(("event", "canonical", "proof", "what a hook can do, and more"), points)
    _print_lines(install_notes(sheet.points))
    _print_names(sheet)
    print("", *(f"- {quirk}" for quirk in sheet.quirks), "", *POWER_LEGEND, PROOF_LEGEND, *PROOF_NOTES, sep="\n")


def _print_names(sheet: AgentSheet) -> None:
    """What payloads call things: events where the configuration calls them otherwise, tools, arguments."""
    config_names = {row.event: row.canonical for row in sheet.points}
    payload_events = {native: kind for native, kind in sheet.events.items() if config_names.get(native) != kind}
    _print_rows(("event in payloads", "canonical"), payload_events.items())
    _print_rows(("native tool", "canonical"), sheet.tools.items())
    arguments = [
        ("every tool" if tool == "*" else tool, *names)
        for tool, names_by_native in sheet.arguments.items()
        for names in names_by_native.items()
    ]
    _print_rows(("tool", "native argument", "canonical"), arguments)


def _print_rows(columns: tuple[str, ...], rows: Collection[tuple[str, ...]]) -> None:
    """Print a table below an empty line, unless it has no rows."""
    if rows:
        print()
        print_table(columns, rows)


def _print_lines(lines: list[str]) -> None:
    if lines:
        print("", *lines, sep="\n")

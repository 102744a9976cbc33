"""hookonce agents."""

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from hookonce import agents
from hookonce.cli._table import show, table
from hookonce.model import Agent, Object
from hookonce.texts import dump

_TABLES = ("events", "tools", "arguments", "modes")


def configure(parser: ArgumentParser) -> None:
    """The options of `agents`."""
    parser.epilog = "examples:\n  hookonce agents\n  hookonce agents codex --json"
    parser.add_argument("names", nargs="*", metavar="NAME", help="an agent; default: all of them, in short")
    parser.add_argument("--json", action="store_true", help="one JSON object per agent, whole")


def run(options: Namespace) -> int:
    """Show one agent whole or all in a table."""
    chosen = [agents.load(name) for name in options.names or agents.AGENTS]
    if options.json:
        for agent in chosen:
            sys.stdout.buffer.write(dump(as_object(agent)) + b"\n")
    elif options.names:
        for agent in chosen:
            _whole(agent)
    else:
        _overview(chosen)
    return 0


def as_object(agent: Agent) -> Object:
    """An agent's tables as JSON."""
    facts = ("name", "title", "source", "checked", "proof", "vendor")
    found: Object = {name: getattr(agent, name) for name in facts}
    found |= {name: dict(getattr(agent, name)) for name in _TABLES}
    return found | {"writes_payloads": agent.encodes, "quirks": list(agent.quirks)}


def _overview(chosen: list[Agent]) -> None:
    made = table("agent", "events", "tools", "payloads", "proof", "checked")
    for agent in chosen:
        how = "read, write" if agent.encodes else "read"
        made.add_row(agent.name, str(len(agent.events)), str(len(agent.tools)), how, agent.proof, agent.checked)
    show(made)
    print("\nproven: shown on the running agent; captured: on payloads it wrote; documented: from its documentation")
    print("Next: hookonce agents NAME shows its events, tools, source and quirks")


def _whole(agent: Agent) -> None:
    print(f"{agent.title} ({agent.name}): {agent.proof}, checked {agent.checked}\nSource: {agent.source}")
    for title, rows in (("native event", agent.events), ("native tool", agent.tools)):
        made = table(title, "canonical")
        for native, canonical in rows.items():
            made.add_row(native, canonical)
        _show_if_any(made)
    made = table("tool", "native argument", "canonical")
    for tool, names in agent.arguments.items():
        for native, canonical in names.items():
            made.add_row("every tool" if tool == "*" else tool, native, canonical)
    _show_if_any(made)
    print()
    for quirk in agent.quirks:
        print(f"- {quirk}")


def _show_if_any(made: Any) -> None:
    if made.row_count:
        print()
        show(made)

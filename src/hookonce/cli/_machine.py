"""What the commands share that change agents' configurations: which agents, which scope, and how changes are shown."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

from msgspec import to_builtins

from hookonce.agents import config_of
from hookonce.cli import _named
from hookonce.cli._words import counted
from hookonce.errors import HookonceError
from hookonce.journeys.change import Change, diff, make
from hookonce.journeys.places import Place, here
from hookonce.journeys.survey import present
from hookonce.model import Agent
from hookonce.texts import dump


def configure(parser: ArgumentParser, *, changes: bool = True, named: bool = False) -> None:
    """The options that they all have; `named` if there is no default for whom."""
    whom = "whose hooks" if named else "default: every agent that is found here"
    parser.add_argument("names", nargs="+" if named else "*", metavar="AGENT", help=whom)
    parser.add_argument("--json", action="store_true", help="tell it as JSON")
    if changes:
        parser.add_argument("--scope", choices=("user", "project"), default="user", help="default: user")
        parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")


def chosen(options: Namespace, place: Place) -> list[Agent]:
    """The agents that were named, else those that are here."""
    if options.names:
        named = [_named.agent(name) for name in options.names]
        for agent in named:
            config_of(agent)
        return named
    found = present(place)
    if not found:
        print(
            "hookonce: no agent was found on this machine; name one, as in: hookonce install claude-code",
            file=sys.stderr,
        )
    return found


def planned(
    options: Namespace, step: Callable[[Agent, Place], list[Change]]
) -> tuple[list[Change], list[tuple[str, str]]]:
    """The changes for all chosen agents, and what was wrong with some of them: one does not stop the others."""
    place = here()
    changes: list[Change] = []
    problems: list[tuple[str, str]] = []
    for agent in chosen(options, place):
        try:
            changes += step(agent, place)
        except HookonceError as problem:
            problems.append((agent.name, str(problem)))
    return changes, problems


def apply(changes: list[Change], *, leaving: bool = False) -> tuple[list[Change], list[tuple[str, str]]]:
    """Make the changes; those that could not be made are told with the reason."""
    done: list[Change] = []
    problems: list[tuple[str, str]] = []
    for change in changes:
        try:
            make(change, leaving=leaving)
            done.append(change)
        except HookonceError as problem:
            problems.append((change.agent or "", str(problem)))
    return done, problems


def report(options: Namespace, verb: str, changes: list[Change], problems: list[tuple[str, str]]) -> int:
    """Say what was (or would be) done, and leave with the right code."""
    if options.json:
        _print_json(verb, changes, problems, dry=options.dry_run)
    else:
        if options.dry_run:
            sys.stdout.write(diff(changes))
            print()
        tense = f"would be {verb}" if options.dry_run else verb
        for change in changes:
            print(f"{change.agent or 'hookonce'}: {change.path} {tense}")
        if not changes and not problems:
            print("nothing to do")
        for _, text in problems:
            print(f"hookonce: {text}", file=sys.stderr)
        if problems and changes:
            print(f"hookonce: {counted(len(problems), 'problem')}; the rest went well", file=sys.stderr)
        if options.dry_run and changes:
            print(f"dry run: {_summary(changes)} would be {verb}; nothing was written")
    return 1 if problems else 0


def _summary(changes: list[Change]) -> str:
    """How much it is, and whose."""
    whose = list(dict.fromkeys(change.agent for change in changes if change.agent))
    return counted(len(changes), "file") + (f" of {', '.join(whose)}" if whose else "")


def _print_json(verb: str, changes: list[Change], problems: list[tuple[str, str]], *, dry: bool) -> None:
    files = [
        {"agent": change.agent, "scope": change.scope, "path": str(change.path), "state": _state(change)}
        for change in changes
    ]
    told: dict[str, Any] = {"verb": verb, "dry_run": dry, "changes": files}
    told["problems"] = [{"agent": agent, "message": text} for agent, text in problems]
    if dry:
        told["diff"] = diff(changes)
    sys.stdout.buffer.write(dump(to_builtins(told)) + b"\n")


def _state(change: Change) -> str:
    return "created" if change.old is None else "removed" if change.new is None else "changed"

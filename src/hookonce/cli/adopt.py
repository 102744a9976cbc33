"""hookonce adopt."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli import _machine, _named
from hookonce.cli._words import counted
from hookonce.cli.consent import confirmed
from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.journeys.adopt import Adoption, adoption
from hookonce.journeys.change import Change, diff
from hookonce.journeys.client import place as place_client
from hookonce.journeys.doctor import REPAIRS
from hookonce.journeys.install import plan
from hookonce.journeys.places import here
from hookonce.model import Agent

Problems = list[tuple[str, str]]


def configure(parser: ArgumentParser) -> None:
    """The options of `adopt`."""
    parser.epilog = "examples:\n  hookonce adopt claude-code --dry-run\n  hookonce adopt claude-code --scope project"
    _machine.configure(parser, named=True)


def run(options: Namespace) -> int:
    """Move an agent's own hooks into the manifest, where every agent can have them."""
    done: list[Change] = []
    problems: Problems = []
    for agent in map(_named.agent, options.names):
        try:
            made, failed = _one(options, agent)
        except HookonceError as problem:
            made, failed = [], [(agent.name, str(problem))]
        done, problems = done + made, problems + failed
    code = _machine.report(options, "changed", done, problems)
    if done and options.scope == "project" and not options.json:
        print("Next: hookonce trust; hooks of a project run only as you have seen them")
    return code


def _one(options: Namespace, agent: Agent) -> tuple[list[Change], Problems]:
    """One agent after the other: each sees the manifest as the last one has left it."""
    if agent.name not in REPAIRS:
        raise HookonceError(f"hooks of {agent.title} are not moved for you; hookonce convert --to hif shows them")
    found = adoption(agent, options.scope, here(), str(paths.client()))
    _tell(options, agent, found)
    changes = [*([found.manifest] if found.manifest else []), *found.files]
    if options.dry_run or not changes:
        return changes, []
    if sys.stdin.isatty() and not options.json:
        sys.stdout.write(diff(changes))
    if not confirmed("Move them?"):
        return [], []
    place_client()
    made, failed = _machine.apply(changes[:1])
    if failed:  # hooks that the manifest could not take stay where they are
        return made, failed
    more, failed = _machine.apply(changes[1:], leaving=True)
    # Without entries of ours nobody would call the manifest.
    entries, unopened = _machine.apply(plan(agent, options.scope, here(), str(paths.client())))
    return [*made, *more, *entries], failed + unopened


def _tell(options: Namespace, agent: Agent, found: Adoption) -> None:
    for text in found.stayed:
        print(f"hookonce: stays where it is: {text}", file=sys.stderr)
    if not options.json:
        print(f"{agent.name}: {counted(len(found.moved), 'hook')} to move", file=sys.stderr)

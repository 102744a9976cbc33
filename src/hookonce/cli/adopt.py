"""hookonce adopt."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli import _machine
from hookonce.cli._words import counted
from hookonce.cli.consent import confirmed
from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.journeys.adopt import adoption
from hookonce.journeys.change import Change, diff
from hookonce.journeys.client import place as place_client
from hookonce.journeys.doctor import REPAIRS
from hookonce.journeys.places import Place, here
from hookonce.model import Agent


def configure(parser: ArgumentParser) -> None:
    """The options of `adopt`."""
    parser.epilog = "examples:\n  hookonce adopt claude-code --dry-run\n  hookonce adopt claude-code --scope project"
    _machine.configure(parser)


def run(options: Namespace) -> int:
    """Move an agent's own hooks into the manifest, where every agent can have them."""
    if not options.names:
        raise HookonceError("say whose hooks: hookonce adopt AGENT; hookonce status lists them")
    manifest = paths.configuration() if options.scope == "user" else here().project / ".hookonce"

    def step(agent: Agent, place: Place) -> list[Change]:
        if agent.name not in REPAIRS:
            raise HookonceError(f"hooks of {agent.title} are not moved for you; hookonce convert --to hif shows them")
        found = adoption(agent, options.scope, place, manifest / "hooks.json", str(paths.client()))
        for text in found.stayed:
            print(f"hookonce: stays where it is: {text}", file=sys.stderr)
        if not options.json:
            print(f"{agent.name}: {counted(len(found.moved), 'hook')} to move", file=sys.stderr)
        return found.changes

    changes, problems = _machine.planned(options, step)
    if options.dry_run or not changes:
        return _machine.report(options, "changed", changes, problems)
    if sys.stdin.isatty() and not options.json:
        sys.stdout.write(diff(changes))
    if not confirmed("Move them?"):
        print("nothing was changed")
        return 0
    place_client()
    done, failed = _machine.apply(changes, leaving=True)
    return _machine.report(options, "changed", done, problems + failed)

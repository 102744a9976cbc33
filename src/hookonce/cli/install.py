"""hookonce install."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce import agents
from hookonce.agents import config_of, natives
from hookonce.cli import _machine
from hookonce.cli.consent import confirmed
from hookonce.config import paths
from hookonce.edit.file import read_file
from hookonce.journeys.change import Change, diff
from hookonce.journeys.client import place as place_client
from hookonce.journeys.client import try_out
from hookonce.journeys.install import plan
from hookonce.journeys.places import Place, written
from hookonce.journeys.review import reviewed
from hookonce.model import Agent

_EXAMPLES = """examples:
  hookonce install --dry-run
  hookonce install claude-code codex
  hookonce install gemini-cli --scope project"""


def configure(parser: ArgumentParser) -> None:
    """The options of `install`."""
    parser.epilog = _EXAMPLES
    _machine.configure(parser)
    parser.add_argument(
        "--trust",
        action="store_true",
        help="tell agents that ask for it (Codex) that you trust these entries",
    )
    parser.add_argument(
        "--events", choices=("default", "all"), default="default", help="all: also those that come very often"
    )


def run(options: Namespace) -> int:
    """Let agents call hookonce: an entry for each event, beside whatever hooks are there."""
    client = str(paths.client())

    def step(agent: Agent, place: Place) -> list[Change]:
        changes = plan(agent, options.scope, place, client, options.events)
        if not _wants_trust(options, agent):
            return changes
        mark = reviewed(agent, changes[0].path, changes[0].new, place, client) if changes else _later(agent, place)
        return changes + ([] if mark is None else [mark])

    def _later(agent: Agent, place: Place) -> Change | None:
        """The entries stand there already; only the user's word is new."""
        path = written(agent, options.scope, place)
        return None if path is None else reviewed(agent, path, read_file(path), place, client)

    changes, problems = _machine.planned(options, step)
    if options.dry_run or not changes:
        return _machine.report(options, "changed", changes, problems)
    if sys.stdin.isatty() and not options.json:
        sys.stdout.write(diff(changes))
    if not confirmed("Write this?"):
        print("nothing was changed")
        return 0
    place_client()
    for name in dict.fromkeys(change.agent for change in changes if change.agent):
        _try(name, client)
    done, failed = _machine.apply(changes)
    code = _machine.report(options, "changed", done, problems + failed)
    if not options.json:
        _next_steps(done)
    return code


def _wants_trust(options: Namespace, agent: Agent) -> bool:
    """Whether the user lets us say to the agent that our entries were reviewed."""
    return options.trust and config_of(agent).review is not None


def _try(name: str, client: str) -> None:
    """Run the very command that will be written, as the agent would."""
    agent = agents.load(name)
    native = next(iter(natives(agent)))
    try_out([client, name, native, "--via", f"{name}/user"], config_of(agent).silence)


def _next_steps(done: list[Change]) -> None:
    for name in dict.fromkeys(change.agent for change in done if change.agent):
        if (step := config_of(agents.load(name)).trust) is not None:
            print(f"{name}: {step}")
    if done:
        print("Next: hookonce status shows what calls us; hookonce uninstall gives the files back as they were")

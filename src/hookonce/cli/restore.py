"""hookonce restore."""

from argparse import ArgumentParser, Namespace

from hookonce.cli import _machine
from hookonce.cli.consent import agreed
from hookonce.journeys.change import Change, diff
from hookonce.journeys.places import Place
from hookonce.journeys.restore import plan_restore
from hookonce.model import Agent


def configure(parser: ArgumentParser) -> None:
    """The options of `restore`."""
    parser.epilog = "examples:\n  hookonce restore claude-code --dry-run\n  hookonce restore claude-code"
    _machine.configure(parser)


def run(options: Namespace) -> int:
    """Put back the newest copy of an agent's configuration, as it was before our last change."""

    def step(agent: Agent, place: Place) -> list[Change]:
        return plan_restore(agent, options.scope, place)

    changes, problems = _machine.planned(options, step)
    if options.dry_run or not changes:
        return _machine.report(options, "restored", changes, problems)
    agreed("restore", diff(changes))
    done, failed = _machine.apply(changes, leaving=True)
    return _machine.report(options, "restored", done, problems + failed)

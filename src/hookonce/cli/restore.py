"""hookonce restore."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli import _machine
from hookonce.cli.consent import agreed, needs_a_person
from hookonce.errors import UsageError
from hookonce.journeys.change import Change, diff
from hookonce.journeys.places import Place, here
from hookonce.journeys.restore import copies_of, plan_restore
from hookonce.model import Agent
from hookonce.texts import dump


def configure(parser: ArgumentParser) -> None:
    """The options of `restore`."""
    parser.epilog = (
        needs_a_person("restore, but for --list and --dry-run,")
        + "\n\nexamples:\n  hookonce restore claude-code --dry-run\n  hookonce restore claude-code"
    )
    _machine.configure(parser)
    parser.add_argument("--list", action="store_true", help="show the copies that there are")
    parser.add_argument("--back", type=int, default=1, metavar="N", help="the Nth newest copy; default: 1")


def run(options: Namespace) -> int:
    """Put back the newest copy of an agent's configuration, as it was before our last change."""

    def step(agent: Agent, place: Place) -> list[Change]:
        return plan_restore(agent, options.scope, place, options.back)

    if options.back < 1:
        raise UsageError("--back counts from 1, the newest copy")
    if options.list:
        return _list(options)
    changes, problems = _machine.planned(options, step)
    if options.dry_run or not changes:
        return _machine.report(options, "restored", changes, problems)
    agreed("restore", diff(changes))
    done, failed = _machine.apply(changes, leaving=True)
    return _machine.report(options, "restored", done, problems + failed)


def _list(options: Namespace) -> int:
    place = here()
    found = [one for agent in _machine.chosen(options, place) for one in copies_of(agent, options.scope, place)]
    if options.json:
        told = [{"back": number, "path": str(path), "copy": str(copy)} for number, path, copy in found]
        sys.stdout.buffer.write(dump(told) + b"\n")
        return 0
    for number, path, copy in found:
        print(f"--back {number}: {path} as of {copy.name} ({copy.stat().st_size} bytes)")
    return 0

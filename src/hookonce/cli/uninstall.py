"""hookonce uninstall."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli import _machine
from hookonce.cli._words import counted
from hookonce.cli.consent import agreed, needs_a_person
from hookonce.config import paths
from hookonce.journeys import posting
from hookonce.journeys.adopt import manifest_of
from hookonce.journeys.change import Change, diff
from hookonce.journeys.install import plan_removal
from hookonce.journeys.places import Place, here
from hookonce.journeys.review import forgotten
from hookonce.model import Agent


def configure(parser: ArgumentParser) -> None:
    """The options of `uninstall`."""
    parser.epilog = (
        needs_a_person("uninstall, but for --dry-run,")
        + "\n\nexamples:\n  hookonce uninstall --dry-run\n  hookonce uninstall claude-code"
    )
    _machine.configure(parser)
    parser.add_argument("--all", action="store_true", help="also let scripts run bare that `convert` has wrapped")


def run(options: Namespace) -> int:
    """Take our entries out of agents' configurations; nobody else's are touched."""
    client = str(paths.client())

    def step(agent: Agent, place: Place) -> list[Change]:
        changes = plan_removal(agent, options.scope, place, client, unwrap=options.all)
        marks = [forgotten(agent, change, place, client) for change in changes]
        return changes + [mark for mark in marks if mark is not None]

    changes, problems = _machine.planned(options, step)
    if options.dry_run or not changes:
        return _machine.report(options, "changed", changes, problems)
    if text := _left(options, changes):
        print(f"hookonce: WARNING: {text}", file=sys.stderr)
    agreed("uninstall", diff(changes))
    done, failed = _machine.apply(changes, leaving=True)
    posting.retire()
    return _machine.report(options, "given back", done, problems + failed)


def _left(options: Namespace, changes: list[Change]) -> str | None:
    """The hooks of the manifest that these agents will not call any more."""
    file, count = manifest_of(options.scope, here())
    names = list(dict.fromkeys(change.agent for change in changes if change.agent))
    if not count or not names:
        return None
    return (
        f"{', '.join(names)}: {counted(count, 'hook')} of {file} will not be asked any more; "
        f"hookonce convert --from hif --to {names[0]} {file} shows them as {names[0]}'s own"
    )

"""hookonce purge."""

from argparse import ArgumentParser, Namespace

from hookonce import agents
from hookonce.agents import config_of
from hookonce.cli import _machine
from hookonce.cli.consent import agreed, needs_a_person
from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.journeys.change import Change, diff
from hookonce.journeys.install import plan_removal
from hookonce.journeys.places import here
from hookonce.journeys.restore import forget_everything, leftovers
from hookonce.journeys.review import forgotten


def configure(parser: ArgumentParser) -> None:
    """The options of `purge`."""
    parser.epilog = (
        needs_a_person("purge, but for --dry-run,") + "\n\nexamples:\n  hookonce purge --dry-run\n  hookonce purge"
    )
    parser.add_argument("--json", action="store_true", help="tell it as JSON")
    parser.add_argument("--dry-run", action="store_true", help="show what would go, and change nothing")


def run(options: Namespace) -> int:
    """Uninstall everywhere and delete our data, copies of your files included."""
    changes, problems = _removals()
    plan = f"{diff(changes)}delete {paths.data()} and everything in it\n"
    if options.dry_run:
        code = _machine.report(options, "given back", changes, problems)
        if not options.json:
            print(f"{paths.data()} would be deleted")
        return code
    agreed("purge", plan)
    done, failed = _machine.apply(changes, leaving=True)
    if left := leftovers():
        failed += [("", f"{path} still names us: run hookonce uninstall --scope project there first") for path in left]
    gone = [] if failed or problems else forget_everything()
    code = _machine.report(options, "given back", done, problems + failed)
    if not options.json:
        print(f"{paths.data()} was deleted" if gone else f"{paths.data()} was kept")
    return code


def _removals() -> tuple[list[Change], list[tuple[str, str]]]:
    place, client = here(), str(paths.client())
    changes: dict[str, Change] = {}
    problems: list[tuple[str, str]] = []
    for agent in map(agents.load, agents.AGENTS):
        for scope in config_of(agent).files if agent.config else ():
            try:
                removals = plan_removal(agent, scope, place, client, unwrap=True)
                marks = [forgotten(agent, change, place, client) for change in removals]
                changes |= {str(one.path): one for one in (*removals, *marks) if one is not None}
            except HookonceError as problem:
                problems.append((agent.name, str(problem)))
    return list(changes.values()), problems

"""hookonce init."""

from argparse import ArgumentParser, Namespace

from hookonce.cli import _machine
from hookonce.config import paths
from hookonce.journeys.begin import first_manifest
from hookonce.journeys.places import here


def configure(parser: ArgumentParser) -> None:
    """The options of `init`."""
    parser.epilog = "examples:\n  hookonce init\n  hookonce init --scope user"
    parser.add_argument("--scope", choices=("user", "project"), default="project", help="default: project")
    parser.add_argument("--dry-run", action="store_true", help="show what would be written, and write nothing")
    parser.add_argument("--json", action="store_true", help="tell it as JSON")


def run(options: Namespace) -> int:
    """Write a first manifest, with an example that you can change or delete."""
    user = options.scope == "user"
    folder = paths.configuration() if user else here().project / ".hookonce"
    changes = first_manifest(folder, str(folder / "example.sh") if user else "./.hookonce/example.sh")
    problems: list[tuple[str, str]] = []
    if not options.dry_run:
        changes, problems = _machine.apply(changes, leaving=True)
    code = _machine.report(options, "written", changes, problems)
    if not options.json and not options.dry_run:
        print(f"Next: hookonce check {changes[0].path}; hookonce install lets your agents call it")
    return code

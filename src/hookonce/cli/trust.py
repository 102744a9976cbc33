"""hookonce trust."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookonce.cli._words import counted
from hookonce.cli.consent import agreed
from hookonce.errors import HookonceError
from hookonce.journeys.trusting import Proposal, pin, proposals
from hookonce.manifest.discover import project_of
from hookonce.manifest.trust import revoke
from hookonce.texts import dump


def configure(parser: ArgumentParser) -> None:
    """The options of `trust`."""
    parser.epilog = "examples:\n  hookonce trust --list\n  hookonce trust\n  hookonce trust --revoke"
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help="the project; default: this directory's")
    parser.add_argument("--list", action="store_true", help="show what is there and whether it is trusted")
    parser.add_argument("--revoke", action="store_true", help="trust nothing of this project any more")
    parser.add_argument("--allow-unpinned", action="store_true", help="also trust programs outside the project")
    parser.add_argument("--json", action="store_true", help="with --list: tell it as JSON")


def run(options: Namespace) -> int:
    """Let a project's hooks run as they are now; a changed file is not trusted any more."""
    project = project_of(Path(options.path).absolute())
    if options.revoke:
        agreed("trust --revoke", f"forget all trust in {project}")
        print(f"{counted(revoke(project), 'pin')} of {project} forgotten")
        return 0
    try:
        found = proposals(project)
    except ValueError as problem:
        raise HookonceError(str(problem)) from None
    if not found:
        raise HookonceError(f"{project} has no hooks: neither .hookonce/hooks.json nor .openhook.json is there")
    if options.list:
        return _list(options, found)
    new = [one for one in found if not one.known]
    if not new:
        print("nothing to do: all of it is trusted already")
        return 0
    agreed("trust", "\n".join(one.text for one in new))
    pin(project, new, unpinned=options.allow_unpinned)
    print(f"{counted(len(new), 'file')} trusted")
    return 0


def _list(options: Namespace, found: list[Proposal]) -> int:
    if options.json:
        told = [{"path": str(one.path), "trusted": one.known, "files": one.pin.files} for one in found]
        sys.stdout.buffer.write(dump(told) + b"\n")
        return 0
    for one in found:
        print(f"{'trusted' if one.known else 'not trusted'}: {one.text}")
    return 0

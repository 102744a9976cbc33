"""hookonce trust."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookonce.cli._words import counted
from hookonce.cli.consent import agreed, needs_a_person
from hookonce.errors import HookonceError
from hookonce.journeys.trusting import Proposal, pin, proposals, scanned, unpinned
from hookonce.manifest.discover import project_of
from hookonce.manifest.trust import revoke
from hookonce.texts import dump


def configure(parser: ArgumentParser) -> None:
    """The options of `trust`."""
    parser.epilog = (
        needs_a_person("trust, but for --list,")
        + "\n\nexamples:\n  hookonce trust --list\n  hookonce trust\n  hookonce trust --revoke"
    )
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help="the project; default: this directory's")
    parser.add_argument("--list", action="store_true", help="show what is there and whether it is trusted")
    parser.add_argument("--revoke", action="store_true", help="trust nothing of this project any more")
    parser.add_argument("--allow-unpinned", action="store_true", help="also trust what cannot be pinned by content")
    parser.add_argument("--json", action="store_true", help="with --list: tell it as JSON")


def run(options: Namespace) -> int:
    """Let a project's hooks run as they are now; a changed file is not trusted any more."""
    project = project_of(Path(options.path).absolute())
    if options.revoke:
        agreed("trust --revoke", f"forget all trust in {project}")
        print(f"{counted(revoke(project), 'pin')} of {project} forgotten")
        return 0
    found = proposals(project)
    if not found:
        raise HookonceError(f"{project} has no hooks: neither .hookonce/hooks.json nor .openhook.json is there")
    if options.list:
        return _list(options, found)
    return _trust(project, found, loosely=options.allow_unpinned)


def _trust(project: Path, found: list[Proposal], *, loosely: bool) -> int:
    broken = [one.text for one in found if one.pin is None]
    if broken:
        raise HookonceError("; ".join(broken))
    new = [one for one in found if not one.known]
    if not new:
        print("nothing to do: all of it is trusted already")
        return 0
    loose = unpinned(new)
    if loose and not loosely:
        for one in new:
            print(one.text)
        raise HookonceError(f"{', '.join(loose)} cannot be pinned by content; say --allow-unpinned to trust that too")
    agreed("trust", "\n".join([*(one.text for one in new), *scanned(project, new)]))
    pin(project, new)
    print(f"{counted(len(new), 'file')} trusted")
    return 0


def _list(options: Namespace, found: list[Proposal]) -> int:
    if options.json:
        sys.stdout.buffer.write(dump([_told(one) for one in found]) + b"\n")
        return 0
    for one in found:
        print(f"{'trusted' if one.known else 'not trusted'}: {one.text}")
    return 0


def _told(one: Proposal) -> dict[str, object]:
    told: dict[str, object] = {"path": str(one.path), "trusted": one.known}
    if one.pin is None:
        return told | {"problem": one.text}
    return told | {"digest": one.pin.manifest, "files": one.pin.files, "unpinned": one.pin.loose}

"""hookonce doctor."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli import _machine
from hookonce.cli._words import counted
from hookonce.cli.consent import agreed, confirmed
from hookonce.config import paths
from hookonce.journeys.change import diff
from hookonce.journeys.client import place as place_client
from hookonce.journeys.doctor import Finding, examine, own_house
from hookonce.journeys.places import here
from hookonce.journeys.vouch import vouch
from hookonce.texts import dump

_EXAMPLES = """examples:
  hookonce doctor
  hookonce doctor --repair
  hookonce doctor --vouch 3f1c0a9b2d4e5f60"""


def configure(parser: ArgumentParser) -> None:
    """The options of `doctor`."""
    parser.epilog = _EXAMPLES
    _machine.configure(parser, changes=False)
    parser.add_argument("--repair", action="store_true", help="mend what can be mended, after showing it")
    parser.add_argument("--dry-run", action="store_true", help="with --repair: show it only")
    parser.add_argument(
        "--vouch", nargs="+", metavar="MARK", default=[], help="vouch for hooks by the marks that are shown"
    )


def run(options: Namespace) -> int:
    """Explain what keeps hooks from running, and list hooks that nobody vouches for."""
    if options.vouch:
        agreed("doctor --vouch", "\n".join(options.vouch))
        vouch(options.vouch)
        print(f"{counted(len(options.vouch), 'hook')} vouched for")
        return 0
    place, client = here(), str(paths.client())
    found = list(own_house())
    for agent in _machine.chosen(options, place):
        found += examine(agent, place, client)
    wrong = [one for one in found if one.kind != "unvouched"]
    if options.repair:
        return _repair(options, wrong)
    if options.json:
        sys.stdout.buffer.write(dump({"ok": not wrong, "findings": [_object(one) for one in found]}) + b"\n")
    else:
        _tell(found)
    return 1 if wrong else 0


def _tell(found: list[Finding]) -> None:
    for one in found:
        ending = f" (hookonce doctor --vouch {one.mark})" if one.mark else ""
        print(f"{one.kind}: {one.message}{ending}")
    if any(one.repair or one.kind == "interpreter" for one in found):
        print("Next: hookonce doctor --repair")
    if not found:
        print("nothing is wrong")


def _object(one: Finding) -> dict[str, object]:
    facts = {name: getattr(one, name) for name in ("agent", "kind", "message", "path", "mark")}
    return facts | {"repairable": one.repair is not None or one.kind == "interpreter"}


def _repair(options: Namespace, wrong: list[Finding]) -> int:
    changes = [one.repair for one in wrong if one.repair is not None]
    if not options.dry_run and any(one.kind == "interpreter" for one in wrong):
        place_client()
    if options.dry_run or not changes:
        return _machine.report(options, "mended", changes, [])
    if sys.stdin.isatty() and not options.json:
        sys.stdout.write(diff(changes))
    if not confirmed("Mend this?"):
        print("nothing was changed")
        return 1
    place_client()
    done, failed = _machine.apply(changes)
    return _machine.report(options, "mended", done, failed)

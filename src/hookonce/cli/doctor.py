"""hookonce doctor."""

import os
import sys
from argparse import ArgumentParser, Namespace

from hookonce import agents
from hookonce.cli import _machine, _named
from hookonce.cli._warn import warn
from hookonce.cli._words import counted
from hookonce.cli.consent import agreed, confirmed, needs_a_person
from hookonce.config import paths
from hookonce.errors import HookonceError
from hookonce.journeys import uncounted as _uncounted  # noqa: F401  says where losses are counted
from hookonce.journeys.change import Change, diff
from hookonce.journeys.client import place as place_client
from hookonce.journeys.doctor import Finding, examine
from hookonce.journeys.own import callers, own_hooks, own_house, uncalled
from hookonce.journeys.places import Place, here
from hookonce.journeys.silence import silence
from hookonce.journeys.silence import told as told_silence
from hookonce.journeys.survey import standing
from hookonce.journeys.vouch import vouch
from hookonce.model import Agent
from hookonce.service import calling as service
from hookonce.service.calling import orphaned
from hookonce.store import condition, database
from hookonce.store.aside import damage
from hookonce.store.summary import summary
from hookonce.texts import dump

_EXAMPLES = """examples:
  hookonce doctor
  hookonce doctor --repair
  hookonce doctor --vouch 3f1c0a9b2d4e5f60"""


_HERE = ". Next: hookonce doctor"  # what others say of us
_WAITS = "agents are answered, and what they tell waits in the spool"
_OURS = frozenset({"client", "interpreter", "unanswered"})  # what we put back without asking: our own files


def configure(parser: ArgumentParser) -> None:
    """The options of `doctor`."""
    parser.epilog = _EXAMPLES
    _machine.configure(parser, changes=False)
    parser.add_argument("--repair", action="store_true", help="mend what can be mended, after showing it")
    parser.add_argument("--dry-run", action="store_true", help="with --repair: show it only")
    parser.add_argument(
        "--vouch",
        nargs="+",
        metavar="MARK",
        default=[],
        help=f"vouch for hooks by the marks that are shown. {needs_a_person('--vouch')}",
    )


def run(options: Namespace) -> int:
    """Explain what keeps hooks from running, and list hooks that nobody vouches for."""
    if options.vouch:
        return _vouch(options)
    if options.repair:
        _repair(options)
    found = _findings(options)
    wrong = [one for one in found if one.kind != "unvouched"]
    if options.json:
        sys.stdout.buffer.write(dump({"ok": not wrong, "findings": [_object(one) for one in found]}) + b"\n")
    else:
        _tell(found)
    return 1 if wrong else 0


def _vouch(options: Namespace) -> int:
    """A person has looked at these hooks, as they are now."""
    place, client = here(), str(paths.client())
    seen = [one for agent in _machine.chosen(options, place) for one in examine(agent, place, client) if one.mark]
    known = {one.mark: one.message for one in seen}
    unknown = [mark for mark in options.vouch if mark not in known]
    if unknown:
        raise HookonceError(f"no hook has the mark {unknown[0]}; hookonce doctor lists them")
    agreed("doctor --vouch", "\n".join(known[mark] for mark in options.vouch))
    vouch(options.vouch)
    print(f"{counted(len(options.vouch), 'hook')} vouched for, until the entry or its script changes")
    return 0


def _tell(found: list[Finding]) -> None:
    for one in found:
        ending = f" (hookonce doctor --vouch {one.mark})" if one.mark else ""
        print(f"{one.kind}: {one.message}{ending}")
    if any(one.repair or one.kind in _OURS for one in found):
        print("Next: hookonce doctor --repair")
    if not found:
        print("nothing is wrong")


def _object(one: Finding) -> dict[str, object]:
    facts = {name: getattr(one, name) for name in ("agent", "kind", "message", "path", "mark")}
    return facts | {"repairable": one.repair is not None or one.kind in _OURS}


def _orphan() -> list[Finding]:
    left = orphaned()
    return [] if left is None else [Finding(agent=None, kind="daemon", message=left)]


def _record() -> list[Finding]:
    """What is wrong with what we keep, as far as a glance tells."""
    known, wrong = summary(), damage()
    told = [] if wrong else [known.problem.removesuffix(_HERE)] if known.problem else condition.troubles()
    if wrong is not None:
        told.append(f"{database.file()} is damaged ({wrong}); {_WAITS}. Next: hookonce audit set-aside")
    elif (stuck := ((service.status() or {}).get("store") or {}).get("problem")) is not None:
        told.append(f"the daemon cannot write {database.file()} ({stuck}); {_WAITS}, and it tries again")
    if (shut := condition.unwritable()) is not None:
        told.append(f"{shut}: agents are answered, and what they tell is lost")
    if known.damaged:
        told.append(f"{counted(known.damaged, 'file')} of the spool cannot be read and was put aside")
    if known.lost:
        told.append(f"{counted(known.lost, 'record')} could not be written, and hookonce logs may say why")
    return [Finding(agent=None, kind="record", message=message) for message in told]


def _silent(agent: Agent, place: Place, client: str) -> list[Finding]:
    found = silence(agent, standing(agent, place, client), place, os.environ)
    if found is None:
        return []
    return [Finding(agent=agent.name, kind="silent", message=f"{agent.title}: {told_silence(found)}", path=found.path)]


def _findings(options: Namespace) -> list[Finding]:
    """Of the agents that were named, else of all: a stranger's hooks wait for agents that are not here yet."""
    place, client = here(), str(paths.client())
    calling = callers(place, client)
    found = [*own_house(), *_orphan(), *_record(), *uncalled(place, calling), *own_hooks(place.project, calling)]
    for agent in map(_named.agent, options.names or agents.AGENTS):
        found += [*examine(agent, place, client), *_silent(agent, place, client)]
    return found


def _repair(options: Namespace) -> None:
    """Mend one thing after the other, each as the last one has left the files."""
    done: list[Change] = []
    failed: list[tuple[str, str]] = []
    for _ in range(_MOST):
        wrong = _findings(options)
        change = next((one.repair for one in wrong if one.repair is not None and one.repair not in done), None)
        if change is None or options.dry_run:
            done += [one.repair for one in wrong if one.repair is not None] if options.dry_run else []
            break
        if sys.stdin.isatty() and not options.json:
            sys.stdout.write(diff([change]))
        if not confirmed("Mend this?"):
            break
        place_client(warn)
        made, problems = _machine.apply([change])
        done, failed = done + made, failed + problems
        if problems:
            break
    if not options.dry_run and any(one.kind in _OURS for one in own_house()):
        place_client(warn)
    if not options.json:
        _machine.report(options, "mended", done, failed)


_MOST = 50  # repairs in one go: each is planned anew, so none can go round in circles for ever

"""hookonce status."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import to_builtins

from hookonce import __version__
from hookonce.agents import config_of, load
from hookonce.cli import _machine, daemon
from hookonce.cli._table import show, table
from hookonce.cli._warn import warn
from hookonce.cli._words import counted
from hookonce.config import paths
from hookonce.journeys.doctor import Finding
from hookonce.journeys.folder_trust import distrust
from hookonce.journeys.hindered import Hindered, hindered, states
from hookonce.journeys.looking import take_up
from hookonce.journeys.own import callers, own_hooks, own_settings
from hookonce.journeys.pause import paused_until
from hookonce.journeys.places import Place, here
from hookonce.journeys.silence import Silence, silence
from hookonce.journeys.silence import told as told_silence
from hookonce.journeys.survey import Standing, standing
from hookonce.journeys.unanswered import told as told_unanswered
from hookonce.journeys.unanswered import unanswered
from hookonce.journeys.version import version_of
from hookonce.service import calling
from hookonce.store.alarms import LOOP, VIOLATION, Alarms, alarms
from hookonce.store.condition import unwritable
from hookonce.store.spool import lost
from hookonce.store.summary import Summary, summary
from hookonce.texts import dump

_MEGABYTE = 1 << 20


def configure(parser: ArgumentParser) -> None:
    """The options of `status`."""
    parser.epilog = "examples:\n  hookonce status\n  hookonce status codex --json"
    _machine.configure(parser, changes=False)


def run(options: Namespace) -> int:
    """Show which agents call hookonce, what else they run, and where a killed hook lets things pass."""
    place, client = here(), paths.client()
    known = _machine.chosen(options, place)
    found = [standing(agent, place, str(client)) for agent in known]
    dropped = {agent.name: told for agent in known if (told := distrust(agent, place)) is not None}
    quiet = {
        one.agent: silent
        for agent, one in zip(known, found, strict=True)
        if (silent := silence(agent, one, place, os.environ)) is not None
    }
    held = {one.agent: hindered(agent, one, place, str(client)) for agent, one in zip(known, found, strict=True)}
    with ThreadPoolExecutor() as pool:
        versions = list(pool.map(lambda one: version_of(one.program) if one.program else None, found))
    if options.json:
        _print_json(found, versions, dropped, quiet, held)
        return 0
    if (until := paused_until()) is not None:
        print(f"paused until {until}: no hook is asked before that; hookonce resume ends it")
    made = table("agent", "version", "user", "project", "other hooks", "hook crashes", "hook is late")
    for one, version in zip(found, versions, strict=True):
        known_states = states(one, held[one.agent])
        place_states = (known_states.get("user", "-"), known_states.get("project", "-"))
        made.add_row(one.agent, version or "-", *place_states, str(len(one.foreign)), one.crash, one.late)
    show(made)
    for one in found:
        _details(one, held[one.agent], quiet.get(one.agent))
    for finding in [*own_settings(), *_hooks(place)]:
        print(f"{finding.kind}: {finding.message}")
    take_up(warn)
    running = calling.status()
    if (missed := unanswered()) is not None:
        print(f"{told_unanswered(missed)}. Next: hookonce doctor")
    print(daemon.told(running))
    _tell_record(summary(), ((running or {}).get("store") or {}).get("problem"))
    _tell_alarms(alarms())
    print("open: the action goes on as if there were no hook; closed: it is refused")
    return 0


def _tell_record(known: Summary, stuck: str | None) -> None:
    waits = f", {counted(known.waiting, 'file')} of the spool to be taken up" if known.waiting else ""
    print(known.problem or f"the record: {counted(known.records, 'event')}, {known.size / _MEGABYTE:.1f} MB{waits}")
    if stuck is not None and unwritable() is None:
        print(f"the record cannot be written ({stuck}); what agents tell waits in the spool. Next: hookonce doctor")
    if (shut := unwritable()) is not None:
        print(f"{shut}: agents are answered, and what they tell is lost")
    if known.damaged:
        print(f"{counted(known.damaged, 'file')} of the spool cannot be read and was put aside")
    if known.lost:
        print(f"{counted(known.lost, 'record')} could not be written. Next: hookonce doctor")


def _tell_alarms(found: Alarms) -> None:
    """What somebody should look at, and how."""
    last = found.newest
    if last is None:
        return
    parts = [counted(found.violations, "policy violation")] if found.violations else []
    parts += [f"{found.suspected} of them suspected"] if found.suspected else []
    parts += [counted(found.loops, "retry loop")] if found.loops else []
    print(f"ALARM: {', '.join(parts)} in the last 24 hours, the last one of {last.agent} at {last.time}")
    for kind in (VIOLATION,) * bool(found.violations) + (LOOP,) * bool(found.loops):
        print(f"  hookonce events --type {kind} --since 24h")


def _details(one: Standing, held: list[Hindered], quiet: Silence | None) -> None:
    if quiet is not None:
        print(f"{one.agent}: {told_silence(quiet)}, and hookonce doctor {one.agent} says what keeps them from running")
    for scope in one.scopes:
        if scope.missing:
            print(f"{one.agent}, {scope.scope}: no entry for {', '.join(scope.missing)}; hookonce install adds them")
        if scope.problem:
            print(f"{one.agent}, {scope.scope}: {scope.problem}")
    for loan in one.borrowed:
        print(f"{one.agent} also fires {loan.hooks} hooks of {loan.agent}, from {loan.path}")
    for why in dict.fromkeys(why for part in held for why in part.why):
        print(f"{one.agent}: {why}")
    if one.trust and not held and not _is_reviewed(one) and any(scope.state != "absent" for scope in one.scopes):
        print(f"{one.agent}: {one.trust}")


def _is_reviewed(one: Standing) -> bool:
    """Whether the agent's user has said all that it asks for: nothing is left to do where only their own hooks are."""
    asks = config_of(load(one.agent)).review is not None
    return asks and all(scope.state == "absent" for scope in one.scopes if scope.scope == "project")


def _hooks(place: Place) -> Iterator[Finding]:
    return own_hooks(place.project, callers(place, str(paths.client())))


def _object(one: Finding) -> dict[str, str | None]:
    return {"kind": one.kind, "message": one.message, "path": one.path}


def _print_json(
    found: list[Standing],
    versions: list[str | None],
    dropped: dict[str, str],
    quiet: dict[str, Silence],
    held: dict[str, list[Hindered]],
) -> None:
    client = paths.client()
    listed: list[Any] = [
        to_builtins(one)
        | {"version": version, "no_hooks_because": dropped.get(one.agent)}
        | {"silent": to_builtins(quiet.get(one.agent)), "hindered": to_builtins(held[one.agent])}
        for one, version in zip(found, versions, strict=True)
    ]
    told: dict[str, Any] = {
        "hookonce": __version__,
        "client": {"path": str(client), "there": client.exists()},
        "agents": listed,
    }
    take_up(warn)
    told["paused_until"] = paused_until()
    told["unanswered"] = to_builtins(unanswered())
    told["lost_records"] = lost()
    told["record"] = to_builtins(summary())
    told["alarms"] = to_builtins(alarms())
    told["daemon"] = calling.status()
    told["settings"] = [_object(one) for one in own_settings()]
    told["manifests"] = [_object(one) for one in _hooks(here())]
    sys.stdout.buffer.write(dump(told) + b"\n")

"""capture: scenarios ─ real agent ─ hooks at every event ─ payloads ─ scrub ─ read again ─ goldens with provenance."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hookonce.errors import HookonceError
from hookonce.journeys.places import Place
from hookonce.lab import drivers, found
from hookonce.lab.driver import Driver, Trip
from hookonce.lab.experiments.denied import rule
from hookonce.lab.found import Found
from hookonce.lab.goldens import TOUR, Take, gathered
from hookonce.lab.provenance import Capture
from hookonce.lab.run import summary
from hookonce.lab.scenarios import STEPS
from hookonce.lab.scrub import HOME, PROJECT, Owner, Scrub, owner
from hookonce.lab.stage import Stage

Tell = Callable[[str], None]

ERROR = "error"
USUAL = (TOUR, "pair", ERROR, "long", "refuse-shell")
_REFUSALS = tuple(rule(word) for word in STEPS)
_PACKAGE = Path(__file__).resolve().parents[1]


def needed(name: str, version: str | None = None, *, pinned: bool = False) -> Found:
    """The agent's program, fetched or the user's own; an error that says how to get it if there is none."""
    one = found.find(name, version, pinned=pinned)
    if one is None and version is not None:
        own = found.find(name)
        one = own if own is not None and own.version == version else None
    if one is not None:
        return one
    wanted, more = (f"{name} {version}", f"{name} --version {version}") if version else (name, name)
    raise HookonceError(f"{wanted} is not among the agents that were fetched; hookonce lab fetch {more} gets it")


def capture(one: Found, scenarios: Sequence[str], tell: Tell) -> Capture:
    """Have the agent play these scenarios, and keep what it tells its hooks.

    Without any these are the usual ones, and the trips of its driver, which bring about further events.
    """
    driver, whose = drivers.load(one.agent), owner()
    wanted = {name: _plain(name) for name in scenarios} or _usual(driver)
    takes = []
    with TemporaryDirectory(prefix="hookonce-lab-cache-") as cache:
        stage = Stage(driver, one, Path(cache), "all")
        for number, (name, trip) in enumerate(wanted.items(), 1):
            tell(f"{stage.agent.title} {one.version}: {name}, {number} of {len(wanted)}")
            takes.append(_take(stage, name, trip, Path(cache), whose))
    if not any(take.run.heard for take in takes):
        raise HookonceError(f"{one.agent} {one.version} called no hook at all: {summary(takes[0].run)}")
    return gathered(one, takes)


def _plain(scenario: str) -> Trip:
    """A scenario as it is; where it is about refused calls, they are."""
    return Trip(scenario=scenario, rules=_REFUSALS if scenario.startswith("refuse") else ())


def _usual(driver: Driver) -> dict[str, Trip]:
    """What an agent is put through, by names that tell the scenario: the usual, and its driver's trips.

    An agent that fails may leave before its hooks have heard of it; so that is played again.
    """
    trips = {f"{trip.scenario}/{number}": trip for number, trip in enumerate(driver.trips, 1)}
    further = {name: trip for name, trip in trips.items() if trip not in map(_plain, USUAL)}
    return {name: _plain(name) for name in USUAL} | {f"{ERROR}/again": _plain(ERROR)} | further


def _take(stage: Stage, name: str, trip: Trip, cache: Path, whose: Owner) -> Take:
    places = {str(cache): f"{HOME}/.cache"}

    def look(_home: object, lab: Place) -> None:
        places.update({str(lab.project): PROJECT, str(lab.home): HOME, str(lab.home.parent): f"{HOME}/lab"})

    run = stage.play(trip.scenario, rules=list(trip.rules), hooks=stage.everywhere, amend=look, trip=trip)
    return Take(name, run, Scrub(places | _own_places(whose), whose))


def _own_places(whose: Owner) -> dict[str, str]:
    """What of ours agents see: the package and its Python, and in the user's home whatever else is theirs."""
    known = {str(_PACKAGE): "/opt/hookonce", sys.executable: "/usr/bin/python3"}
    at_home = {str(found.folder()): f"{HOME}/.cache/hookonce/agents", sys.prefix: "/opt/python"}
    return known | {
        path: name for path, name in at_home.items() if any(Path(path).is_relative_to(home) for home in whose.homes)
    }

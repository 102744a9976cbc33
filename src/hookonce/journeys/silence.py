"""silent since: an agent that has an entry of ours and writes its sessions down, and of which we hear nothing."""

import os
import sqlite3
from collections.abc import Mapping
from heapq import heappop, heappush
from pathlib import Path

from msgspec import Struct

from hookonce import times
from hookonce.errors import HookonceError
from hookonce.journeys import ledger
from hookonce.journeys.pause import is_paused
from hookonce.journeys.places import Place
from hookonce.journeys.survey import Standing
from hookonce.model import Agent
from hookonce.store.heard import heard

_CALLS = frozenset({"installed", "partly", "outdated"})
_SLACK = 300  # seconds by which a transcript may be ahead of what we are told
_MOST = 4000  # files and folders that are looked at


class Silence(Struct, frozen=True, kw_only=True):
    """Since when nothing is heard of an agent: its last call, or the installation; and the file that grew since."""

    agent: str
    since: str
    grew: str
    path: str


def silence(agent: Agent, one: Standing, place: Place, environment: Mapping[str, str]) -> Silence | None:
    """Whether an agent works without a word to us; only of one that would have to say everything, in all projects."""
    scope = next((scope for scope in one.scopes if scope.scope == "user" and scope.state in _CALLS), None)
    if agent.transcripts is None or scope is None or is_paused():
        return None
    usual, ends, moved = agent.transcripts
    newest = _newest(_folder(place.home / usual, moved, environment), ends)
    if newest is None:
        return None
    try:
        last = max(_installed(Path(scope.path)), heard(agent.name) or 0.0)
    except (sqlite3.Error, OSError, HookonceError):
        return None  # the record cannot be read, and that is told where it is told of
    moment, path = newest
    if moment - last <= _SLACK:
        return None
    return Silence(agent=agent.name, since=_text(last), grew=_text(moment), path=path)


def told(one: Silence) -> str:
    """What to say of it, and what to do."""
    said = f"silent since {one.since}: it works ({one.path} has grown at {one.grew}), and no event comes from it"
    return f"{said}; hookonce prove {one.agent} --only here tries its hooks"


def _folder(usual: Path, moved: Mapping[str, str], environment: Mapping[str, str]) -> Path:
    """Where they lie, also if somebody has moved the agent's home."""
    named = (Path(environment[name], inside) for name, inside in moved.items() if environment.get(name))
    return next(named, usual)


def _installed(path: Path) -> float:
    """When our entries were written; where nobody has noted that, when their file was."""
    noted = times.seconds(ledger.since(path) or "")
    return path.stat().st_mtime if noted is None else noted


def _newest(folder: Path, ends: str) -> tuple[float, str] | None:
    """The file that was written last, those in folders that were changed last first, and not all of very many."""
    found: tuple[float, str] | None = None
    left, todo = _MOST, [(0.0, str(folder))]
    while todo and left > 0:
        for entry in _inside(heappop(todo)[1])[:left]:
            left -= 1
            try:
                changed = entry.stat(follow_symlinks=False).st_mtime
                if entry.is_dir(follow_symlinks=False):
                    heappush(todo, (-changed, entry.path))
                elif entry.name.endswith(ends) and (found is None or changed > found[0]):
                    found = changed, entry.path
            except OSError:
                continue  # just taken away
    return found


def _inside(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _text(moment: float) -> str:
    return times.from_seconds(moment) or times.EPOCH

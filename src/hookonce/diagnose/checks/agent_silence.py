"""Check for silent agents: our entry is there, the transcripts grow, and no event comes."""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from heapq import heappop, heappush
from pathlib import Path

from msgspec import Struct

from hookonce.base import times
from hookonce.configure import journal
from hookonce.configure.locations import ConfigRoots
from hookonce.configure.status import CALLING_STATES, InstallStatus, install_status
from hookonce.diagnose.diagnosis import Diagnosis
from hookonce.dispatch.pause import is_paused
from hookonce.errors import HookonceError
from hookonce.model import Agent
from hookonce.store.spool.overlay import last_call_time

_SLACK_S = 300  # by which a transcript may be ahead of the events
_MAX_ENTRIES = 4000  # files and folders


class AgentSilence(Struct, frozen=True, kw_only=True):
    """Since when nothing comes from an agent: its last call, or the installation; and the file that grew since."""

    agent: str
    since: str
    grew: str
    path: str


def detect_silence(
    agent: Agent, status: InstallStatus, roots: ConfigRoots, environment: Mapping[str, str]
) -> AgentSilence | None:
    """Whether an agent works without calling us; only of one that would have to report everything, in all projects."""
    scope = next((scope for scope in status.scopes if scope.scope == "user" and scope.state in CALLING_STATES), None)
    if agent.transcripts is None or scope is None or is_paused():
        return None
    default_folder, suffix, variables = agent.transcripts
    folders = (Path(environment[name], inside) for name, inside in variables.items() if environment.get(name))
    newest = _newest_file(next(folders, roots.home / default_folder), suffix)
    if newest is None:
        return None
    try:
        path = Path(scope.path)
        journal_time = times.to_seconds(journal.first_written_at(path) or "")
        install_time = path.stat().st_mtime if journal_time is None else journal_time
        last = max(install_time, last_call_time(agent.name) or 0.0)
    except (sqlite3.Error, OSError, HookonceError):
        return None  # the check of the record reports a store that cannot be read
    moment, transcript = newest
    if moment - last <= _SLACK_S:
        return None
    return AgentSilence(agent=agent.name, since=_time_text(last), grew=_time_text(moment), path=transcript)


def describe_silence(silence: AgentSilence) -> str:
    """What to say of it, and what to do."""
    growth = f"it is working ({silence.path} grew at {silence.grew}), but sends no events"
    return f"silent since {silence.since}: {growth}; hookonce prove {silence.agent} --only here tests its hooks"


def check_silence(agent: Agent, roots: ConfigRoots, client: str) -> Iterator[Diagnosis]:
    """The diagnosis of an agent that works without calling us."""
    silence = detect_silence(agent, install_status(agent, roots, client), roots, os.environ)
    if silence is not None:
        message = f"{agent.title}: {describe_silence(silence)}"
        yield Diagnosis(agent=agent.name, kind="silent", message=message, path=silence.path)


def _newest_file(folder: Path, suffix: str) -> tuple[float, str] | None:
    """Folders that were changed last come first; of very many entries not all are looked at."""
    newest: tuple[float, str] | None = None
    remaining, queue = _MAX_ENTRIES, [(0.0, str(folder))]
    while queue and remaining > 0:
        entries: list[os.DirEntry[str]] = []
        with suppress(OSError), os.scandir(heappop(queue)[1]) as iterator:
            entries = list(iterator)
        for entry in entries[:remaining]:
            remaining -= 1
            with suppress(OSError):  # just taken away
                modified_at = entry.stat(follow_symlinks=False).st_mtime
                if entry.is_dir(follow_symlinks=False):
                    heappush(queue, (-modified_at, entry.path))
                elif entry.name.endswith(suffix) and (newest is None or modified_at > newest[0]):
                    newest = modified_at, entry.path
    return newest


def _time_text(moment: float) -> str:
    return times.from_seconds(moment) or times.EPOCH_TEXT

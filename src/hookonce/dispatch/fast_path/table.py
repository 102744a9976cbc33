"""Fast-path table: the agents and events without hooks, built beforehand for `lookup.py`."""

import marshal
from pathlib import Path
from typing import Any

from hookonce import agents
from hookonce.agents import canonical_event_of, config_events, point_of
from hookonce.base import build_id, paths, settings
from hookonce.base.files import read_file, replace_file
from hookonce.base.jsontext import dump
from hookonce.dispatch import pause
from hookonce.dispatch.fast_path import lookup, manifest_stamps
from hookonce.dispatch.select import find_candidates
from hookonce.manifest.discover import find_lost_source
from hookonce.model import SCHEMA, Agent, Event, Object, Stored
from hookonce.sessions.stored_records import PLACEHOLDER_GAP
from hookonce.trust.pin_store import PinsUnreadable, load_guards
from hookonce.vocabulary.names import AGENT_ALIASES

# Which of these an event is, only its payload tells.
_AMBIGUOUS_EVENTS = (
    frozenset({"after_tool_execute", "tool_use_failure", "tool_batch"}),
    frozenset({"file_created", "file_saved", "file_deleted", "file_changed"}),
)


def table_file() -> Path:
    """The table's file, beside the client."""
    return paths.client_path().with_name(lookup.TABLE_FILE)


def refresh_table() -> None:
    """Rewrite the table if its sources have changed; only where a client is installed."""
    files = _source_files()
    stamps = lookup.stamp_files(files)
    if pause.is_paused() or not manifest_stamps.is_settled(stamps) or not paths.client_path().exists():
        return
    fail_mode_stamp = lookup.stamp_file(str(paths.client_path().with_name(lookup.FAIL_MODE_FILE)))
    build = build_id.running_build_id().encode()
    state: Object = {"build": build, "files": files, "stamps": stamps, "fail_mode": fail_mode_stamp}
    if _last_state == [state, lookup.stamp_file(str(table_file()))]:
        return
    if {name: _load_table().get(name) for name in state} != state:
        replace_file(table_file(), marshal.dumps(state | _build_table()), mode=0o600)
    _last_state[:] = [state, lookup.stamp_file(str(table_file()))]


_last_state: list[Any] = []  # of what the table was made, and the file itself, when we last looked


class TableCache:
    """The table of a daemon, in memory."""

    def __init__(self) -> None:
        self._table: Object = {}
        self._stamps: manifest_stamps.Stamps | None = None

    def current_table(self, stamps: manifest_stamps.Stamps) -> Object:
        """The table of files with these stamps; an empty one while they are changing."""
        if self._stamps != stamps:
            self._table, self._stamps = {}, None
            if manifest_stamps.is_settled(stamps):
                self._table, self._stamps = _build_table(), stamps
        return self._table


def _load_table() -> Object:
    try:
        table = marshal.loads(read_file(table_file()) or b"")  # noqa: S302  our own file, in our own folder
    except (ValueError, EOFError, TypeError):
        return {}
    return table if type(table) is dict else {}


def _source_files() -> list[tuple[str, list[str]]]:
    manifest_files = manifest_stamps.candidate_files(paths.config_dir(), settings.SYSTEM)
    return [*manifest_files, (str(paths.data_dir()), [str(paths.pause_path()), str(paths.pins_path())])]


def _build_table() -> Object:
    candidates = list(find_candidates(None))
    hook_events = {candidate.hook.event for candidate in candidates if candidate.hook is not None}
    hook_events |= {event_type for group in _AMBIGUOUS_EVENTS if group & hook_events for event_type in group}
    if candidates or find_lost_source() is not None:
        hook_events.add("session_start")  # its user may have to be told that a hook does not run
    if hook_events & _stop_event_types():
        hook_events.add("before_prompt")  # it ends the count of refused stops, and the next stop may come at once
    is_readable = not any(
        candidate.obstacle == "manifest" for candidate in candidates
    )  # hooks that cannot be read now may be about anything
    try:
        guards = load_guards()
    except PinsUnreadable:  # on the long way it is told why
        guards, is_readable = [], False
    return {
        "data": str(paths.data_dir()),
        "nobody": not candidates,
        "record": _record_template(),
        "settles": settings.load().durability == "full",
        "agents": _agent_rows(hook_events) if is_readable else {},
        "guards": frozenset(
            place for guard in guards for place in (*guard.folders, *(identity[:2] for identity in guard.identities))
        ),
    }


def _stop_event_types() -> set[str]:
    all_agents = agents.load_all()
    return {
        canonical_event_of(agent, native)
        for agent in all_agents
        for native in config_events(agent)
        if "retry" in point_of(agent, native).capabilities
    }


def _record_template() -> str:
    """Template of the first spool line, with placeholders; "" if nothing is recorded."""
    if not settings.load().record:
        return ""
    now: Object = {"time": "(time)", "time_source": "received", "received": "(time)"}
    event = Event(id="(id)", schema=SCHEMA, type="(type)", agent="(agent)", **now)
    return dump(Stored(event=event, gaps=[PLACEHOLDER_GAP], level="minimal")).decode()


def _agent_rows(hook_events: set[str]) -> Object:
    all_agents = agents.load_all()
    table: Object = {}
    for agent in all_agents:
        if agent.unwrap is not None:
            continue  # what its payload says stands where only its own file finds it
        rows = {
            native: _build_row(agent, native, all_agents)
            for native in config_events(agent)
            if not _event_types(native, all_agents) & hook_events
        }
        names = [agent.name, *(alias for alias, name in AGENT_ALIASES.items() if name == agent.name)]
        table |= dict.fromkeys(names, rows)
    return table


def _event_types(native: str, all_agents: list[Agent]) -> set[str]:
    """Event types of a native name, whichever agent it may come from."""
    return {canonical_event_of(agent, native) for agent in all_agents if native in config_events(agent)}


def _build_row(agent: Agent, native: str, all_agents: list[Agent]) -> Object:
    silence = agent.config.silence
    return {
        "agent": agent.name,
        "type": canonical_event_of(agent, native),
        "silence": f"{silence}\n".encode() if silence else b"",
        "strangers": [
            frozenset(keys) for other in all_agents if other.config.silence != silence for keys in other.signature_keys
        ],
    }

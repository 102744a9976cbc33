"""The table of calls that concern nobody, made beforehand for a process that has no time to find out (light.py)."""

import marshal
from pathlib import Path
from typing import Any

from hookonce import agents, light
from hookonce.agents import config_of, kind_of, natives, point_of
from hookonce.canon.names import AGENT_ALIASES
from hookonce.config import build, paths, settings
from hookonce.edit.file import read_file, replace_file
from hookonce.journeys import pause
from hookonce.journeys.chosen import standing
from hookonce.manifest import watched
from hookonce.model import SCHEMA, Agent, Event, Gap, Object, Stored
from hookonce.texts import dump

# Which of these an event is, only its payload tells.
_ALIKE = (
    frozenset({"after_tool_execute", "tool_use_failure", "tool_batch"}),
    frozenset({"file_created", "file_saved", "file_deleted", "file_changed"}),
)


def file() -> Path:
    """Where the table lies: beside the client."""
    return paths.client().with_name(light.TABLE)


def refresh() -> None:
    """Make it anew if something has changed of which it was made; for a client that is there."""
    files = _files()
    stamps = light.stamps(files)
    if pause.is_paused() or not watched.is_settled(stamps) or not paths.client().exists():
        return
    wanted = {"build": build.build().encode(), "files": files, "stamps": stamps}
    if _seen == [wanted, light.stamp(str(file()))]:
        return
    if {name: _known().get(name) for name in wanted} != wanted:
        replace_file(file(), marshal.dumps(wanted | _table()), mode=0o600)
    _seen[:] = [wanted, light.stamp(str(file()))]


_seen: list[Any] = []  # of what the table was made, and the file itself, when we last looked


def current() -> Object:
    """The table as it would be now, for a process that lives on; an empty one while its files are changing."""
    stamps = [*watched.stamps(None), light.stamp(str(paths.paused()))]
    if stamps[-1] is not None and pause.is_paused():
        return {}
    if _kept.get("stamps") != stamps:
        _kept.clear()
        if watched.is_settled(stamps):
            _kept.update(_table(), stamps=stamps)
    return _kept


_kept: Object = {}


def _known() -> Object:
    try:
        found = marshal.loads(read_file(file()) or b"")  # noqa: S302  our own file, in our own folder
    except (ValueError, EOFError, TypeError):
        return {}
    return found if type(found) is dict else {}


def _files() -> list[tuple[str, list[str]]]:
    kept = watched.files(None, paths.configuration(), settings.SYSTEM)
    return [*kept, (str(paths.data()), [str(paths.paused())])]


def _table() -> Object:
    found = list(standing(None))
    hooked = {one.hook.event for one in found if one.hook is not None}
    hooked |= {kind for alike in _ALIKE if alike & hooked for kind in alike}
    if hooked & _stops():
        hooked.add("before_prompt")  # it ends the count of refused stops, and the next stop may come at once
    clear = not any(one.lacks == "sense" for one in found)  # hooks that cannot be read now may be about anything
    return {
        "home": b"\0HOME=" + bytes(paths.home()) + b"\0",
        "data": str(paths.data()),
        "nobody": not found,
        "record": _record(),
        "settles": settings.durability() == "full",
        "agents": _agents(hooked) if clear else {},
    }


def _stops() -> set[str]:
    """What an agent is that may be kept from stopping, whoever it may be."""
    known = [agents.load(name) for name in agents.AGENTS]
    return {kind_of(one, native) for one in known for native in natives(one) if "retry" in point_of(one, native).can}


def _record() -> str:
    """All that is known of such a call before it is looked at, with places for what each has of its own.

    Nothing if nothing is recorded.
    """
    if not settings.records():
        return ""
    gap = Gap(where="$.event", capability="record", strategy="later", effect="observes")
    event = Event(
        id="(id)",
        schema=SCHEMA,
        type="(type)",
        agent="(agent)",
        time="(time)",
        time_source="received",
        received="(time)",
    )
    return dump(Stored(event=event, gaps=[gap], level="minimal")).decode()


def _agents(hooked: set[str]) -> Object:
    known = [agents.load(name) for name in agents.AGENTS]
    found: Object = {}
    for agent in known:
        if agent.unwrap is not None:
            continue  # what its payload says stands where only its own file finds it
        rows = {native: _row(agent, native, known) for native in natives(agent) if not _kinds(native, known) & hooked}
        names = [agent.name, *(alias for alias, name in AGENT_ALIASES.items() if name == agent.name)]
        found |= dict.fromkeys(names, rows)
    return found


def _kinds(native: str, known: list[Agent]) -> set[str]:
    """What an event of that name is, whoever it may come from."""
    return {kind_of(agent, native) for agent in known if native in natives(agent)}


def _row(agent: Agent, native: str, known: list[Agent]) -> Object:
    silence = config_of(agent).silence
    return {
        "agent": agent.name,
        "type": kind_of(agent, native),
        "silence": f"{silence}\n".encode() if silence else b"",
        "strangers": [
            sorted(keys) for other in known if config_of(other).silence != silence for keys in other.telltales
        ],
    }

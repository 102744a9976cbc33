"""Consent of a person: a terminal, a typed digest, and no coding agent among our ancestors.

What only a person may do (trust, uninstall, pause, …) is confirmed here and nowhere else.
Each use is logged and recorded as an event.
"""

import os
import sys
from pathlib import Path, PurePath
from typing import Any

from hookonce import agents
from hookonce.base import ids, settings
from hookonce.base.process_info import iter_ancestors
from hookonce.base.terminal_text import escape_unprintable
from hookonce.base.times import now
from hookonce.cli.consent_table import NEEDS_PERSON
from hookonce.configure.changes import confirmation_code
from hookonce.configure.locations import require_home
from hookonce.errors import HookonceError
from hookonce.model import SCHEMA, Actor, Event, Object, Record
from hookonce.secrets import log
from hookonce.sessions.stored_records import redact_record
from hookonce.store.spool import files

_MAX_COMMAND_WORDS = 6  # of a command line, in which a program or the script that it runs is named
_SCRIPT_SUFFIXES = (".js", ".mjs", ".cjs", ".py")


class NotAPerson(HookonceError):
    """Somebody asked for what only a person at a terminal may do."""


def require_consent(verb: str, text: str, **fields: Any) -> None:
    """Show what will happen and require the first characters of its digest; raise NotAPerson otherwise.

    The verb is one of the consent table; the record of it has these fields of an event.
    """
    require_home()
    hint = f"It {NEEDS_PERSON[verb]}. Next: run it yourself, in a terminal that was not opened by an agent"
    if settings.consent() == "unattended":
        _record_consent(verb, text, "unattended", **fields)
        return
    parent_agent = find_parent_agent()
    if parent_agent is not None:
        raise NotAPerson(f"hookonce {verb} needs a person, and here {parent_agent}. {hint}")
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        raise NotAPerson(f"hookonce {verb} needs a person at a terminal, and this is not a terminal. {hint}") from None
    with os.fdopen(terminal, "r+b", buffering=0) as screen:
        visible_text = "\n".join(map(escape_unprintable, text.split("\n")))
        screen.write(f"{visible_text}\nTo go on with {verb}, type {confirmation_code(text)}: ".encode())
        typed_code = screen.readline(64).decode(errors="replace").strip()
    if typed_code != confirmation_code(text):
        raise NotAPerson("the code does not match; nothing was changed")
    _record_consent(verb, text, "typed", **fields)


def confirm(question: str) -> bool:
    """Ask yes or no on a terminal; without one the command line itself is the yes."""
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        return True
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}


def find_parent_agent() -> str | None:
    """Find a coding agent above us, by environment markers or by the names of ancestor processes."""
    all_agents = agents.load_all()
    marks = {name: agent.title for agent in all_agents for name in agent.env_markers}
    names = {name: agent.title for agent in all_agents for name in agent.config.programs}
    own_marker = next((mark for mark in marks if mark in os.environ), None)
    if own_marker is not None:
        return f"{marks[own_marker]} has set {own_marker} in the environment"
    for pid in filter(lambda pid: pid > 1, iter_ancestors(os.getpid())):
        starter = next((name for name in _process_names(pid) if name in names), None)
        if starter is not None:
            return f"it was started by {names[starter]} ({starter})"
        variables = [os.fsdecode(line.partition(b"=")[0]) for line in _read_proc(pid, "environ").split(b"\0")]
        mark = next((mark for mark in variables if mark in marks), None)  # a child may have dropped it
        if mark is not None:
            return f"{marks[mark]} has set {mark} in the environment of a parent process"
    return None


def _process_names(pid: int) -> list[str]:
    """The names that a process goes by: its own, and those of the package and the script that it runs."""
    names = [_read_proc(pid, "comm").decode(errors="replace").strip()]
    for word in _read_proc(pid, "cmdline").split(b"\0")[:_MAX_COMMAND_WORDS]:
        path = PurePath(os.fsdecode(word))
        names.append(path.stem if path.suffix in _SCRIPT_SUFFIXES else path.name)
        if "node_modules" in path.parts:
            names += path.parts[path.parts.index("node_modules") :]
    return names


def _read_proc(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _record_consent(verb: str, text: str, method: str, **fields: Any) -> None:
    log.write(f"consent {method} {verb} {confirmation_code(text)}")
    record_action(verb, method, **fields)


def record_action(verb: str, source: str, *, data: Object | None = None, **fields: Any) -> None:
    """Record that a command was used which changes what is in force, and how it came to that."""
    event = Event(
        id=fields.pop("id", None) or ids.new_id(),
        schema=SCHEMA,
        type=f"vendor.hookonce.{verb.split(maxsplit=1)[0]}",
        agent="hookonce",
        time=now(),
        time_source="received",
        actor=Actor(type="user"),
        data={"source": source, "op": verb.replace(" ", "_")} | (data or {}),  # a name has no blanks
        **fields,
    )
    if settings.load().record:
        files.append(redact_record(Record(event=event)))

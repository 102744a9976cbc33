"""Consent of a person: a terminal, a typed digest, and no agent in between.

What only a person may do (trust, uninstall, pause, …) is asked here and nowhere else; journeys are handed the answer.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path, PurePath

from hookonce import agents, ids
from hookonce.config import settings
from hookonce.errors import HookonceError
from hookonce.journeys.change import digest
from hookonce.journeys.stored import stored
from hookonce.journeys.visible import visible
from hookonce.model import SCHEMA, Actor, Event, Record
from hookonce.store import log, spool
from hookonce.times import now

_WORDS = 6  # of a command line, in which a program or the script that it runs is named
_SCRIPTS = (".js", ".mjs", ".cjs", ".py")


def needs_a_person(what: str) -> str:
    """What `--help` says of a verb that is for people."""
    return f"{what} needs a person at a terminal, who types a code that is shown there."


class NotAPerson(HookonceError):
    """Somebody asked for what only a person at a terminal may do."""


def agreed(verb: str, text: str) -> None:
    """Show what will happen and take the first characters of its digest as a yes; anything else ends here."""
    if settings.consent() == "unattended":
        _remember(verb, text, "unattended")
        return
    agent = agent_above()
    if agent is not None:
        raise NotAPerson(f"hookonce {verb} is for a person; {agent}")
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        raise NotAPerson(f"hookonce {verb} needs a person at a terminal; there is none here") from None
    with os.fdopen(terminal, "r+b", buffering=0) as screen:
        shown = "\n".join(map(visible, text.split("\n")))
        screen.write(f"{shown}\nTo go on with {verb}, type {digest(text)}: ".encode())
        typed = screen.readline(64).decode(errors="replace").strip()
    if typed != digest(text):
        raise NotAPerson("that was not it; nothing was changed")
    _remember(verb, text, "typed")


def confirmed(question: str) -> bool:
    """A plain yes or no, on a terminal; without one the command line itself was the yes."""
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        return True
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}


def agent_above() -> str | None:
    """Which agent is between us and a person, by its mark in an environment or its name among our ancestors."""
    known = [agents.load(name) for name in agents.AGENTS]
    marks = {name: agent.title for agent in known for name in agent.marks}
    names = {name: agent.title for agent in known if agent.config for name in agent.config.programs}
    here = next((mark for mark in marks if mark in os.environ), None)
    if here is not None:
        return f"{marks[here]} has left its mark {here} in the environment"
    for pid in _ancestors():
        starter = next((name for name in _called(pid) if name in names), None)
        if starter is not None:
            return f"it was started by {names[starter]} ({starter})"
        mark = next((mark for mark in _environment(pid) if mark in marks), None)
        if mark is not None:
            return f"{marks[mark]} has left its mark {mark} with a process above"
    return None


def _ancestors() -> Iterator[int]:
    """The processes that we come from; where the system does not tell, none."""
    pid = os.getppid()
    while pid > 1:
        yield pid
        stat = _read(pid, "stat").decode(errors="replace").rpartition(")")[2].split()
        pid = int(stat[1]) if len(stat) > 1 else 0


def _called(pid: int) -> list[str]:
    """The names that a process goes by: its own, and those of the package and the script that it runs."""
    found = [_read(pid, "comm").decode(errors="replace").strip()]
    for word in _read(pid, "cmdline").split(b"\0")[:_WORDS]:
        path = PurePath(os.fsdecode(word))
        found.append(path.stem if path.suffix in _SCRIPTS else path.name)
        if "node_modules" in path.parts:
            found += path.parts[path.parts.index("node_modules") :]
    return found


def _environment(pid: int) -> list[str]:
    """The variables with which a process was started: a child may have dropped them."""
    return [os.fsdecode(line.partition(b"=")[0]) for line in _read(pid, "environ").split(b"\0")]


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _remember(verb: str, text: str, how: str) -> None:
    """Each use of consent is itself an event, and a line in the log."""
    log.write(f"consent {how} {verb} {digest(text)}")
    event = Event(
        id=ids.fresh(),
        schema=SCHEMA,
        type=f"vendor.hookonce.{verb.split(maxsplit=1)[0]}",
        agent="hookonce",
        time=now(),
        time_source="received",
        actor=Actor(type="user"),
        data={"source": how, "op": verb.replace(" ", "_")},  # a name has no blanks
    )
    if settings.records():
        spool.append(stored(Record(event=event)))

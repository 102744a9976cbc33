"""Consent of a person: a terminal, a typed digest, and no agent in between.

What only a person may do (uninstall, restore, purge, …) is asked here and nowhere else; journeys are handed the answer.
"""

import os
import sys
from pathlib import Path

from hookonce import agents
from hookonce.config import settings
from hookonce.config.paths import log
from hookonce.errors import HookonceError
from hookonce.journeys.change import digest
from hookonce.times import now


class NotAPerson(HookonceError):
    """Somebody asked for what only a person at a terminal may do."""


def agreed(verb: str, text: str) -> None:
    """Show what will happen and take the first characters of its digest as a yes; anything else ends here."""
    if settings.consent() == "unattended":
        _remember(verb, text, "unattended")
        return
    _no_agent(verb)
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        raise NotAPerson(f"hookonce {verb} needs a person at a terminal; there is none here") from None
    with os.fdopen(terminal, "r+b", buffering=0) as screen:
        screen.write(f"{text}\nTo go on with {verb}, type {digest(text)}: ".encode())
        typed = screen.readline(64).decode(errors="replace").strip()
    if typed != digest(text):
        raise NotAPerson("that was not it; nothing was changed")
    _remember(verb, text, "typed")


def confirmed(question: str) -> bool:
    """A plain yes or no, on a terminal; without one the command line itself was the yes."""
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        return True
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}


def _no_agent(verb: str) -> None:
    known = [agents.load(name) for name in agents.AGENTS]
    for agent in known:
        if any(name in os.environ for name in agent.marks):
            raise NotAPerson(f"hookonce {verb} is for a person; {agent.title} has left its mark in the environment")
    names = {name: agent for agent in known if agent.config for name in agent.config.programs}
    starter = next((names[process] for process in _ancestors() if process in names), None)
    if starter is not None:
        raise NotAPerson(f"hookonce {verb} is for a person; it was started by {starter.title}")


def _ancestors() -> list[str]:
    """The names of the processes that we come from; where the system does not tell, none."""
    found, pid = [], os.getppid()
    while pid > 1:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            break
        found += [Path(os.fsdecode(word)).name for word in words[:2] if word]
        pid = int(stat.rpartition(")")[2].split()[1])
    return found


def _remember(verb: str, text: str, how: str) -> None:
    """Each use of consent is itself written down."""
    log().parent.mkdir(parents=True, exist_ok=True)
    with log().open("a", encoding="utf-8") as file:
        file.write(f"{now()} consent {how} {verb} {digest(text)}\n")

"""What is to be done so that a hook is asked, by the type of its handler, and how its answer is understood."""

import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from sys import platform as system
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import encode

from hookonce.errors import HookonceError
from hookonce.handlers.errand import Ran
from hookonce.handlers.judged import Judged
from hookonce.handlers.process import Job, World
from hookonce.invocation import CANONICAL
from hookonce.journeys.chosen import Chosen
from hookonce.journeys.dialect import given, heard, is_agents
from hookonce.model import Event, Gap

if TYPE_CHECKING:
    from hookonce.handlers.http import Post
    from hookonce.handlers.module import Invocation

LED = frozenset({"prompt", "agent"})  # types of handlers that ask a language model
_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
_SCRIPT = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)+(?=\s|$)")  # a path from where the hook lies, and no shell's business


class Plan(Struct, frozen=True, kw_only=True):
    """An errand whose time is still to be said, how its ending is understood, and what was made up for it."""

    errand: "Job | Post | Invocation"
    hear: Callable[[Ran], Judged]
    gaps: list[Gap]
    codes_told: bool = False


def plan(chosen: Chosen, event: Event, world: World) -> Plan:
    """What a hook does about an event; an error if that cannot be done."""
    hook, dialect = chosen.hook, chosen.hook.dialect or CANONICAL
    stdin, gaps = given(dialect, event, hook)
    if hook.handler.type == "module":
        return _telling_a_module(chosen, event, world)
    if hook.handler.type in LED:
        return _asking_a_model(chosen, stdin, gaps, world)
    return Plan(
        errand=_errand(chosen, dialect, stdin, world),
        hear=lambda ran: Judged(ran=ran, decision=heard(dialect, event, ran)),
        gaps=gaps,
        codes_told=is_agents(dialect),
    )


def _errand(chosen: Chosen, dialect: str, stdin: bytes, world: World) -> "Job | Post | Invocation":
    handler = chosen.hook.handler
    if handler.type == "command":
        return Job(command_of(chosen), stdin, world, 0.0)
    if handler.type == "function":
        from hookonce.handlers.function import call, function_of  # most calls do without it

        return call(function_of(handler, chosen.folder), stdin, world)
    if handler.type != "http":
        raise HookonceError(f"handlers of type {handler.type} cannot be run")
    from hookonce.handlers.http import post_of  # most calls do without it

    return post_of(handler, stdin, world.env, is_heard=dialect == CANONICAL or is_agents(dialect))


def _telling_a_module(chosen: Chosen, event: Event, world: World) -> Plan:
    from hookonce.journeys.module_hook import errand_of, understood  # most calls do without it

    def hear(ran: Ran) -> Judged:
        ran = understood(ran)
        return Judged(ran=ran, decision=heard(CANONICAL, event, ran))

    return Plan(errand=errand_of(chosen, event, dict(world.env)), hear=hear, gaps=[])


def _asking_a_model(chosen: Chosen, stdin: bytes, gaps: list[Gap], world: World) -> Plan:
    from hookonce.handlers import agent, prompt  # most calls do without them

    handler = chosen.hook.handler
    ask = agent.asking if handler.type == "agent" else prompt.asking
    asking = ask(handler, stdin, world)
    return Plan(errand=asking.errand, hear=lambda ran: prompt.heard(asking, ran), gaps=gaps + asking.gaps)


def command_of(chosen: Chosen) -> str:
    """The command line of a hook on this system; a script is looked for where the hook lies, not where the agent is.

    Of a hook that is no command, what it does, in one line.
    """
    handler = chosen.hook.handler
    if handler.type == "http":
        return f"{handler.method or 'POST'} {handler.url}"
    if handler.type in LED:
        return f"{handler.type}: {handler.prompt}"
    if handler.type == "module":
        return f"module {handler.file}"
    if handler.type == "function":
        from hookonce.handlers.function import function_of  # as above

        return function_of(handler, chosen.folder).command
    command = handler.platform.get(_SYSTEMS.get(system, "")) or handler.command or ""
    script = _SCRIPT.match(command)
    return shlex.quote(str(Path(chosen.folder, script[0]))) + command[script.end() :] if script else command


def known_by(chosen: Chosen) -> bytes:
    """That of which a run keeps the digest: the command, or everything that a handler without one says."""
    handler = chosen.hook.handler
    with suppress(HookonceError):  # a file that cannot be read has no digest
        if handler.type not in {"http", *LED}:
            return command_of(chosen).encode(errors="replace")
    return encode(handler)

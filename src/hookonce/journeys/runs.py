"""Running the hooks of a call, one after the other, each seeing the input as those before it have left it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from sys import platform as system
from time import time

from msgspec import Struct
from msgspec.structs import replace

from hookonce import times
from hookonce.handlers.detached import detach
from hookonce.handlers.process import Ran, World, run
from hookonce.handlers.verdict import verdict
from hookonce.handlers.watchdog import Watchdog
from hookonce.journeys.budget import share
from hookonce.journeys.chosen import Chosen
from hookonce.journeys.dialect import CANONICAL, given, heard, is_agents
from hookonce.model import Decision, Event, Gap, HookRun
from hookonce.runtime import depth as depths

_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}


class Told(Struct, frozen=True, kw_only=True):
    """What one hook has said, and how its run went."""

    decision: Decision
    run: HookRun
    gaps: list[Gap]


def run_hooks(
    hooks: list[Chosen], event: Event, environment: Mapping[str, str], *, umask: int, deadline: float, depth: int
) -> list[Told]:
    """Ask them in order; a deny of one does not keep the others from being asked."""
    told: list[Told] = []
    if not hooks:
        return told
    with _marked(depth) as mark, _watched() as watchdog:
        for chosen in hooks:
            world = _world(chosen, event, environment, umask, mark, depth)
            one = _ask(chosen, event, world, max(deadline - time(), 0), watchdog)
            told.append(one)
            event = _seen(event, one.decision)
    return told


def _seen(event: Event, decision: Decision) -> Event:
    """The event as the next hook sees it."""
    new = decision.updated_input
    if new is None or decision.outcome == "deny":
        return event
    if event.tool is not None:
        return replace(event, tool=replace(event.tool, input=new))
    return replace(event, prompt=new["prompt"]) if type(new.get("prompt")) is str else event


@contextmanager
def _marked(depth: int) -> Iterator[str]:
    mark = depths.begin(depth + 1)
    try:
        yield mark
    finally:
        depths.end(mark)


@contextmanager
def _watched() -> Iterator[Watchdog]:
    watchdog = Watchdog()
    try:
        yield watchdog
    finally:
        watchdog.close()


def _world(chosen: Chosen, event: Event, environment: Mapping[str, str], umask: int, mark: str, depth: int) -> World:
    """The caller's own world, and three words of ours."""
    handler = chosen.hook.handler
    env = {key: value for key, value in environment.items() if not key.startswith("HOOKONCE_")}
    ours = {depths.DEPTH: str(depth + 1), depths.PARENT: mark, depths.HOOK_DIR: chosen.folder}
    base = Path(chosen.folder if chosen.scope == "project" else event.cwd or Path.cwd())
    return World(cwd=str(base / handler.cwd if handler.cwd else base), env=env | handler.env | ours, umask=umask)


def _ask(chosen: Chosen, event: Event, world: World, left: float, watchdog: Watchdog) -> Told:
    hook, dialect = chosen.hook, chosen.hook.dialect or CANONICAL
    command = hook.handler.platform.get(_SYSTEMS.get(system, "")) or hook.handler.command or ""
    stdin, gaps = given(dialect, event, hook)
    started = times.now()
    if hook.handler.background:
        ran = detach(command, stdin, world)
        said = verdict(hook, ran, Decision(), may_allow=False)
    elif left <= 0:
        ran = Ran(failure="timeout")
        said = verdict(hook, ran, None, may_allow=False)
    else:
        ran = run(command, stdin, world, share(hook, left), watchdog)
        spoken = heard(dialect, event, ran)
        said = verdict(hook, ran, spoken, may_allow=chosen.may_allow, codes_told=is_agents(dialect))
    record = HookRun(
        hook=hook.name or hook.event,
        scope=chosen.scope,
        digest=sha256(command.encode()).hexdigest(),
        started=started,
        duration_ms=round(ran.duration * 1000, 3),
        exit=ran.code,
        outcome=said.decision.outcome,
        failure=said.failure,
    )
    return Told(decision=said.decision, run=record, gaps=[*gaps, *said.gaps])

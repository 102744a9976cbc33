"""Running the hooks of a call, one after the other, each seeing the input as those before it have left it."""

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from sys import platform as system
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from hookonce import times
from hookonce.config import settings
from hookonce.errors import HookonceError
from hookonce.handlers import privileges
from hookonce.handlers.detached import detach
from hookonce.handlers.process import Job, Ran, World, run
from hookonce.handlers.verdict import Rights, Verdict, verdict
from hookonce.handlers.walk import Runner, Walk, drive
from hookonce.invocation import CANONICAL
from hookonce.journeys.budget import share
from hookonce.journeys.chosen import Chosen
from hookonce.journeys.dialect import Wordless, given, heard, is_agents
from hookonce.journeys.rewrite import settled
from hookonce.manifest.discover import project_of
from hookonce.manifest.http_script import scripted
from hookonce.model import Decision, Event, Gap, HookRun
from hookonce.runtime import depth as depths
from hookonce.store import log

_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
_SCRIPT = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)+(?=\s|$)")  # a path from where the hook lies, and no shell's business
_DETACHED = "session_end"  # an agent that ends does not wait: nothing important is left to that moment
_RUN = frozenset({"command", "http"})
_LOGGED = 4096  # bytes of what a failed hook has said


class Skipped(HookonceError):
    """A hook does not run here, which is no failure."""


class Caller(Struct, frozen=True, kw_only=True):
    """The world of who has called us, and how deep hooks and agents have started each other there."""

    environment: Mapping[str, str]
    cwd: str
    umask: int = -1
    depth: int = 0
    mark: str = ""  # by which what its hooks start knows its depth
    reduced: bool = False  # whether its hooks have fewer privileges


class Told(Struct, frozen=True, kw_only=True):
    """What one hook has said, and how its run went."""

    decision: Decision
    run: HookRun
    gaps: list[Gap]


def run_hooks(hooks: list[Chosen], event: Event, caller: Caller, deadline: float, runner: Runner = run) -> list[Told]:
    """Ask them, and wait for what they say."""
    return drive(asking(hooks, event, caller, deadline), runner)


def asking(hooks: list[Chosen], event: Event, caller: Caller, deadline: float) -> Walk[list[Told]]:
    """Ask them in order; a deny or a failure of one does not keep the others from being asked."""
    told: list[Told] = []
    if not hooks:
        return told
    with _marked(caller.depth + 1) as mark:
        marked = replace(caller, mark=mark, reduced=settings.privileges() == "reduced")
        for chosen in hooks:
            one, seen = yield from _ask(chosen, chosen.about or event, marked, deadline)
            told.append(one)
            event = event if chosen.about else seen
    return told


@contextmanager
def _marked(depth: int) -> Iterator[str]:
    mark = depths.begin(depth)
    try:
        yield mark
    finally:
        depths.end(mark)


def _world(chosen: Chosen, event: Event, caller: Caller) -> World:
    """The caller's own world, and three words of ours."""
    handler = chosen.hook.handler
    env = {key: value for key, value in caller.environment.items() if not key.startswith("HOOKONCE_")}
    ours = {depths.DEPTH: str(caller.depth + 1), depths.PARENT: caller.mark, depths.HOOK_DIR: chosen.folder}
    cwd = chosen.folder if chosen.scope == "project" else caller.cwd
    if handler.cwd:
        root = chosen.folder if chosen.scope == "project" else project_of(Path(event.cwd or caller.cwd))
        cwd = str(Path(root, handler.cwd))
    return World(cwd=cwd, env=env | handler.env | ours, umask=caller.umask, reduced=caller.reduced)


def _ask(chosen: Chosen, event: Event, caller: Caller, deadline: float) -> Walk[tuple[Told, Event]]:
    """What a hook says, and the event as the next one sees it; whatever goes wrong here is this hook's failure."""
    hook, started, command = chosen.hook, times.now(), ""
    try:
        command = command_of(chosen)
        ran, said, gaps = yield from _answer(chosen, command, event, caller, deadline)
        decision, event, more = settled(said.decision, event)
    except (Skipped, Wordless) as why:
        ran, said, gaps = Ran(), Verdict(Decision()), [_gap(str(why))]
        decision, more = said.decision, []
    except Exception as problem:  # noqa: BLE001  nothing that one hook does may hide what another says
        ran = Ran(failure=f"not started: {problem}")
        said, gaps, more = verdict(hook, ran, None, Rights()), [], []
        decision = said.decision
    if said.failure is not None:
        log.write(
            f"hook {hook.name or hook.event} failed ({said.failure}, {ran.duration:.1f} s): {command}", _kept(ran)
        )
    record = HookRun(
        hook=hook.name or hook.event,
        scope=chosen.scope,
        digest=sha256(command.encode(errors="replace")).hexdigest(),
        started=started,
        duration_ms=round(ran.duration * 1000, 3),
        exit=ran.code,
        outcome=decision.outcome,
        failure=said.failure,
    )
    return Told(decision=decision, run=record, gaps=[*gaps, *said.gaps, *more]), event


def _answer(
    chosen: Chosen, command: str, event: Event, caller: Caller, deadline: float
) -> Walk[tuple[Ran, Verdict, list[Gap]]]:
    hook, dialect, world = chosen.hook, chosen.hook.dialect or CANONICAL, _world(chosen, event, caller)
    if hook.handler.type not in _RUN:
        if caller.depth > 0:
            raise Skipped(f"{hook.name or hook.event} is a handler that does not run below another hook")
        raise HookonceError(f"handlers of type {hook.handler.type} cannot be run")
    stdin, gaps = given(dialect, event, hook)
    if caller.reduced and (kept := privileges.lacking()):
        gaps = [*gaps, _gap(f"{hook.name or hook.event} keeps privileges, {kept}", "privileges")]
    if hook.handler.background or event.type == _DETACHED:
        ran = detach(command, stdin, world)
        return ran, verdict(hook, ran, Decision(), Rights()), gaps
    left = share(hook, deadline - monotonic())
    ran = (yield Job(command, stdin, world, left)) if left > 0 else Ran(failure="timeout")
    rights = Rights(may_allow=chosen.may_allow, strict=not hook.blocking and _is_strict(chosen))
    return ran, verdict(hook, ran, heard(dialect, event, ran), rights, codes_told=is_agents(dialect)), gaps


def command_of(chosen: Chosen) -> str:
    """The command line of a hook on this system; a script is looked for where the hook lies, not where the agent is."""
    handler = chosen.hook.handler
    if handler.type == "http":
        handler = scripted(handler)
    command = handler.platform.get(_SYSTEMS.get(system, "")) or handler.command or ""
    script = _SCRIPT.match(command)
    return shlex.quote(str(Path(chosen.folder, script[0]))) + command[script.end() :] if script else command


def _is_strict(chosen: Chosen) -> bool:
    """Whether the user wants hooks that may not block to only look on; managed hooks are not theirs to weaken."""
    if chosen.scope not in {"project", "user"}:
        return False
    try:
        return settings.setting("strict_nonblocking") is True
    except HookonceError:
        return False


def _kept(ran: Ran) -> bytes:
    said = (ran.stdout + ran.stderr)[:_LOGGED]
    return said and said + b"\n"


def _gap(note: str, capability: str = "handler") -> Gap:
    return Gap(where="$.runs", capability=capability, strategy="exclude", effect="observes", note=note)

"""Running the hooks of a call, one after the other, each seeing the input as those before it have left it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from hookonce import times
from hookonce.config import settings
from hookonce.errors import HookonceError
from hookonce.handlers import privileges
from hookonce.handlers.detached import detach
from hookonce.handlers.errand import Ran, waited
from hookonce.handlers.judged import Judged
from hookonce.handlers.process import World
from hookonce.handlers.verdict import Rights, Verdict, verdict
from hookonce.handlers.walk import Doer, Walk, drive
from hookonce.invocation import CANONICAL
from hookonce.journeys.budget import share
from hookonce.journeys.chosen import Chosen
from hookonce.journeys.dialect import Wordless, variables
from hookonce.journeys.errands import LED, command_of, known_by, plan
from hookonce.journeys.rewrite import settled
from hookonce.manifest.discover import project_of
from hookonce.model import Decision, Event, Gap, HookRun
from hookonce.runtime import depth as depths
from hookonce.store import log
from hookonce.store.unquoted import unquoted
from hookonce.texts import dump

_DETACHED = "session_end"  # an agent that ends does not wait: nothing important is left to that moment
_NOTHING = Judged(ran=Ran(), decision=None)  # of a hook that did not run
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
    waits: bool = False  # whether even those hooks are waited for that run on by themselves elsewhere


class Told(Struct, frozen=True, kw_only=True):
    """What one hook has said, and how its run went."""

    decision: Decision
    run: HookRun
    gaps: list[Gap]


def run_hooks(hooks: list[Chosen], event: Event, caller: Caller, deadline: float, doer: Doer = waited) -> list[Told]:
    """Ask them, and wait for what they say."""
    return drive(asking(hooks, event, caller, deadline), doer)


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
    """The caller's own world, and three words of ours; and those of the agent that the hook was written for."""
    handler = chosen.hook.handler
    env = variables(chosen.hook.dialect or CANONICAL, event, caller.cwd)
    env |= {key: value for key, value in caller.environment.items() if not key.startswith("HOOKONCE_")}
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
        made, said, gaps = yield from _answer(chosen, event, caller, deadline)
        decision, event, more = settled(said.decision, event)
    except (Skipped, Wordless) as why:
        made, said, gaps = _NOTHING, Verdict(Decision()), [_gap(str(why))]
        decision, more = said.decision, []
    except Exception as problem:  # noqa: BLE001  nothing that one hook does may hide what another says
        made = Judged(ran=Ran(failure=f"not started: {log.words(problem)}"), decision=None)
        said, gaps, more = verdict(hook, made.ran, None, Rights()), [], []
        decision = said.decision
    ran = made.ran
    if said.failure is not None:
        how = f"failed ({said.failure}, {ran.duration:.1f} s)"
        log.write(f"hook {hook.name or hook.event} {how}: {command}", _kept(ran, event))
    record = HookRun(
        hook=hook.name or hook.event,
        scope=chosen.scope,
        digest=sha256(known_by(chosen)).hexdigest(),
        started=started,
        duration_ms=round(ran.duration * 1000, 3),
        exit=ran.code,
        outcome=decision.outcome,
        failure=said.failure,
        model=made.model,
        usage=made.usage,
        cost_micros=made.cost_micros,
    )
    return Told(decision=decision, run=record, gaps=[*gaps, *said.gaps, *more]), event


def _answer(chosen: Chosen, event: Event, caller: Caller, deadline: float) -> Walk[tuple[Judged, Verdict, list[Gap]]]:
    hook, name = chosen.hook, chosen.hook.name or chosen.hook.event
    if hook.handler.type in LED and caller.depth > 0:
        raise Skipped(f"{name} is a handler that does not run below another hook")
    planned = plan(chosen, event, _world(chosen, event, caller))
    gaps = planned.gaps
    if caller.reduced and (kept := privileges.lacking()):
        gaps = [*gaps, _gap(f"{name} keeps privileges, {kept}", "privileges")]
    if not caller.waits and (hook.handler.background or event.type == _DETACHED):
        ran = detach(planned.errand, command_of(chosen), _world(chosen, event, caller))
        return Judged(ran=ran, decision=None), verdict(hook, ran, Decision(), Rights()), gaps
    left = share(hook, deadline - monotonic())
    ran = (yield replace(planned.errand, timeout=left)) if left > 0 else Ran(failure="timeout")
    made = _discreet(planned.hear(ran), event)
    rights = Rights(may_allow=chosen.may_allow, strict=not hook.blocking and _is_strict(chosen))
    said = verdict(hook, made.ran, made.decision, rights, codes_told=planned.codes_told)
    return made, said, [*gaps, *made.gaps]


def _is_strict(chosen: Chosen) -> bool:
    """Whether the user wants hooks that may not block to only look on; managed hooks are not theirs to weaken."""
    if chosen.scope not in {"project", "user"}:
        return False
    try:
        return settings.setting("strict_nonblocking") is True
    except HookonceError:
        return False


def _discreet(made: Judged, event: Event) -> Judged:
    """Why a hook has failed may be its own words, which repeat what it was given."""
    if made.ran.failure is None:
        return made
    failure = unquoted(made.ran.failure.encode(errors="replace"), dump(event)).decode()
    return replace(made, ran=replace(made.ran, failure=failure))


def _kept(ran: Ran, event: Event) -> bytes:
    """What a hook has said, for the log."""
    said = log.beginning(ran.stdout + ran.stderr, _LOGGED)
    return said and unquoted(said, dump(event)) + b"\n"


def _gap(note: str, capability: str = "handler") -> Gap:
    return Gap(where="$.runs", capability=capability, strategy="exclude", effect="observes", note=note)

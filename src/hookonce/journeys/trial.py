"""try: one hook on an event that never happened, as any agent would tell of it."""

import shlex
import sys
from collections.abc import Mapping
from os.path import isfile
from pathlib import Path
from shutil import which
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from hookonce import ids, times
from hookonce.agents import decode, encode, native_of
from hookonce.errors import HookonceError
from hookonce.handlers.errand import Errand, Ran, waited
from hookonce.handlers.http import Post
from hookonce.handlers.module import Invocation
from hookonce.handlers.process import Job
from hookonce.invocation import CANONICAL
from hookonce.journeys.chosen import Chosen, choose, manifest_of, standing
from hookonce.journeys.dialect import given
from hookonce.journeys.errands import LED
from hookonce.journeys.module_hook import understood
from hookonce.journeys.respond import Asked, answered
from hookonce.journeys.runs import Caller, Told, run_hooks
from hookonce.manifest.discover import Source, project_of
from hookonce.model import SCHEMA, Agent, Event, Gap, Handler, Hook, Object, Reply, Result, Subagent, Tool
from hookonce.runtime.twice import Decided
from hookonce.texts import dump, load

_PYTHON = ".py"
_PATIENCE = 60  # seconds
_ENDED = frozenset({"after_tool_execute", "tool_use_failure"})
_HELPERS = frozenset({"subagent_start", "subagent_stop"})
_TOOLS = {"before_tool_execute", "permission_request", "permission_denied", *_ENDED}


# What of an answer counts; the rest is nobody's word.
_WORDS = frozenset({"decision", "reason", "context", "updated_input", "updated_output"}) | {
    *("continue", "system_message", "suppress_output")
}


_ACK = frozenset({"accepted"})  # what modules say to an event


class Trial(Struct, frozen=True, kw_only=True):
    """What the hook, or a model, was given, what it said, what the agent would be answered, and what was lost.

    `unknown` are keys of its answer that mean nothing; `skipped` is why it would not be asked about such an event.
    """

    stdin: str
    told: Told
    stderr: str
    unknown: list[str]
    skipped: str | None
    reply: Reply
    gaps: list[Gap]


def sample(agent: Agent, kind: str, tool: str, given_input: Object, prompt: str | None = None) -> Event:
    """An event of that kind that never happened, as the agent tells of its own."""
    native = native_of(agent, kind)
    if native is None:
        raise HookonceError(f"{agent.title} has no event for {kind}")
    call = Tool(name=tool, native=tool, input=given_input, native_input=given_input, call_id="call-1")
    if kind in _ENDED:
        call = replace(call, result=Result(ok=kind != "tool_use_failure", exit_code=0, output="done"))
    event = Event(
        id=ids.fresh(),
        schema=SCHEMA,
        type=kind,
        agent="nobody",
        session="a-session-for-trying",
        time=times.now(),
        time_source="received",
        cwd=str(Path.cwd()),
        tool=call if kind in _TOOLS else None,
        prompt=(prompt or "Please tidy up") if kind == "before_prompt" else None,
        subagent=Subagent(id="a-helper", type="general") if kind in _HELPERS else None,
        parent_session="a-session-above" if kind in _HELPERS else None,
    )
    return decode(agent, encode(agent, event), native, id=event.id, received=event.time)


def hooks() -> list[str]:
    """The names of all hooks that stand in manifests here."""
    found = standing(project_of(Path.cwd()))
    return [one.hook.name for one in found if one.hook is not None and one.hook.name]


def nobody(name: str) -> str:
    """Why no hook of that name can be tried, where it is no program either."""
    lacking = {one.lacks: one.why for one in standing(project_of(Path.cwd())) if one.lacks is not None}
    if "trust" in lacking:
        told = "this project's hooks are not trusted yet: hookonce trust"
        return f"no hook is called {name} that may run here; {told}"
    ending = f"; {lacking['sense']}" if "sense" in lacking else ""
    return f"no hook is called {name}, and no program either{ending}"


def waits(name: str) -> bool:
    """Whether a file of this project has a hook of that name, and nobody has agreed to the file."""
    project = project_of(Path.cwd())
    asked = [one.source for one in standing(project) if one.hook is None and one.lacks == "trust"]
    return any(hook.name == name for source in asked for hook in _claimed(source))


def _claimed(source: Source) -> list[Hook]:
    try:
        return manifest_of(source).hooks
    except HookonceError:
        return []


def find(name: str, kind: str, dialect: str | None = None) -> Chosen:
    """The hook of that name in a manifest; else the name is a command to be tried, blocking and canonical."""
    project = project_of(Path.cwd())
    for one in standing(project):
        hook, scope = one.hook, one.source.scope
        if hook is not None and hook.name == name:
            if one.lacks is not None:
                raise HookonceError(one.why)
            folder = project if scope == "project" else one.source.path.parent
            allows = hook.may_allow and scope != "project"
            spoken = replace(hook, dialect=dialect or hook.dialect)
            return Chosen(hook=spoken, scope=scope, folder=str(folder), may_allow=allows)
    handler = Handler(type="command", command=name if which(name) and not name.endswith(_PYTHON) else program_of(name))
    tried = Hook(event=kind, name=name, handler=handler, blocking=True, may_allow=True, dialect=dialect)
    return Chosen(hook=tried, scope="user", folder=str(Path.cwd()), may_allow=True)


def program_of(hook: str | Path) -> str:
    """A path is a program, of Python if its name says so; any other text is a shell's."""
    if not isfile(hook):  # noqa: PTH113  a long command is no name of a file, for which that of pathlib raises
        return str(hook)
    program = shlex.quote(str(Path(hook).absolute()))
    return f"{shlex.quote(sys.executable)} {program}" if Path(hook).suffix == _PYTHON else program


def try_hook(agent: Agent, event: Event, tried: Chosen, environment: Mapping[str, str]) -> Trial:
    """Run it once, and answer as the agent would be answered."""
    native = native_of(agent, event.type) or ""
    dialect = tried.hook.dialect or CANONICAL
    stdin, _ = given(dialect, event, tried.hook)
    caller = Caller(environment=environment, cwd=str(Path.cwd()))
    ran: list[Ran] = []
    sent = [stdin]

    def listening(errand: Errand) -> Ran:
        if isinstance(errand, Job | Post | Invocation):
            sent.append(errand.given)
        ran.append(waited(errand))
        return ran[-1]

    speaks = dialect == CANONICAL and tried.hook.handler.type not in LED
    (told,) = run_hooks([tried], event, caller, monotonic() + _PATIENCE, listening)
    decided = Decided(decision=told.decision, runs=[told.run], gaps=told.gaps)
    made = answered(Asked(agent=agent, native=native, event=event), decided)
    return Trial(
        stdin=sent[-1].decode(errors="replace"),
        told=told,
        stderr=b"".join(one.stderr for one in ran).decode(errors="replace"),
        unknown=[key for one in ran if speaks for key in _strange(_said(one, tried.hook.handler))],
        skipped=_skipped(tried.hook, event),
        reply=made.reply,
        gaps=made.record.gaps,
    )


def _said(ran: Ran, handler: Handler) -> bytes:
    """What counts as the hook's answer: of a module, the result alone."""
    return understood(ran).stdout if handler.type == "module" else ran.stdout


def _strange(answer: bytes) -> list[str]:
    """Keys of a canonical answer that mean nothing."""
    try:
        found = load(answer.decode(errors="replace"))
    except (ValueError, RecursionError):
        return []
    return [key for key in found if key not in _WORDS | _ACK] if type(found) is dict else []


def _skipped(hook: Hook, event: Event) -> str | None:
    """Why a hook of a manifest would not be asked about this event."""
    named = [one for one in standing(project_of(Path.cwd())) if one.hook is not None and one.hook.name == hook.name]
    if not named or any(one.hook.name == hook.name for one in choose(event, project_of(Path.cwd())).hooks):
        return None
    if hook.event != event.type:
        return f"it is for {hook.event}, and this is {event.type}"
    tool = f"{event.tool.name} ({event.tool.native})" if event.tool is not None else event.type
    return f"its matcher {dump(hook.matcher).decode()} does not fit {tool}"

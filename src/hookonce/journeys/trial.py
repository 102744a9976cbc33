"""try: one hook on an event that never happened, as any agent would tell of it."""

from collections.abc import Mapping
from pathlib import Path
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from hookonce import ids, times
from hookonce.agents import decode, encode, native_of
from hookonce.errors import HookonceError
from hookonce.invocation import CANONICAL
from hookonce.journeys.chosen import Chosen, standing
from hookonce.journeys.dialect import given
from hookonce.journeys.respond import Asked, answered
from hookonce.journeys.runs import Caller, Told, run_hooks
from hookonce.manifest.discover import project_of
from hookonce.model import SCHEMA, Agent, Event, Gap, Handler, Hook, Object, Reply, Result, Tool
from hookonce.runtime.twice import Decided

_PATIENCE = 60  # seconds
_ENDED = frozenset({"after_tool_execute", "tool_use_failure"})
_TOOLS = {"before_tool_execute", "permission_request", "permission_denied", *_ENDED}


class Trial(Struct, frozen=True, kw_only=True):
    """What the hook was given, what it said, what the agent would be answered, and what was lost on the way."""

    stdin: str
    told: Told
    reply: Reply
    gaps: list[Gap]


def sample(agent: Agent, kind: str, tool: str, given_input: Object) -> Event:
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
        prompt="Please tidy up" if kind == "before_prompt" else None,
    )
    return decode(agent, encode(agent, event), native, id=event.id, received=event.time)


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
    handler = Handler(type="command", command=name)
    tried = Hook(event=kind, name=name, handler=handler, blocking=True, may_allow=True, dialect=dialect)
    return Chosen(hook=tried, scope="user", folder=str(Path.cwd()), may_allow=True)


def try_hook(agent: Agent, event: Event, tried: Chosen, environment: Mapping[str, str]) -> Trial:
    """Run it once, and answer as the agent would be answered."""
    native = native_of(agent, event.type) or ""
    stdin, _ = given(tried.hook.dialect or CANONICAL, event, tried.hook)
    caller = Caller(environment=environment, cwd=str(Path.cwd()))
    (told,) = run_hooks([tried], event, caller, monotonic() + _PATIENCE)
    decided = Decided(decision=told.decision, runs=[told.run], gaps=told.gaps)
    made = answered(Asked(agent=agent, native=native, event=event), decided)
    return Trial(stdin=stdin.decode(errors="replace"), told=told, reply=made.reply, gaps=made.record.gaps)

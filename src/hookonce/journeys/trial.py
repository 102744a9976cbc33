"""try: one hook on an event that never happened, as any agent would tell of it."""

from collections.abc import Mapping
from pathlib import Path
from time import time

from msgspec import Struct
from msgspec.structs import replace

from hookonce import ids, times
from hookonce.agents import native_of, point_of
from hookonce.canon.weaken import weaken
from hookonce.errors import HookonceError
from hookonce.journeys.chosen import Chosen, manifest_of
from hookonce.journeys.dialect import CANONICAL, given
from hookonce.journeys.respond import Asked, reply
from hookonce.journeys.runs import Told, run_hooks
from hookonce.manifest.discover import Scope, sources
from hookonce.model import SCHEMA, Agent, Event, Handler, Hook, Object, Reply, Result, Tool

_PATIENCE = 60  # seconds
_ENDED = frozenset({"after_tool_execute", "tool_use_failure"})
_TOOLS = {"before_tool_execute", "permission_request", "permission_denied", *_ENDED}


class Trial(Struct, frozen=True, kw_only=True):
    """What the hook was given, what it said, and what the agent would be answered."""

    stdin: str
    told: Told
    reply: Reply


def sample(agent: Agent, kind: str, tool: str, given_input: Object) -> Event:
    """An event of that kind that never happened."""
    native, _ = next(((name, known) for name, known in agent.tools.items() if known == tool), (tool, tool))
    call = Tool(name=tool, native=native, input=given_input, native_input=given_input, call_id="call-1")
    if kind in _ENDED:
        call = replace(call, result=Result(ok=kind != "tool_use_failure", exit_code=0, output="done"))
    return Event(
        id=ids.fresh(),
        schema=SCHEMA,
        type=kind,
        agent=agent.name,
        session="a-session-for-trying",
        time=times.now(),
        time_source="received",
        cwd=str(Path.cwd()),
        tool=call if kind in _TOOLS else None,
        prompt="Please tidy up" if kind == "before_prompt" else None,
    )


def find(name: str, kind: str, dialect: str | None = None) -> tuple[Hook, Scope, str]:
    """The hook of that name in a manifest; else the name is a command to be tried, blocking and canonical."""
    for source in sources(Path.cwd()):
        for hook in manifest_of(source).hooks:
            if hook.name == name:
                return replace(hook, dialect=dialect or hook.dialect), source.scope, str(source.path.parent)
    handler = Handler(type="command", command=name)
    tried = Hook(event=kind, name=name, handler=handler, blocking=True, may_allow=True, dialect=dialect)
    return tried, "user", str(Path.cwd())


def try_hook(agent: Agent, event: Event, tried: tuple[Hook, Scope, str], environment: Mapping[str, str]) -> Trial:
    """Run it once, and answer as the agent would be answered."""
    hook, scope, folder = tried
    native = native_of(agent, event.type)
    if native is None:
        raise HookonceError(f"{agent.title} has no event for {event.type}")
    stdin, _ = given(hook.dialect or CANONICAL, event, hook)
    chosen = Chosen(hook=hook, scope=scope, folder=folder, may_allow=hook.may_allow and scope != "project")
    (told,) = run_hooks([chosen], event, environment, umask=-1, deadline=time() + _PATIENCE, depth=0)
    final, _ = weaken(told.decision, point_of(agent, native), event.tool.input if event.tool else None)
    answer = reply(Asked(agent=agent, native=native, event=event), final)
    return Trial(stdin=stdin.decode(errors="replace"), told=told, reply=answer)

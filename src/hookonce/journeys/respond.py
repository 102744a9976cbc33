"""respond: payload ─ decode ─ hooks of all scopes, in order ─ merge ─ weaken ─ record ─ the agent's own answer."""

from collections.abc import Mapping
from os.path import join
from time import monotonic, time
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce import agents, ids, times
from hookonce.agents import config_of, decode, point_of
from hookonce.canon.merge import merged
from hookonce.canon.weaken import CONTEXT, weaken
from hookonce.config import settings
from hookonce.errors import HookonceError, PayloadError
from hookonce.handlers.walk import Walk
from hookonce.journeys import failmode
from hookonce.journeys.budget import budget
from hookonce.journeys.chosen import Chosen, choose, forbidden
from hookonce.journeys.dialect import is_agents
from hookonce.journeys.ground import Ground
from hookonce.journeys.identify import event_of, identify, outweighs
from hookonce.journeys.rewrite import settled
from hookonce.journeys.runs import Caller, asking
from hookonce.manifest.discover import Scope, project_of
from hookonce.model import Agent, Decision, Event, Gap, Handler, Hook, Object, Origin, Point, Record, Reply
from hookonce.runtime import approvals, calls, depth, folder, stops, terminal, twice
from hookonce.runtime.twice import Decided
from hookonce.texts import load

_MOMENT = 0.2  # seconds
_SWEPT = frozenset({"session_start", "session_end"})  # moments at which nobody waits for a tool


class Call(Struct, frozen=True, kw_only=True):
    """What an agent's configuration says when it calls us, who we are in this call, and since when it waits."""

    agent: str
    event: str | None = None
    via: str | None = None
    dialect: str | None = None
    run: str | None = None
    scope: str | None = None
    timeout: float | None = None
    id: str = ""
    began: float | None = None


class Asked(Struct, frozen=True, kw_only=True):
    """The call, understood: who really asks, about what, and from which process (0: ours)."""

    agent: Agent
    native: str
    event: Event
    caller: int = 0


class Answered(Struct, frozen=True, kw_only=True):
    """What the agent is told, and what is kept of it."""

    reply: Reply
    record: Record


def understand(call: Call, raw: bytes, environment: Mapping[str, str], caller: int = 0) -> Asked:
    """The payload as an event; argv is a claim, and evidence in the payload is stronger."""
    claimed = agents.load(call.agent)
    payload = _payload(raw)
    found = identify(payload, environment) if payload else None
    agent, told = claimed, call.event
    if found is not None and outweighs(found, claimed, call.event, payload):
        agent, told = agents.load(str(found.name)), found.event or call.event
    event = decode(agent, payload, told, id=call.id or ids.fresh(), received=_received(call.id))
    if call.via is not None:
        event = replace(event, origin=Origin(via=[call.via]))
    if agent is not claimed:
        event = replace(event, data=event.data | {"called_through": f"{claimed.name} {call.event or ''}".strip()})
    native = native_name(agent, event, told, event_of(agent, payload))
    return Asked(agent=agent, native=native, event=event, caller=caller)


def native_name(agent: Agent, event: Event, *told: str | None) -> str:
    """The configured name of an event: what argv or the payload says if that is its kind, else the agent's own word."""
    known = {*agents.natives(agent), *config_of(agent).points}
    fitting = (name for name in told if name in known and agents.kind_of(agent, name) == event.type)
    return next(fitting, None) or agents.native_of(agent, event.type) or next(filter(None, told), "")


def _payload(raw: bytes) -> Any:
    """Some agents call once more with nothing to say: that is an event without details."""
    text = raw.decode("utf-8-sig", "replace").strip()
    if not text:
        return {}
    try:
        return load(text)
    except (ValueError, RecursionError) as problem:
        raise PayloadError(f"the payload is no JSON: {problem}") from None


def _received(call: str | None) -> str:
    """When a call came: its id was made then, and it may have waited since; one that tells nonsense is not believed."""
    now = time()
    made = ids.time_of(call) if call else None
    return (times.from_seconds(made) if made is not None and now - _LATE < made <= now else None) or times.now()


_LATE = 600  # seconds that a call may have waited


class Claimed(HookonceError):
    """The hooks of this call run already, or have run: whoever runs them answers."""


class TooDeep(HookonceError):
    """A chain of agents and hooks that would not end."""


def respond(call: Call, asked: Asked, ground: Ground) -> Walk[Answered]:
    """Ask every hook that wants to be asked, and answer the agent in its own words."""
    event = asked.event
    deadline = (call.began or monotonic()) + budget(asked.agent, asked.native, call.timeout, wraps=call.run is not None)
    if event.type in _SWEPT:
        folder.sweep()
    if event.type == "before_prompt":
        stops.spoken_to(event)
    if call.via is None:
        return answered(asked, (yield from _decide(call, asked, ground, deadline)))
    known = yield from twice.enter(event, call.via, deadline, ground.doors)
    asked = _through(asked, known)
    if known.decided is not None:
        yield from _wait_for(known.first, ground)
        return answered(asked, known.decided)
    try:
        decided = yield from _decide(call, asked, ground, deadline)
        return answered(_through(asked, twice.decide(asked.event, decided, ground.doors)), decided)
    except Claimed:
        raise  # somebody else has this very call, and its doors
    except BaseException:
        twice.leave(asked.event, ground.doors)  # who waits at another door decides
        raise


def _through(asked: Asked, known: twice.Seen | None) -> Asked:
    """The call as one, whichever of its doors it came through."""
    if known is None:
        return asked
    event = known.event if known.event is not None and twice.is_wordless(asked.event) else asked.event
    return replace(asked, event=replace(event, id=known.first, origin=Origin(via=list(known.ids))))


def _wait_for(event: str, ground: Ground) -> Walk[None]:
    """Give the first door a moment to write its record, for ours has to be the later one."""
    until = monotonic() + _MOMENT
    while not ground.spool.has(event) and monotonic() < until:
        yield _MOMENT / 10


def _decide(call: Call, asked: Asked, ground: Ground, deadline: float) -> Walk[Decided]:
    deep = depth.depth_of(ground.environment, ground.pid)
    if deep >= depth.DEEPEST:
        raise TooDeep("hooks start agents whose hooks start agents; no hook runs at this depth")
    caller = Caller(environment=ground.environment, cwd=ground.cwd, umask=ground.umask, depth=deep)
    hooks, decisions, gaps = _hooks(call, asked, caller) if ground.asks else ([], [], [])
    if hooks and call.id and not calls.claim(call.id):
        raise Claimed("somebody else runs the hooks of this very call")
    told = (yield from asking(hooks, asked.event, caller, deadline)) if hooks else []
    said = merged([*decisions, *(one.decision for one in told)])
    decision, more = _limited(asked, _approved(asked, said))
    gaps += [gap for one in told for gap in one.gaps] + more
    return Decided(decision=decision, runs=[one.run for one in told], gaps=gaps)


def _hooks(call: Call, asked: Asked, caller: Caller) -> tuple[list[Chosen], list[Decision], list[Gap]]:
    """The script that a wrapper names, else the hooks of the manifests; and what is decided without asking them."""
    project = project_of(join(caller.cwd, asked.event.cwd or ""))  # noqa: PTH118  as texts; somebody waits
    if call.run is not None:
        wrapped = _wrapped(call, asked, caller)
        refused = forbidden(wrapped, asked.event, project)
        return ([], [], [refused]) if refused is not None else ([wrapped], [], [])
    choice = choose(asked.event, project)
    decisions = choice.decisions
    if choice.broken and failmode.is_closed(asked.event.type, project):
        decisions = [*decisions, Decision(outcome="deny", reason=failmode.REASON, by="hookonce")]
    return choice.hooks, decisions, choice.gaps


def _wrapped(call: Call, asked: Asked, caller: Caller) -> Chosen:
    """A wrapper is covered by the consent that its agent has; a user's script may allow, a project's may not.

    It runs where the agent would have run it. What its exit code means is for the agent to say that it was written
    for, which knows no hooks that may not block.
    """
    handler = Handler(type="command", command=call.run, timeout=call.timeout, cwd=caller.cwd)
    own = call.dialect is not None and is_agents(call.dialect)
    blocking = own or bool(point_of(asked.agent, asked.native).can & {"prevent", "retry"})
    hook = Hook(event=asked.event.type, handler=handler, dialect=call.dialect, blocking=blocking, may_allow=True)
    scope: Scope = "user" if call.scope == "user" else "project"
    return Chosen(hook=hook, scope=scope, folder=caller.cwd, may_allow=scope == "user")


def _point(asked: Asked) -> Point:
    """What the agent can be told; a question that ends it when nobody is there goes out when somebody is."""
    point = point_of(asked.agent, asked.native)
    return replace(point, ask="native") if point.ask == "fatal" and terminal.is_there(asked.caller) else point


def _approved(asked: Asked, decision: Decision) -> Decision:
    """A question that this agent cannot put to anybody: answered already, or left for a person to answer."""
    if decision.outcome != "ask" or _point(asked).ask in {"native", "denies_headless"}:
        return decision
    _, meant, _ = settled(decision, asked.event)  # what would happen, and not what the agent has asked for
    if approvals.is_approved(meant):
        return replace(decision, outcome=None, reason=None, by=None)
    approvals.ask(meant)
    return decision


def _limited(asked: Asked, decision: Decision) -> tuple[Decision, list[Gap]]:
    """An agent that is never let go would cost its user money for ever."""
    if "retry" not in point_of(asked.agent, asked.native).can or decision.proceed is False:
        return decision, []
    if decision.outcome != "deny" or stops.refuse(asked.event, decision.reason):
        return decision, []
    return Decision(), [_gap("stop", f"the agent was kept from stopping {stops.MOST} times; now it may")]


def answered(asked: Asked, decided: Decided) -> Answered:
    """The agent's answer, weaker where it must be, and the record of it."""
    decision, event, unsaid = settled(decided.decision, asked.event)
    known = asked.event.tool.input if asked.event.tool is not None else _prompt(asked.event)
    final, weakened = weaken(decision, _point(asked), known, _longest(decision))
    gaps = [*decided.gaps, *unsaid, *weakened]
    record = Record(event=asked.event, decision=final, runs=decided.runs, gaps=gaps)
    return Answered(reply=_reply(replace(asked, event=event), final), record=record)


def _longest(decision: Decision) -> int:
    """How much may be told to the model."""
    if decision.context is None:
        return CONTEXT
    found = settings.setting("context_limit", CONTEXT)
    return found if type(found) is int and found > 0 else CONTEXT


def _prompt(event: Event) -> Object | None:
    return {"prompt": event.prompt} if type(event.prompt) is str else None


def _reply(asked: Asked, decision: Decision) -> Reply:
    """A decision that the point can hold, in the form that the agent honours; its event has the new input already."""
    agent, tool, new = asked.agent, asked.event.tool, decision.updated_input
    if agent.reply is None or not _says(decision):
        return Reply(stdout=config_of(agent).silence)
    return agent.reply(asked.native, decision, tool.native_input if new is not None and tool is not None else new)


def _says(decision: Decision) -> bool:
    return replace(decision, by=None, reason=decision.reason if decision.outcome else None) != Decision()


def _gap(capability: str, note: str) -> Gap:
    return Gap(where="$.decision", capability=capability, strategy="exclude", effect="observes", note=note)

"""respond: payload ─ decode ─ hooks of all scopes, in order ─ merge ─ weaken ─ record ─ the agent's own answer."""

from collections.abc import Mapping
from pathlib import Path
from time import time
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce import agents, ids, times
from hookonce.agents import config_of, decode, native_arguments, point_of
from hookonce.canon.merge import merged
from hookonce.canon.weaken import weaken
from hookonce.errors import HookonceError, PayloadError
from hookonce.journeys.budget import budget
from hookonce.journeys.chosen import Chosen, choose
from hookonce.journeys.identify import identify
from hookonce.journeys.runs import run_hooks
from hookonce.manifest.discover import Scope, project_of
from hookonce.model import Agent, Decision, Event, Gap, Handler, Hook, HookRun, Object, Record, Reply
from hookonce.runtime import approvals, depth, stops, twice
from hookonce.texts import load


class Call(Struct, frozen=True, kw_only=True):
    """What an agent's configuration says when it calls us, and who we are in this call."""

    agent: str
    event: str | None = None
    via: str | None = None
    dialect: str | None = None
    run: str | None = None
    scope: str | None = None
    timeout: float | None = None
    id: str = ""


class Asked(Struct, frozen=True, kw_only=True):
    """The call, understood: who really asks, about what."""

    agent: Agent
    native: str
    event: Event


class Answered(Struct, frozen=True, kw_only=True):
    """What the agent is told, and what is kept of it."""

    reply: Reply
    record: Record
    closed: bool = False


def understand(call: Call, raw: bytes, environment: Mapping[str, str]) -> Asked:
    """The payload as an event; argv is a claim, and evidence in the payload is stronger."""
    claimed = agents.load(call.agent)
    payload = _payload(raw)
    found = identify(payload, environment) if payload else None
    agent, told = claimed, call.event
    if found is not None and found.kind == "agent" and found.name not in {None, claimed.name}:
        agent, told = agents.load(str(found.name)), found.event or call.event
    event = decode(agent, payload, told, id=call.id or ids.fresh(), received=times.now())
    if agent is not claimed:
        event = replace(event, data=event.data | {"called_through": f"{claimed.name} {call.event or ''}".strip()})
    return Asked(agent=agent, native=native_name(agent, event, told), event=event)


def native_name(agent: Agent, event: Event, told: str | None) -> str:
    """The configured name of an event: what argv says if that is its kind, else the agent's own word."""
    if told is not None and agents.kind_of(agent, told) == event.type:
        return told
    return agents.native_of(agent, event.type) or told or ""


def _payload(raw: bytes) -> Any:
    """Some agents call once more with nothing to say: that is an event without details."""
    text = raw.decode("utf-8-sig", "replace").strip()
    if not text:
        return {}
    try:
        return load(text)
    except (ValueError, RecursionError) as problem:
        raise PayloadError(f"the payload is no JSON: {problem}") from None


def respond(call: Call, asked: Asked, environment: Mapping[str, str], umask: int = -1) -> Answered:
    """Ask every hook that wants to be asked, and answer the agent in its own words."""
    event, begin = asked.event, time()
    deadline = begin + budget(asked.agent, asked.native, call.timeout)
    if event.type == "before_prompt":
        stops.spoken_to(event)
    other = twice.elsewhere(event, call.via, deadline)
    if other is not None:
        return _answered(asked, other, [], [_gap("door", "the same call came through another door; its answer counts")])
    level = depth.depth_of(environment)
    if level >= depth.DEEPEST:
        raise TooDeep("hooks start agents whose hooks start agents; no hook runs at this depth")
    project = project_of(Path(event.cwd)) if event.cwd else None
    hooks, gaps = _hooks(call, asked, project)
    told = run_hooks(hooks, event, environment, umask=umask, deadline=deadline, depth=level)
    decision, more = _limited(event, _approved(asked, merged(one.decision for one in told)))
    twice.decided(event, call.via, decision)
    gaps += more + [gap for one in told for gap in one.gaps]
    return _answered(asked, decision, [one.run for one in told], gaps)


class TooDeep(HookonceError):
    """A chain of agents and hooks that would not end."""


def _hooks(call: Call, asked: Asked, project: Path | None) -> tuple[list[Chosen], list[Gap]]:
    """The script that a wrapper names, else the hooks of the manifests."""
    if call.run is not None:
        return [_wrapped(call, asked, project)], []
    choice = choose(asked.event, project)
    gaps = [_gap("policy", text) for text in choice.skipped]
    if choice.untrusted:
        gaps.append(_gap("trust", f"{choice.untrusted} hooks of this project are not trusted and did not run"))
    return choice.hooks, gaps


def _wrapped(call: Call, asked: Asked, project: Path | None) -> Chosen:
    """A wrapper is covered by the consent that its agent has; a user's script may allow, a project's may not."""
    handler = Handler(type="command", command=call.run, timeout=call.timeout)
    blocking = bool(point_of(asked.agent, asked.native).can & {"prevent", "retry"})
    hook = Hook(event=asked.event.type, handler=handler, dialect=call.dialect, blocking=blocking, may_allow=True)
    scope: Scope = "user" if call.scope == "user" else "project"
    folder = str(project or asked.event.cwd or "/")
    return Chosen(hook=hook, scope=scope, folder=folder, may_allow=scope == "user")


def _approved(asked: Asked, decision: Decision) -> Decision:
    """A question that this agent cannot put to anybody: answered already, or left for a person to answer."""
    point = point_of(asked.agent, asked.native)
    if decision.outcome != "ask" or point.ask in {"native", "denies_headless"}:
        return decision
    if approvals.is_approved(asked.event):
        return replace(decision, outcome=None, reason=None)
    approvals.ask(asked.event)
    return decision


def _limited(event: Event, decision: Decision) -> tuple[Decision, list[Gap]]:
    """An agent that is never let go would cost its user money for ever."""
    if event.type not in {"agent_stop", "subagent_stop"} or decision.outcome != "deny":
        return decision, []
    if stops.stops(event).count >= stops.MOST:
        return Decision(), [_gap("stop", f"the agent was kept from stopping {stops.MOST} times; now it may")]
    stops.count(event, decision.reason)
    return decision, []


def _answered(asked: Asked, decision: Decision, runs: list[HookRun], gaps: list[Gap]) -> Answered:
    known = asked.event.tool.input if asked.event.tool is not None else _prompt(asked.event)
    final, weakened = weaken(decision, point_of(asked.agent, asked.native), known)
    record = Record(event=asked.event, decision=final, runs=runs, gaps=gaps + weakened)
    return Answered(reply=reply(asked, final), record=record)


def _prompt(event: Event) -> Object | None:
    return {"prompt": event.prompt} if type(event.prompt) is str else None


def reply(asked: Asked, decision: Decision) -> Reply:
    """A decision that the point can hold, in the form that the agent honours."""
    agent, tool = asked.agent, asked.event.tool
    if decision == Decision() or agent.reply is None:
        return Reply(stdout=config_of(agent).silence)
    new = decision.updated_input
    native = new if new is None or tool is None else native_arguments(agent, tool.native, tool.name, new)
    return agent.reply(asked.native, decision, native)


def _gap(capability: str, note: str) -> Gap:
    return Gap(where="$.decision", capability=capability, strategy="exclude", effect="observes", note=note)

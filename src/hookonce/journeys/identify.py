"""Which agent or format a payload is, by evidence; without evidence, who it might be."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from msgspec import Struct

from hookonce import agents, formats
from hookonce.agents import config_of, kind_of, normalize
from hookonce.model import Agent, Format, Object

_TRANSCRIPTS = ("transcript_path", "transcriptPath", "agent_transcript_path")
_SHAPE = "the payload has its shape"
_EVENT_KEYS = ("hook_event_name", "hookEventName", "agent_action_name", "hookName", "hook")


class Finding(Struct, frozen=True, kw_only=True):
    """What was found. `event` is the native name, `type` the canonical one."""

    kind: Literal["agent", "format", "unknown"]
    name: str | None = None
    event: str | None = None
    type: str | None = None
    candidates: list[str] = []
    evidence: list[str] = []


def identify(payload: Any, environment: Mapping[str, str] | None = None) -> Finding:
    """The finding for one JSON document; `environment` only decides between agents that fit equally."""
    if type(payload) is not dict:
        return Finding(kind="unknown", evidence=[f"expected a JSON object, got {_kind(payload)}"])
    for form in _formats():
        if form.is_mine(payload):
            return Finding(kind="format", name=form.name, evidence=[f"has the keys of {form.title}"])
    proven: dict[str, list[str]] = {}
    lies = _transcript(payload)
    for agent in _agents():
        if found := _evidence(agent, payload, lies):
            proven[agent.name] = found
    return _judge(payload, proven, environment or {})


@cache
def _formats() -> list[Format]:
    """The key of OpenHook decides, whatever else is there."""
    return [formats.load(name) for name in dict.fromkeys(("openhook", *formats.FORMATS))]


@cache
def _agents() -> list[Agent]:
    return [agents.load(name) for name in agents.AGENTS]


def outweighs(found: Finding, claimed: Agent, told: str | None, payload: Any) -> bool:
    """Whether a finding is stronger than the claim that an entry in a configuration makes, with the event that it told.

    It is not where only the claimed agent has such an event. Nor is a mere likeness to an agent that does not read
    the configuration of the claimed one.
    """
    if found.kind != "agent" or found.name in {None, claimed.name}:
        return False
    other = agents.load(str(found.name))
    if not _knows(claimed, event_of(claimed, payload) or told):
        return True
    if not _knows(other, found.event or told):
        return False
    return _SHAPE not in found.evidence or claimed.name in config_of(other).borrows


def _knows(agent: Agent, event: str | None) -> bool:
    return event is not None and not kind_of(agent, event).startswith("vendor.")


def _judge(payload: Object, proven: dict[str, list[str]], environment: Mapping[str, str]) -> Finding:
    possible = list(proven) or [name for name in agents.AGENTS if _speaks(agents.load(name), payload)]
    marked = {name: mark for name in possible if (mark := _mark(agents.load(name), payload, environment))}
    if len(possible) > 1 and len(marked) == 1:
        possible = list(marked)
    if len(possible) == 1 and (possible[0] in proven or possible[0] in marked):
        name = possible[0]
        evidence = proven.get(name, []) + ([f"the environment has {marked[name]}"] if name in marked else [])
        return _named(agents.load(name), payload, evidence)
    return Finding(kind="unknown", candidates=possible, evidence=_why_not(payload))


def _named(agent: Agent, payload: Object, evidence: list[str]) -> Finding:
    event = event_of(agent, payload)
    return Finding(
        kind="agent",
        name=agent.name,
        event=event or None,
        type=normalize(agent, event) if event else None,
        candidates=[] if event else list(agent.events),
        evidence=evidence,
    )


def event_of(agent: Agent, payload: Object) -> str | None:
    """The native event that the payload itself names."""
    if agent.recognise is not None and (event := agent.recognise(payload)):
        return event
    flat = payload if agent.unwrap is None else agent.unwrap(payload, None)
    named = [flat.get(key) for key, slot in agent.keys.items() if slot == "event"]
    return next((event for event in named if type(event) is str and event), None)


def _evidence(agent: Agent, payload: Object, lies: tuple[str, str] | None) -> list[str]:
    """The first kind of evidence that speaks for the agent, strongest first."""
    if agent.home and lies is not None:
        key, home = lies
        return [f"{key} lies in {home}"] if agent.home == home else []
    for telltale in agent.telltales:
        if telltale <= payload.keys():
            return [f"has {' and '.join(sorted(telltale))}"]
    mode = payload.get("permission_mode")
    if type(mode) is str and mode in agent.permission_modes:
        return [f"permission_mode {mode} is its own"]
    if agent.recognise is not None and agent.recognise(payload) is not None:
        return [_SHAPE]
    return []


def strange_home(agent: Agent, payload: Any) -> str | None:
    """The directory of another agent in which the payload's transcript lies, if it does."""
    path = (payload.get("transcript_path") or payload.get("transcriptPath")) if type(payload) is dict else None
    if agent.home is None or type(path) is not str or f"/{agent.home}/" in path:
        return None
    lies = _transcript(payload)
    return None if lies is None else lies[1]


def _transcript(payload: Object) -> tuple[str, str] | None:
    """The key that tells where the transcript lies, and the agent's directory there; the most precise one counts."""
    for key in _TRANSCRIPTS:
        path = payload.get(key)
        if type(path) is str and path:
            parts = path.replace("\\", "/")
            if inside := [home for home in _homes() if f"/{home}/" in parts]:
                return key, max(inside, key=len)
    return None


@cache
def _homes() -> list[str]:
    return [home for name in agents.AGENTS if (home := agents.load(name).home)]


def _speaks(agent: Agent, payload: Object) -> bool:
    event = event_of(agent, payload)
    return event is not None and not normalize(agent, event).startswith("vendor.")


def _mark(agent: Agent, payload: Object, environment: Mapping[str, str]) -> str | None:
    """The agent's mark in the environment.

    Whatever an agent starts inherits its marks, another agent too. So they say nothing of an agent that
    tells its transcript, where the payload does not.
    """
    told = [key for key in _TRANSCRIPTS if key in agent.keys or key in agent.details]
    if told and not any(payload.get(key) for key in told):
        return None
    return next((mark for mark in agent.marks if mark in environment), None)


def _why_not(payload: Object) -> list[str]:
    named = [f"{key} alone is not enough" for key in _EVENT_KEYS if key in payload]
    return named or ["nothing in it tells of an agent or a format"]


def _kind(value: Any) -> str:
    if type(value) is list:
        return "an array; write its items one on a line each"
    return "null" if value is None else f"the value {value!r:.40}"

"""What a certificate shows of each event: whether it came, and which powers an answer was seen to have there."""

from collections.abc import Mapping

from hookonce import agents
from hookonce.agents import kind_of, native_of, point_of
from hookonce.agents.proven import Shown
from hookonce.lab.certificate import Certificate
from hookonce.lab.claim import State
from hookonce.lab.scenarios import STEPS
from hookonce.model import Agent

_TOOL = "before_tool_execute"
# Which claims show a power of an event, by our name of it.
_SHOWS: dict[str, dict[str, tuple[str, ...]]] = {
    _TOOL: {"prevents": tuple(f"deny:{word}" for word in STEPS), "rewrites": ("rewrite",)},
    "before_prompt": {"prevents": ("prompt",)},
    "agent_stop": {"retries": ("stop",)},
}
_OF_EVENTS = ("fires", "context")  # their claims name the event
_OF_NONE = ("transparent", "here")
_KINDS = {claim: kind for kind, powers in _SHOWS.items() for claims in powers.values() for claim in claims}


def group(claim: str) -> str:
    """The claims that say the same of several things are one group."""
    return claim.partition(":")[0]


def shown(certificate: Certificate) -> Shown:
    """What a certificate says of the events in the agent's table."""
    agent = agents.load(certificate.agent)
    states = {one.claim: one.state for one in certificate.claims}
    came = [one.partition(":")[2] for one, state in states.items() if group(one) == "fires" and state == "held"]
    return Shown(
        version=certificate.version,
        date=certificate.date,
        held={native: tuple(_powers(agent, native, states)) for native in came},
        contradicted={one: _event(agent, one) for one, state in states.items() if state == "contradicted"},
    )


def _powers(agent: Agent, native: str, states: Mapping[str, State]) -> list[str]:
    """The powers that held claims show; of several events of a kind, the one that experiments are about has them."""
    kind = kind_of(agent, native)
    known = _SHOWS.get(kind, {}) if native_of(agent, kind) == native else {}
    found = [power for power, claims in known.items() if _held(claims, states)]
    if "rewrite" not in point_of(agent, native).can:
        found = [power for power in found if power != "rewrites"]  # what held is that nothing ran
    return found + (["context"] if states.get(f"context:{native}") == "held" else [])


def _held(claims: tuple[str, ...], states: Mapping[str, State]) -> bool:
    """Whether all of these claims hold that can be reached, and there are any; what nobody has asked is not shown."""
    return {states.get(claim) for claim in claims} - {"unreachable"} == {"held"}


def _event(agent: Agent, claim: str) -> str | None:
    """The event that a claim is about; most are about tool calls."""
    if group(claim) in _OF_EVENTS:
        return claim.partition(":")[2]
    return None if group(claim) in _OF_NONE else native_of(agent, _KINDS.get(claim, _TOOL))

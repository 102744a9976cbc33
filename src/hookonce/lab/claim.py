"""A claim: something that our tables or promises say of an agent, and what a run has shown of it."""

from typing import Literal

from msgspec import Struct

State = Literal["held", "contradicted", "unreachable", "untried"]


class Claim(Struct, frozen=True):
    """What is claimed, what became of it, and what shows that."""

    claim: str
    state: State
    evidence: str


def held(name: str, evidence: str) -> Claim:
    """A claim that was tried, and is true."""
    return Claim(name, "held", evidence)


def contradicted(name: str, evidence: str) -> Claim:
    """A claim that was tried, and is not true."""
    return Claim(name, "contradicted", evidence)


def judged(name: str, evidence: str, *, holds: bool) -> Claim:
    """A claim that was tried."""
    return held(name, evidence) if holds else contradicted(name, evidence)


def unreachable(name: str, why: str) -> Claim:
    """A claim that cannot be tried without a person at a terminal, or of which the agent knows nothing."""
    return Claim(name, "unreachable", why)


def untried(name: str, why: str) -> Claim:
    """A claim that nobody has tried."""
    return Claim(name, "untried", why)


def together(tries: list[Claim]) -> Claim:
    """What several tries of one claim say: all have to."""
    good = [one for one in tries if one.state == "held"]
    others = sorted((one for one in tries if one.state != "held"), key=lambda one: one.state)
    if good and others:
        return contradicted(tries[0].claim, f"flaky {len(good)}/{len(tries)}: {others[0].evidence}")
    return next(iter(others or good))

"""Certificates: claims about an agent with their evidence."""

import platform
from typing import Literal, get_args

from msgspec import Struct

ClaimState = Literal["held", "contradicted", "unreachable", "untried"]  # unreachable: it needs a person at a terminal


class Claim(Struct, frozen=True):
    """What is claimed, what became of it, and what shows that."""

    claim: str
    state: ClaimState
    evidence: str


def judge_claim(name: str, evidence: str, *, holds: bool) -> Claim:
    """A claim that was tried."""
    return Claim(name, "held" if holds else "contradicted", evidence)


def combine_tries(tries: list[Claim]) -> Claim:
    """Combine several tries of one claim: all must hold."""
    other_claims = sorted((claim for claim in tries if claim.state != "held"), key=lambda claim: claim.state)
    if not other_claims or len(other_claims) == len(tries):
        return (other_claims or tries)[0]
    counts = f"flaky {len(tries) - len(other_claims)}/{len(tries)}"
    return Claim(tries[0].claim, "contradicted", f"{counts}: {other_claims[0].evidence}")


class Certificate(Struct, frozen=True, kw_only=True):
    """All claims about an agent, each with its evidence; `extra_ms` is what a tool call took longer with hookonce."""

    agent: str
    version: str
    date: str
    hookonce: str
    machine: str
    origin: str
    tries: int
    seconds: float
    extra_ms: float | None = None
    claims: list[Claim]


def machine_label() -> str:
    """System, architecture and Python version."""
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"


def count_states(certificate: Certificate) -> dict[ClaimState, int]:
    """Number of claims by state."""
    states = [claim.state for claim in certificate.claims]
    return {state: states.count(state) for state in get_args(ClaimState)}

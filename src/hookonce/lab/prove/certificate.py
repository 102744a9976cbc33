"""Certificates: claims about an agent with their evidence, certificate files, and the powers that they prove.

A claim is held, contradicted, unreachable (needs a person at a terminal) or untried.
"""

import platform
import re
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Literal

from msgspec import Struct
from msgspec.json import decode

from hookonce import agents
from hookonce.agents import canonical_event_of, config_event_of, point_of
from hookonce.agents.certificate_summary import CertificateSummary
from hookonce.lab import drivers
from hookonce.lab.fakes.scenarios import DENIABLE_STEPS
from hookonce.model import Agent

ClaimState = Literal["held", "contradicted", "unreachable", "untried"]


class Claim(Struct, frozen=True):
    """What is claimed, what became of it, and what shows that."""

    claim: str
    state: ClaimState
    evidence: str


def held_claim(name: str, evidence: str) -> Claim:
    """A claim that was tried, and is true."""
    return Claim(name, "held", evidence)


def contradicted_claim(name: str, evidence: str) -> Claim:
    """A claim that was tried, and is not true."""
    return Claim(name, "contradicted", evidence)


def judge_claim(name: str, evidence: str, *, holds: bool) -> Claim:
    """A claim that was tried."""
    return held_claim(name, evidence) if holds else contradicted_claim(name, evidence)


def unreachable_claim(name: str, why: str) -> Claim:
    """A claim that cannot be tried without a person at a terminal, or of which the agent knows nothing."""
    return Claim(name, "unreachable", why)


def untried_claim(name: str, why: str) -> Claim:
    """A claim that nobody has tried."""
    return Claim(name, "untried", why)


def combine_tries(tries: list[Claim]) -> Claim:
    """Combine several tries of one claim: all must hold."""
    held_claims = [claim for claim in tries if claim.state == "held"]
    other_claims = sorted((claim for claim in tries if claim.state != "held"), key=lambda claim: claim.state)
    if held_claims and other_claims:
        return contradicted_claim(tries[0].claim, f"flaky {len(held_claims)}/{len(tries)}: {other_claims[0].evidence}")
    return next(iter(other_claims or held_claims))


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


def median_ms(seconds: list[float]) -> float | None:
    """Median in milliseconds."""
    return round(median(seconds) * 1000, 1) if seconds else None


def count_states(certificate: Certificate) -> dict[ClaimState, int]:
    """Number of claims by state."""
    totals: dict[ClaimState, int] = {"held": 0, "contradicted": 0, "unreachable": 0, "untried": 0}
    for claim in certificate.claims:
        totals[claim.state] += 1
    return totals


def load_certificates(folder: Path) -> list[Certificate]:
    """Load all certificates of a folder, agent by agent, the newest version first."""
    certificates = [decode(file.read_bytes(), type=Certificate) for file in folder.glob("*.json")]
    agent_order = list(drivers.DRIVER_MODULES)
    newest_first = sorted(certificates, key=lambda certificate: version_key(certificate.version), reverse=True)
    return sorted(newest_first, key=lambda certificate: agent_order.index(certificate.agent))


def newest_by_agent(certificates: list[Certificate]) -> dict[str, Certificate]:
    """The certificate of each agent's newest version."""
    newest_certificates: dict[str, Certificate] = {}
    for certificate in certificates:
        current = newest_certificates.get(certificate.agent)
        if current is None or version_key(current.version) < version_key(certificate.version):
            newest_certificates[certificate.agent] = certificate
    return newest_certificates


def version_key(version: str) -> tuple[tuple[int, ...], bool]:
    """Sort key of a version: number by number, prereleases before their release."""
    release, prerelease, _ = version.partition("-")
    return tuple(map(int, re.findall(r"\d+", release))), not prerelease


_TOOL_EVENT = "before_tool_execute"
# Which claims show a power of an event, by our name of it.
_CLAIMS_BY_POWER: dict[str, dict[str, tuple[str, ...]]] = {
    _TOOL_EVENT: {"prevents": tuple(f"deny:{word}" for word in DENIABLE_STEPS), "rewrites": ("rewrite",)},
    "before_prompt": {"prevents": ("prompt",)},
    "agent_stop": {"retries": ("stop",)},
}
_EVENT_GROUPS = ("fires", "context")  # their claims name the event
_GENERAL_GROUPS = ("transparent", "here")
_TYPES_BY_CLAIM = {
    claim: kind for kind, powers in _CLAIMS_BY_POWER.items() for claims in powers.values() for claim in claims
}


def claim_group(claim: str) -> str:
    """Group of a claim: the part before its colon."""
    return claim.partition(":")[0]


def proven_events(certificate: Certificate) -> CertificateSummary:
    """Events and powers of an agent that a certificate proves or contradicts."""
    agent = agents.load(certificate.agent)
    states = {claim.claim: claim.state for claim in certificate.claims}
    fired_events = [
        claim.partition(":")[2] for claim, state in states.items() if claim_group(claim) == "fires" and state == "held"
    ]
    return CertificateSummary(
        version=certificate.version,
        date=certificate.date,
        capabilities_by_event={native: tuple(_proven_powers(agent, native, states)) for native in fired_events},
        failed_claims={claim: _claim_event(agent, claim) for claim, state in states.items() if state == "contradicted"},
    )


def _proven_powers(agent: Agent, native: str, states: Mapping[str, ClaimState]) -> list[str]:
    """The powers that held claims show; of several events of a kind, the one that experiments are about has them."""
    kind = canonical_event_of(agent, native)
    claims_by_power = _CLAIMS_BY_POWER.get(kind, {}) if config_event_of(agent, kind) == native else {}
    powers = [power for power, claims in claims_by_power.items() if _all_hold(claims, states)]
    if "rewrite" not in point_of(agent, native).capabilities:
        powers = [power for power in powers if power != "rewrites"]  # what held is that nothing ran
    return powers + (["context"] if states.get(f"context:{native}") == "held" else [])


def _all_hold(claims: tuple[str, ...], states: Mapping[str, ClaimState]) -> bool:
    """Whether all of these claims hold that can be reached, and there are any; what nobody has asked is not shown."""
    return {states.get(claim) for claim in claims} - {"unreachable"} == {"held"}


def _claim_event(agent: Agent, claim: str) -> str | None:
    """The event that a claim is about; most are about tool calls."""
    if claim_group(claim) in _EVENT_GROUPS:
        return claim.partition(":")[2]
    return (
        None
        if claim_group(claim) in _GENERAL_GROUPS
        else config_event_of(agent, _TYPES_BY_CLAIM.get(claim, _TOOL_EVENT))
    )

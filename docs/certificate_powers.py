"""Certificate files, and the powers of events that they prove."""

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec.json import decode

from hookonce import agents
from hookonce.agents import canonical_event_of, config_event_of, point_of
from hookonce.agents.certificates import CertificateSummary
from hookonce.lab import drivers
from hookonce.lab.fakes.scenarios import DENIABLE_STEPS
from hookonce.lab.prove.certificate import Certificate, ClaimState
from hookonce.model import Agent


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

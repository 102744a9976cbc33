"""A certificate: what was shown of one agent in one version, when, on what, and how often it was tried."""

import platform
from statistics import median

from msgspec import Struct

from hookonce.lab.claim import Claim, ClaimState


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

"""A certificate: what was shown of one agent in one version, when, on what, and how often it was tried."""

import platform
from statistics import median

from msgspec import Struct

from hookonce.lab.claim import Claim, State


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


def machine() -> str:
    """On what it was tried, in short."""
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"


def extra_ms(measured: list[float]) -> float | None:
    """The middle of what was measured, in milliseconds."""
    return round(median(measured) * 1000, 1) if measured else None


def counts(certificate: Certificate) -> dict[State, int]:
    """How many claims are in which state."""
    found: dict[State, int] = {"held": 0, "contradicted": 0, "unreachable": 0, "untried": 0}
    for one in certificate.claims:
        found[one.state] += 1
    return found

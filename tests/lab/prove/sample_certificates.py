"""Certificates that nobody has earned, for tests."""

from hookonce.lab.prove.certificate import Certificate, Claim

DENIALS = [f"deny:{word}" for word in ("shell", "write", "edit", "read", "mcp", "agent")]


def certificate(agent, version="1.2.3", /, *held, **states):
    """A certificate; `states` are lists of claims that have not held."""
    told = {"held": held, **states}
    claims = [Claim(claim, state, "seen by nobody") for state, names in told.items() for claim in names]
    return Certificate(
        agent=agent,
        version=version,
        date="2026-01-02",
        hookonce="0",
        machine="none",
        origin="cache",
        tries=1,
        seconds=0.0,
        claims=claims,
    )

"""Capability policies: what a module asks for is denied, unless a policy grants it and none denies it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from msgspec import Struct

from hookonce.modules.protocol.descriptor import Descriptor

CapabilityVerdict = Literal["grant", "deny"]

# The registered capabilities; modules may want others, which a policy has to grant by their names.
CAPABILITIES = (
    "fs.read",
    "fs.write",
    "fs.temp",
    "net.fetch",
    "net.bind",
    "kv.get",
    "kv.set",
    "secrets.read",
    "exec.spawn",
)


class CapabilityRequest(Struct, frozen=True, kw_only=True):
    """A module's request of one capability for one operation."""

    module: str
    capability: str
    op: str
    session_id: str | None = None


class CapabilityDecision(Struct, frozen=True, kw_only=True):
    """The decision about a capability request; `by` is the policy that decided, None if no policy granted it."""

    is_granted: bool
    by: str | None = None


CapabilityPolicy = Callable[[CapabilityRequest], CapabilityVerdict | None]


def policy_from_grants(grants: Mapping[str, Iterable[str]]) -> CapabilityPolicy:
    """A policy from a table: the capabilities of each module, and under `*` those of all modules."""
    pairs = {(module, capability) for module, capabilities in grants.items() for capability in capabilities}
    return lambda request: "grant" if pairs & {(name, request.capability) for name in (request.module, "*")} else None


def decide_capability(
    request: CapabilityRequest, policies: Iterable[tuple[str, CapabilityPolicy]]
) -> CapabilityDecision:
    """Decide a capability request: one denial is enough, no grant is a denial, a policy that raises denies."""
    granting_policy: str | None = None
    for name, policy in policies:
        try:
            verdict = policy(request)
        except Exception:  # noqa: BLE001  what nobody could judge is not granted
            verdict = "deny"
        if verdict == "deny":
            return CapabilityDecision(is_granted=False, by=name)
        if verdict == "grant" and granting_policy is None:
            granting_policy = name
    return CapabilityDecision(is_granted=granting_policy is not None, by=granting_policy)


def capability_requests(descriptor: Descriptor, op: str, session_id: str | None) -> list[CapabilityRequest]:
    """The capability requests of a module, before it does anything."""
    return [
        CapabilityRequest(module=descriptor.name, capability=capability, op=op, session_id=session_id)
        for capability in dict.fromkeys(descriptor.capabilities)
    ]

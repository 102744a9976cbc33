"""The capability gate: what a module wants to be allowed is denied, unless a policy grants it and none denies it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from msgspec import Struct

from hookonce.modules.descriptor import Descriptor

Verdict = Literal["grant", "deny"]

# The registered capabilities; modules may want others, which somebody has to grant by their names.
CAPABILITIES = {
    "fs.read": "read files",
    "fs.write": "write files",
    "fs.temp": "make temporary files",
    "net.fetch": "send requests over the network",
    "net.bind": "listen on a port",
    "kv.get": "look up values by key",
    "kv.set": "keep values by key",
    "secrets.read": "read named secrets",
    "exec.spawn": "start programs",
}


class Wish(Struct, frozen=True, kw_only=True):
    """A module that wants a capability for an operation."""

    module: str
    capability: str
    op: str
    session_id: str | None = None


class Ruling(Struct, frozen=True, kw_only=True):
    """What became of a wish, and who said so; nobody, if nobody granted it."""

    wish: Wish
    granted: bool
    by: str | None = None


Policy = Callable[[Wish], Verdict | None]


def listed(grants: Mapping[str, Iterable[str]]) -> Policy:
    """The policy of a table: for each module, and under `*` for all of them, the capabilities that it has."""
    known = {name: frozenset(capabilities) for name, capabilities in grants.items()}

    def policy(wish: Wish) -> Verdict | None:
        either = known.get(wish.module, frozenset()) | known.get("*", frozenset())
        return "grant" if wish.capability in either else None

    return policy


def judged(wish: Wish, policies: Iterable[tuple[str, Policy]]) -> Ruling:
    """One who denies is enough; without anybody who grants it is denied. A policy that fails denies."""
    granting: str | None = None
    for name, policy in policies:
        try:
            verdict = policy(wish)
        except Exception:  # noqa: BLE001  what nobody could judge is not granted
            verdict = "deny"
        if verdict == "deny":
            return Ruling(wish=wish, granted=False, by=name)
        if verdict == "grant" and granting is None:
            granting = name
    return Ruling(wish=wish, granted=granting is not None, by=granting)


def wishes(descriptor: Descriptor, op: str, session_id: str | None) -> list[Wish]:
    """Everything that a module wants before it does anything."""
    return [
        Wish(module=descriptor.name, capability=one, op=op, session_id=session_id)
        for one in dict.fromkeys(descriptor.capabilities)
    ]

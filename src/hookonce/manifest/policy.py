"""Policies: what hooks a scope lets run at all. A scope further down may forbid more, and never lift anything."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookonce.config import paths
from hookonce.config.settings import SYSTEM
from hookonce.manifest.degrade import capabilities_of
from hookonce.manifest.discover import Scope
from hookonce.model import Hook
from hookonce.texts import load

_MANAGED = frozenset({"organisation", "system"})
_NAME = "policy.json"


class Policy(Struct, frozen=True, kw_only=True):
    """One scope's policy."""

    path: str
    disable_all_hooks: bool = False
    allow_managed_only: bool = False
    event_restrictions: dict[str, str] = {}
    capability_restrictions: dict[str, str] = {}


def policies(project: Path | None) -> list[Policy]:
    """All policies, highest first; one that cannot be read forbids everything, because nobody knows what it forbids."""
    files = [SYSTEM / _NAME, SYSTEM / "org" / _NAME, paths.configuration() / _NAME]
    if project is not None:
        files.append(project / ".hookonce" / _NAME)
    return [policy for file in files if (policy := _policy(file)) is not None]


def _policy(file: Path) -> Policy | None:
    try:
        found = load(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        return Policy(path=str(file), disable_all_hooks=True)
    if type(found) is not dict:
        return Policy(path=str(file), disable_all_hooks=True)
    return Policy(
        path=str(file),
        disable_all_hooks=found.get("disable_all_hooks") is True,
        allow_managed_only=found.get("allow_managed_only") is True,
        event_restrictions=_words(found.get("event_restrictions")),
        capability_restrictions=_words(found.get("capability_restrictions")),
    )


def _words(value: Any) -> dict[str, str]:
    return {str(name): str(word) for name, word in value.items()} if type(value) is dict else {}


def refusal(hook: Hook, scope: Scope, found: Iterable[Policy]) -> str | None:
    """Why a hook may not run, if it may not: the first policy that says so, in the order of the specification."""
    managed = scope in _MANAGED
    for policy in found:
        if policy.disable_all_hooks:
            return f"all hooks are turned off by {policy.path}"
        if policy.allow_managed_only and not managed:
            return f"only managed hooks may run, says {policy.path}"
        if _forbids(policy.event_restrictions, {hook.event}, managed=managed):
            return f"hooks on {hook.event} are forbidden by {policy.path}"
        if _forbids(policy.capability_restrictions, capabilities_of(hook), managed=managed):
            return f"hooks that need what it needs are forbidden by {policy.path}"
    return None


def _forbids(rules: dict[str, str], names: Iterable[str], *, managed: bool) -> bool:
    words = {rules.get(name, "allow") for name in names}
    return (
        "deny" in words or ("managed_only" in words and not managed) or bool(words - {"allow", "deny", "managed_only"})
    )

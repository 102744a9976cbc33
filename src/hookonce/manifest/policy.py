"""Policies: what hooks a scope lets run at all.

A policy speaks for its own scope and those below it. Further down more may be forbidden, never less; and what stands
above is not theirs to turn off, because a hook that watches is a restriction too.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from hookonce.config import paths, settings
from hookonce.manifest.contents import contents
from hookonce.manifest.degrade import capabilities_of
from hookonce.manifest.discover import FOLDER, SCOPES, Scope, owned
from hookonce.model import Hook, Problem
from hookonce.texts import load

NAME = "policy.json"
_MANAGED = frozenset({"organisation", "system"})
_WORDS = ("allow", "deny", "managed_only")
_SWITCHES = ("disable_all_hooks", "allow_managed_only")
_RULES = ("event_restrictions", "capability_restrictions")
_MOST = 1 << 20  # bytes


class Policy(Struct, frozen=True, kw_only=True):
    """One scope's policy; with a problem it lets nothing run, because nobody knows what it forbids."""

    scope: Scope
    path: str
    disable_all_hooks: bool = False
    allow_managed_only: bool = False
    event_restrictions: Mapping[str, str] = {}
    capability_restrictions: Mapping[str, str] = {}
    problem: str | None = None


class Refused(NamedTuple):
    """Why a hook may not run; `broken` if nobody forbade it and only the policy could not be read."""

    why: str
    broken: bool = False


def policies(project: Path | None) -> list[Policy]:
    """All policies, the highest first."""
    folders: dict[Scope, Path | None] = {
        "system": settings.SYSTEM,
        "organisation": settings.SYSTEM / "org",
        "user": paths.configuration(),
        "project": project and project / FOLDER,
    }
    found = [_policy(folder / NAME, scope) for scope, folder in folders.items() if folder is not None]
    return [policy for policy in found if policy is not None]


def _policy(file: Path, scope: Scope) -> Policy | None:
    try:
        found = load(contents(file, _MOST).decode())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as problem:
        return Policy(scope=scope, path=str(file), problem=str(problem))
    if not owned(file, scope):
        return Policy(scope=scope, path=str(file), problem="others than root can write it")
    problems = problems_of(found)
    if problems:
        return Policy(scope=scope, path=str(file), problem="; ".join(f"{path}: {text}" for path, text in problems))
    known = {name: found[name] for name in (*_SWITCHES, *_RULES) if name in found}
    return Policy(scope=scope, path=str(file), **known)


def problems_of(document: Any) -> list[Problem]:
    """What makes a policy unusable."""
    if type(document) is not dict:
        return [("$", "expected an object")]
    wrong = [
        (f"$.{name}", "expected true or false") for name in _SWITCHES if type(document.get(name, False)) is not bool
    ]
    for field in _RULES:
        rules = document.get(field, {})
        if type(rules) is not dict:
            wrong.append((f"$.{field}", "expected an object"))
            continue
        told = f"expected one of {', '.join(_WORDS)}"
        wrong += [
            (f"$.{field}.{name}", told) for name, word in rules.items() if type(word) is not str or word not in _WORDS
        ]
    return wrong


def warnings_of(document: Any) -> list[Problem]:
    """What a policy says that nobody listens to."""
    names = document if type(document) is dict else ()
    return [
        (f"$.{name}", "is no field of a policy")
        for name in names
        if name[:1] != "$" and name not in (*_SWITCHES, *_RULES)
    ]


def refusal(hook: Hook, scope: Scope, kind: str, found: Iterable[Policy]) -> Refused | None:
    """Why a hook may not run on an event of that kind, if it may not: the first policy that says so."""
    rank = SCOPES.index(scope)
    above = (policy for policy in found if SCOPES.index(policy.scope) >= rank)
    return next((why for policy in above if (why := _refusal(policy, hook, scope, kind)) is not None), None)


def _refusal(policy: Policy, hook: Hook, scope: Scope, kind: str) -> Refused | None:
    """One policy, in the order of the specification."""
    managed = scope in _MANAGED
    if policy.problem is not None:
        return Refused(f"{policy.path} cannot be used ({policy.problem})", broken=True)
    if policy.disable_all_hooks:
        return Refused(f"{policy.path} turns all hooks off")
    if policy.allow_managed_only and not managed:
        return Refused(f"{policy.path} lets only managed hooks run")
    for name in sorted({hook.event, kind}):
        if _forbids(policy.event_restrictions.get(name), managed=managed):
            return Refused(f"{policy.path} forbids hooks on {name}")
    for name in sorted(capabilities_of(hook)):
        if _forbids(policy.capability_restrictions.get(name), managed=managed):
            return Refused(f"{policy.path} forbids hooks that need {name}")
    return None


def _forbids(word: str | None, *, managed: bool) -> bool:
    return word == "deny" or (word == "managed_only" and not managed)

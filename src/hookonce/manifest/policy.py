"""Hook policies: which hooks a scope lets run at all.

A policy speaks for its own scope and those below it. Further down more may be forbidden, never less; and what
stands above is not theirs to turn off, because a hook that watches is a restriction too.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookonce.base import paths, settings
from hookonce.base.files import read_regular_file
from hookonce.base.jsontext import load
from hookonce.manifest.discover import PROJECT_FOLDER, SCOPES, Scope, has_safe_owner
from hookonce.model import Hook, Problem

POLICY_FILE = "policy.json"
_MANAGED_SCOPES = frozenset({"organisation", "system"})
_RESTRICTIONS = ("allow", "deny", "managed_only")
_SWITCH_FIELDS = ("disable_all_hooks", "allow_managed_only")
_RULE_FIELDS = ("event_restrictions", "capability_restrictions")
POLICY_FIELDS = (*_SWITCH_FIELDS, *_RULE_FIELDS)
_MAX_POLICY_BYTES = 1 << 20  # bytes


class Policy(Struct, frozen=True, kw_only=True):
    """One scope's policy; with a problem it lets nothing run, because nobody knows what it forbids."""

    scope: Scope
    path: str
    disable_all_hooks: bool = False
    allow_managed_only: bool = False
    event_restrictions: Mapping[str, str] = {}
    capability_restrictions: Mapping[str, str] = {}
    problem: str | None = None


class PolicyRefusal(Struct, frozen=True):
    """Why a policy refuses a hook; `is_unreadable` if nobody forbade it and only the policy could not be read."""

    why: str
    is_unreadable: bool = False


def load_policies(project: Path | None) -> list[Policy]:
    """All policies, the highest first."""
    folders: dict[Scope, Path | None] = {
        "system": settings.SYSTEM,
        "organisation": settings.SYSTEM / "org",
        "user": paths.config_dir(),
        "project": project and project / PROJECT_FOLDER,
    }
    files = {scope: folder / POLICY_FILE for scope, folder in folders.items() if folder is not None}
    return [policy for scope, file in files.items() if (policy := _load_policy(file, scope)) is not None]


def _load_policy(file: Path, scope: Scope) -> Policy | None:
    policy = partial(Policy, scope=scope, path=str(file))
    try:
        document = load(read_regular_file(file, _MAX_POLICY_BYTES).decode())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as problem:
        return policy(problem=str(problem))
    if not has_safe_owner(file, scope):
        return policy(problem="users other than root can write it")
    if problems := find_policy_problems(document):
        return policy(problem="; ".join(f"{path}: {text}" for path, text in problems))
    return policy(**{name: document[name] for name in POLICY_FIELDS if name in document})


def find_policy_problems(document: Any) -> list[Problem]:
    """What makes a policy unusable."""
    if type(document) is not dict:
        return [("$", "expected an object")]
    faulty = [name for name in _SWITCH_FIELDS if type(document.get(name, False)) is not bool]
    problems = [(f"$.{name}", "expected true or false") for name in faulty]
    for field in _RULE_FIELDS:
        if type(rules := document.get(field, {})) is not dict:
            problems.append((f"$.{field}", "expected an object"))
            continue
        faulty = [name for name, word in rules.items() if type(word) is not str or word not in _RESTRICTIONS]
        problems += [(f"$.{field}.{name}", f"expected one of {', '.join(_RESTRICTIONS)}") for name in faulty]
    return problems


def find_policy_warnings(document: Any) -> list[Problem]:
    """What a policy says that nobody listens to."""
    names = document if type(document) is dict else ()
    unknown = [name for name in names if name[:1] != "$" and name not in POLICY_FIELDS]
    return [(f"$.{name}", "is not a field of a policy") for name in unknown]


def find_refusal(hook: Hook, scope: Scope, kind: str, policies: Iterable[Policy]) -> PolicyRefusal | None:
    """Why a hook may not run on an event of that kind, if it may not: the first policy that says so."""
    rank = SCOPES.index(scope)
    above = (policy for policy in policies if SCOPES.index(policy.scope) >= rank)
    return next((why for policy in above if (why := _refusal_by(policy, hook, scope, kind)) is not None), None)


def _refusal_by(policy: Policy, hook: Hook, scope: Scope, kind: str) -> PolicyRefusal | None:
    """One policy, in the order of the specification."""
    forbidding_words = ("deny",) if scope in _MANAGED_SCOPES else ("deny", "managed_only")
    if policy.problem is not None:
        return PolicyRefusal(f"{policy.path} cannot be used ({policy.problem})", is_unreadable=True)
    if policy.disable_all_hooks:
        return PolicyRefusal(f"{policy.path} turns all hooks off")
    if policy.allow_managed_only and scope not in _MANAGED_SCOPES:
        return PolicyRefusal(f"{policy.path} lets only managed hooks run")
    for name in sorted({hook.event, kind}):
        if policy.event_restrictions.get(name) in forbidding_words:
            return PolicyRefusal(f"{policy.path} forbids hooks on {name}")
    from hookonce.manifest.degrade import capabilities_of  # most users have no policy

    for name in sorted(capabilities_of(hook)):
        if policy.capability_restrictions.get(name) in forbidding_words:
            return PolicyRefusal(f"{policy.path} forbids hooks that need {name}")
    return None

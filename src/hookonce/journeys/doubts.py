"""What in a manifest is probably a slip: words that nobody reads, and dialects that nobody speaks."""

from collections.abc import Collection, Iterator
from typing import Any

from hookonce.agents import AGENTS
from hookonce.canon.names import AGENT_ALIASES
from hookonce.canon.spelling import near
from hookonce.formats import FORMATS
from hookonce.invocation import CANONICAL
from hookonce.manifest.fields import HANDLER, HOOK
from hookonce.model import Problem

_KEYS = frozenset({"spec", "hooks"})
_HOOK = frozenset(HOOK) | {"event", "matcher", "handler"}
_HANDLER = frozenset(HANDLER) | {"type"}
_OWN = ("$", "x-", "x_")  # keys that say of themselves that they are somebody's own
_DIALECTS = frozenset(AGENTS) | frozenset(AGENT_ALIASES) | frozenset(FORMATS) | {CANONICAL}


def doubts_of(document: Any) -> Iterator[Problem]:
    """Every word of a manifest that does nothing, with its place."""
    yield from _strange(document, _KEYS, "$", "a manifest")
    hooks = document.get("hooks") if type(document) is dict else None
    for index, hook in enumerate(hooks if type(hooks) is list else []):
        path = f"$.hooks[{index}]"
        yield from _strange(hook, _HOOK, path, "a hook")
        if type(hook) is dict:
            yield from _strange(hook.get("handler"), _HANDLER, f"{path}.handler", "a handler")
            yield from _dialect(hook.get("dialect"), f"{path}.dialect")


def _strange(given: Any, known: Collection[str], path: str, what: str) -> Iterator[Problem]:
    for key in given if type(given) is dict else ():
        if key not in known and not key.startswith(_OWN):
            yield f"{path}.{key}", f"{what} has no such key, it does nothing{near(key, known)}"


def _dialect(name: Any, path: str) -> Iterator[Problem]:
    if type(name) is str and name not in _DIALECTS:
        yield path, f"nobody speaks the dialect {name!r}, the hook would fail{near(name, _DIALECTS)}"

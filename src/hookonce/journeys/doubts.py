"""Checks of a manifest's words: keys that nobody reads, dialects that nobody speaks, events that no agent calls."""

from collections.abc import Collection, Iterator
from typing import Any

from hookonce.agents import AGENTS
from hookonce.canon.names import AGENT_ALIASES
from hookonce.canon.spelling import suggest_name
from hookonce.formats import FORMATS
from hookonce.invocation import CANONICAL_DIALECT
from hookonce.manifest.fields import HANDLER_FIELDS, HOOK_FIELDS
from hookonce.model import Problem

_MANIFEST_KEYS = frozenset({"spec", "hooks"})
_HOOK_KEYS = frozenset(HOOK_FIELDS) | {"event", "matcher", "handler"}
_HANDLER_KEYS = frozenset(HANDLER_FIELDS) | {"type"}
_EXTENSION_PREFIXES = ("$", "x-", "x_")  # keys that say of themselves that they are somebody's own
_DIALECTS = frozenset(AGENTS) | frozenset(AGENT_ALIASES) | frozenset(FORMATS) | {CANONICAL_DIALECT}


def unknown_words(document: Any) -> Iterator[Problem]:
    """Every word of a manifest that does nothing, with its path."""
    yield from _unknown_keys(document, _MANIFEST_KEYS, "$", "a manifest")
    hooks = document.get("hooks") if type(document) is dict else None
    for index, hook in enumerate(hooks if type(hooks) is list else []):
        path = f"$.hooks[{index}]"
        yield from _unknown_keys(hook, _HOOK_KEYS, path, "a hook")
        if type(hook) is dict:
            yield from _unknown_keys(hook.get("handler"), _HANDLER_KEYS, f"{path}.handler", "a handler")
            yield from _unknown_dialect(hook.get("dialect"), f"{path}.dialect")


def _unknown_keys(node: Any, known_keys: Collection[str], path: str, owner: str) -> Iterator[Problem]:
    for key in node if type(node) is dict else ():
        if key not in known_keys and not key.startswith(_EXTENSION_PREFIXES):
            yield f"{path}.{key}", f"{owner} has no such key, it does nothing{suggest_name(key, known_keys)}"


def _unknown_dialect(name: Any, path: str) -> Iterator[Problem]:
    if type(name) is str and name not in _DIALECTS:
        yield path, f"nobody speaks the dialect {name!r}, the hook would fail{suggest_name(name, _DIALECTS)}"

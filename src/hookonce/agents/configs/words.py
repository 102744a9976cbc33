"""Words in matchers that mean more to an agent than the names in its table: aliases, and parts of names.

An agent says what such a word means by a function from the word to parts of a canonical matcher.
"""

import re
from collections.abc import Callable

from msgspec.structs import replace

from hookonce.agents.configs.entry import own_keys, own_place, provider_data, warned
from hookonce.agents.configs.grouped import TOOL_EVENTS
from hookonce.agents.configs.matcher import from_native, to_native
from hookonce.canon.arguments import ARGUMENTS
from hookonce.model import Agent, Gap, Hook, Json

Meaning = Callable[[str], list[Json]]


def itself(word: str) -> list[Json]:
    """Where words have no second meaning."""
    return [word]


def understood(agent: Agent, hook: Hook, meaning: Meaning) -> Hook:
    """A hook as it was read, its words in canonical ones; what was written stays known."""
    matcher = _told(hook, meaning)
    if matcher == hook.matcher:
        return hook
    place = {"matcher": to_native(agent, hook.matcher)} | own_place(agent, hook)
    kept = hook.provider_data | provider_data(agent, own_keys(agent, hook), place)
    return replace(hook, matcher=matcher, provider_data=kept)


def _read(agent: Agent, hook: Hook, text: str, meaning: Meaning) -> Json:
    return _told(replace(hook, matcher=from_native(agent, text)), meaning)


def as_written(agent: Agent, hook: Hook, meaning: Meaning) -> Hook:
    """A hook to be written, with the words that it once had there if they still mean what it says."""
    text = own_place(agent, hook).get("matcher")
    if type(text) is not str or hook.event not in TOOL_EVENTS:
        return hook
    same = _read(agent, hook, text, meaning) == hook.matcher
    return replace(hook, matcher=from_native(agent, text)) if same else hook


def anchored(agent: Agent, hook: Hook) -> Hook:
    """A hook for an agent that looks for words anywhere in a name: one that is no tool's must be all of it."""

    def whole(word: str) -> list[Json]:
        return [word if word in agent.tools else {"pattern": f"^{re.escape(word)}$"}]

    return hook if _is_own(agent, hook) else replace(hook, matcher=_told(hook, whole))


def misread(agent: Agent, hooks: list[tuple[int, Hook]], meaning: Meaning = itself) -> list[Gap]:
    """A gap for each hook whose matcher has a word of nobody's that the agent takes for something."""
    found = ((index, hook, _why(agent, hook, meaning)) for index, hook in hooks if hook.event in TOOL_EVENTS)
    return [warned(agent, index, hook, "matcher", why) for index, hook, why in found if why is not None]


def _why(agent: Agent, hook: Hook, meaning: Meaning) -> str | None:
    words = [] if _is_own(agent, hook) else [part for part in _listed(hook.matcher) if type(part) is str]
    strange = [word for word in words if word not in ARGUMENTS and word not in agent.tools]
    odd = (word for word in strange if _read(agent, hook, word, meaning) != word)
    return next((f"{word} means something of its own to {agent.title}" for word in odd), None)


def _is_own(agent: Agent, hook: Hook) -> bool:
    """Whether the hook's matcher is what stood in the agent's own file."""
    text = own_place(agent, hook).get("matcher")
    return type(text) is str and hook.matcher == from_native(agent, text)


def _told(hook: Hook, meaning: Meaning) -> Json:
    """The matcher of a hook with every word that is no canonical tool replaced by what it means."""
    if hook.event not in TOOL_EVENTS or hook.matcher is None:
        return hook.matcher
    parts = [_meant(part, meaning) for part in _listed(hook.matcher)]
    told = [part for found in parts for part in found]
    kept = [part for index, part in enumerate(told) if part not in told[:index]]
    return kept[0] if len(kept) == 1 else kept


def _meant(part: Json, meaning: Meaning) -> list[Json]:
    return meaning(part) if type(part) is str and part not in ARGUMENTS else [part]


def _listed(matcher: Json) -> list[Json]:
    return matcher if type(matcher) is list else [matcher]

"""Tool name aliases in matchers: words that mean more to an agent than the names in its table, and parts of names."""

import re
from collections.abc import Callable

from msgspec.structs import replace

from hookonce.agents._config.events import IndexedHooks
from hookonce.agents._config.gaps import warning_gap
from hookonce.agents._config.matchers.alternation import ALTERNATION, from_native, to_native
from hookonce.agents._config.matchers.dialect import TOOL_EVENTS, reusable_matcher
from hookonce.agents._config.matchers.parts import join_parts, parts_of
from hookonce.agents._config.provider_data import own_keys, own_matcher, placement_of, with_provider_data
from hookonce.model import Agent, Gap, Hook, Json
from hookonce.vocabulary.tools import ARGUMENTS

WordMeaning = Callable[[str], list[Json]]


def canonicalize_words(agent: Agent, hook: Hook, meaning: WordMeaning) -> Hook:
    """A parsed hook with alias words replaced by canonical tools; the native text stays in its placement."""
    matcher = _replace_words(hook, hook.matcher, meaning)
    if matcher == hook.matcher:
        return hook
    placement = {"matcher": to_native(agent, hook.matcher)} | placement_of(agent, hook)
    return with_provider_data(agent, replace(hook, matcher=matcher), own_keys(agent, hook), placement)


def restore_native_words(agent: Agent, hook: Hook, meaning: WordMeaning) -> Hook:
    """A hook to be rendered, with the native words that it once had if they still mean what it says."""
    text = own_matcher(agent, hook)
    if text is None or hook.event not in TOOL_EVENTS:
        return hook
    matcher = from_native(agent, text)
    return replace(hook, matcher=matcher) if _replace_words(hook, matcher, meaning) == hook.matcher else hook


def anchor_words(agent: Agent, hook: Hook) -> Hook:
    """A hook for an agent that searches words anywhere in a name: a word that is no tool's is anchored."""

    def whole(word: str) -> list[Json]:
        return [word if word in agent.tools else {"pattern": f"^{re.escape(word)}$"}]

    has_own_matcher = reusable_matcher(ALTERNATION, agent, hook) is not None
    return hook if has_own_matcher else replace(hook, matcher=_replace_words(hook, hook.matcher, whole))


def misread_word_gaps(agent: Agent, hooks: IndexedHooks, meaning: WordMeaning = lambda word: [word]) -> list[Gap]:
    """A gap for each hook whose matcher has a word that the agent takes for something else."""
    words = [(index, hook, _misread_word(agent, hook, meaning)) for index, hook in hooks if hook.event in TOOL_EVENTS]
    note = f"means something of its own to {agent.title}"
    return [warning_gap(agent, index, hook, "matcher", f"{word} {note}") for index, hook, word in words if word]


def _misread_word(agent: Agent, hook: Hook, meaning: WordMeaning) -> str | None:
    if reusable_matcher(ALTERNATION, agent, hook) is not None:
        return None
    words = (part for part in parts_of(hook.matcher) if type(part) is str)
    unknown = (word for word in words if word not in ARGUMENTS and word not in agent.tools)
    return next((word for word in unknown if _replace_words(hook, from_native(agent, word), meaning) != word), None)


def _replace_words(hook: Hook, matcher: Json, meaning: WordMeaning) -> Json:
    if hook.event not in TOOL_EVENTS or matcher is None:
        return matcher
    words = (meaning(part) if type(part) is str and part not in ARGUMENTS else [part] for part in parts_of(matcher))
    return join_parts(part for parts in words for part in parts)

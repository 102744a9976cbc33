"""Tool name aliases in matchers: words that mean more to an agent than the names in its table, and parts of names.

An agent says what such a word means by a function from the word to parts of a canonical matcher.
"""

import re
from collections.abc import Callable

from msgspec.structs import replace

from hookonce.agents._config.entry import build_provider_data, own_keys, placement_of, warning_gap
from hookonce.agents._config.groups import TOOL_EVENTS
from hookonce.agents._config.matchers.canonical import from_native, to_native
from hookonce.model import Agent, Gap, Hook, Json
from hookonce.vocabulary.tools import ARGUMENTS

WordMeaning = Callable[[str], list[Json]]


def identity_meaning(word: str) -> list[Json]:
    """The meaning function of agents whose words have no second meaning."""
    return [word]


def canonicalize_words(agent: Agent, hook: Hook, meaning: WordMeaning) -> Hook:
    """A parsed hook with alias words replaced by canonical tools; the native text stays in its placement."""
    matcher = _replace_words(hook, meaning)
    if matcher == hook.matcher:
        return hook
    placement = {"matcher": to_native(agent, hook.matcher)} | placement_of(agent, hook)
    data = hook.provider_data | build_provider_data(agent, own_keys(agent, hook), placement)
    return replace(hook, matcher=matcher, provider_data=data)


def _canonical_matcher(agent: Agent, hook: Hook, text: str, meaning: WordMeaning) -> Json:
    return _replace_words(replace(hook, matcher=from_native(agent, text)), meaning)


def restore_native_words(agent: Agent, hook: Hook, meaning: WordMeaning) -> Hook:
    """A hook to be rendered, with the native words that it once had if they still mean what it says."""
    text = placement_of(agent, hook).get("matcher")
    if type(text) is not str or hook.event not in TOOL_EVENTS:
        return hook
    same = _canonical_matcher(agent, hook, text, meaning) == hook.matcher
    return replace(hook, matcher=from_native(agent, text)) if same else hook


def anchor_words(agent: Agent, hook: Hook) -> Hook:
    """A hook for an agent that searches words anywhere in a name: a word that is no tool's is anchored."""

    def whole(word: str) -> list[Json]:
        return [word if word in agent.tools else {"pattern": f"^{re.escape(word)}$"}]

    return hook if _is_own_matcher(agent, hook) else replace(hook, matcher=_replace_words(hook, whole))


def misread_word_gaps(
    agent: Agent, hooks: list[tuple[int, Hook]], meaning: WordMeaning = identity_meaning
) -> list[Gap]:
    """A gap for each hook whose matcher has a word that the agent takes for something else."""
    findings = (
        (index, hook, _explain_misreading(agent, hook, meaning)) for index, hook in hooks if hook.event in TOOL_EVENTS
    )
    return [warning_gap(agent, index, hook, "matcher", why) for index, hook, why in findings if why is not None]


def _explain_misreading(agent: Agent, hook: Hook, meaning: WordMeaning) -> str | None:
    words = [] if _is_own_matcher(agent, hook) else [part for part in _as_list(hook.matcher) if type(part) is str]
    unknown_words = [word for word in words if word not in ARGUMENTS and word not in agent.tools]
    ambiguous_words = (word for word in unknown_words if _canonical_matcher(agent, hook, word, meaning) != word)
    return next((f"{word} means something of its own to {agent.title}" for word in ambiguous_words), None)


def _is_own_matcher(agent: Agent, hook: Hook) -> bool:
    text = placement_of(agent, hook).get("matcher")
    return type(text) is str and hook.matcher == from_native(agent, text)


def _replace_words(hook: Hook, meaning: WordMeaning) -> Json:
    if hook.event not in TOOL_EVENTS or hook.matcher is None:
        return hook.matcher
    part_lists = [_part_meanings(part, meaning) for part in _as_list(hook.matcher)]
    all_parts = [part for part_list in part_lists for part in part_list]
    distinct = [part for index, part in enumerate(all_parts) if part not in all_parts[:index]]
    return distinct[0] if len(distinct) == 1 else distinct


def _part_meanings(part: Json, meaning: WordMeaning) -> list[Json]:
    return meaning(part) if type(part) is str and part not in ARGUMENTS else [part]


def _as_list(matcher: Json) -> list[Json]:
    return matcher if type(matcher) is list else [matcher]

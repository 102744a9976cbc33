"""Subject matchers: matchers at events that are about no tool, as on the source of a session, from agent to agent."""

import re

from hookonce.agents._config.gaps import warning_gap
from hookonce.agents._config.provider_data import add_placement, native_event_of, own_matcher
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, Gap, Hook

# values that agents share; of any other subject each agent has values of its own
_SHARED_VALUES = {
    "source": frozenset({"startup", "resume", "clear", "compact", "fork"}),
    "trigger": frozenset({"manual", "auto"}),
}
_WORD_LIST = lazy_pattern(r"(?:\^?\(([\w|-]+)\)\$?|\^([\w-]+)\$|([\w|-]+))")


def carry_subject_matcher(source: Agent, target: Agent, hook: Hook) -> Hook | None:
    """The hook with its source's matcher in the target's words; None if the target cannot be told it."""
    subject, target_subject = _subject_of(source, hook), _subject_of(target, hook)
    match = _WORD_LIST.fullmatch(own_matcher(source, hook) or "")
    if subject is None or target_subject is None or match is None or subject[0] != target_subject[0]:
        return None
    words = [word for word in (match[1] or match[2] or match[3]).split("|") if word]
    values = _SHARED_VALUES.get(subject[0])
    if not words or (values is not None and not values.issuperset(words)):
        return None
    if values is None and subject[1] == "pattern" and match[3]:
        return None  # part of a name, which no list of names says
    target_text = _write_words(words, target_subject[1])
    return None if target_text is None else add_placement(target, hook, {"matcher": target_text})


def subject_gaps(source: Agent, target: Agent, index: int, hook: Hook) -> list[Gap]:
    """A gap for a matcher on names that each agent chooses for itself."""
    subject = _subject_of(target, hook)
    if subject is None or subject[0] in _SHARED_VALUES:
        return []
    text = own_matcher(target, hook)
    why = f"it runs only for {text!r}, a name that {source.title} uses and {target.title} may not"
    return [warning_gap(target, index, hook, "matcher", why, effect="observes")]


def _subject_of(agent: Agent, hook: Hook) -> tuple[str, str] | None:
    return agent.config.subjects.get(native_event_of(agent, hook) or "")


def _write_words(words: list[str], style: str) -> str | None:
    """Words as a matcher of a style: a list of names, a pattern that looks anywhere, one for the whole, or one name."""
    if style == "exact":
        return words[0] if len(words) == 1 else None
    text = "|".join(words)
    is_plain = style == "full" or (style == "list" and re.fullmatch(r"[A-Za-z0-9_|]+", text))
    return text if is_plain else f"^({text})$"

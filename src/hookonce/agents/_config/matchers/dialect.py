"""Matcher dialects: how an agent writes and reads a matcher, and the rules that are the same for all of them.

There are four: names and patterns joined by a bar (`alternation`), a JavaScript regex that is searched (`js_regex`),
a regex that must fit a whole name (`full_match`), and Kiro's, on names of its own. Generated code has none of them; it
filters by a list of tools (`tool_list`).
"""

from collections.abc import Callable
from typing import NamedTuple

from hookonce.agents._config.gaps import lost_gap, no_tool_gap
from hookonce.agents._config.matchers.reachability import fits_known_tools, reachability_gaps
from hookonce.agents._config.provider_data import own_matcher
from hookonce.model import Agent, Gap, Hook, Json

TOOL_EVENTS = frozenset(
    ("before_tool_execute", "after_tool_execute", "tool_use_failure", "permission_request", "permission_denied")
)


class MatcherDialect(NamedTuple):
    """A way to write matchers.

    `write` gives the text of a canonical matcher (None for every tool) and what the text does not say; `read` is the
    way back. `unwritable` says why there is no text where one was needed.
    """

    write: Callable[[Agent, Json], tuple[str | None, list[str]]]
    read: Callable[[Agent, str], Json]
    unwritable: str | None = None


def is_exact(dialect: MatcherDialect, agent: Agent, matcher: Json, text: str) -> bool:
    """Whether a matcher is written as that text, and all of it is said by it."""
    return dialect.write(agent, matcher) == (text, []) and fits_known_tools(agent, matcher)


def write_matcher(dialect: MatcherDialect, agent: Agent, index: int, hook: Hook) -> tuple[str | None, list[Gap]]:
    """The text of a hook's matcher and the gaps of what it does not say; the hook may be lost by it."""
    if hook.event not in TOOL_EVENTS:
        return None, [no_tool_gap(agent, index, hook)]
    text, losses = dialect.write(agent, hook.matcher)
    if text is None and dialect.unwritable is not None:
        return None, [lost_gap(index, hook, "matcher", dialect.unwritable)]
    return text, reachability_gaps(agent, index, hook, losses)


def kept_matcher(dialect: MatcherDialect, agent: Agent, hook: Hook) -> str | None:
    """The text that a hook came with, while it means what the hook says; at other events it is about no tool."""
    text = own_matcher(agent, hook)
    is_same = text is not None and hook.matcher == (dialect.read(agent, text) if hook.event in TOOL_EVENTS else None)
    return text if is_same else None

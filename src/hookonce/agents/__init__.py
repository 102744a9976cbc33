"""Registry of the coding agents, one package each. `AGENTS` is the only list of them; packages load lazily."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from hookonce.agents._config.points import (
    canonical_event_of,
    config_event_of,
    config_events,
    entry_timeout,
    point,
    point_of,
)
from hookonce.agents._decode.decoder import decode, normalize
from hookonce.agents._decode.tool_calls import canonical_tool_name, native_arguments, native_tool
from hookonce.agents._reply.answer import DEFAULT_REASON
from hookonce.errors import UnknownName
from hookonce.model import Agent
from hookonce.vocabulary.names import AGENT_ALIASES

if TYPE_CHECKING:
    from hookonce.agents._config.gaps import lost_gap
    from hookonce.agents._config.matchers.alternation import canonicalize_matcher, explain_narrowing
    from hookonce.agents._config.matchers.subject import carry_subject_matcher, subject_gaps
    from hookonce.agents._config.provider_data import placement_of
    from hookonce.agents._decode.encoder import encode, native_event
    from hookonce.agents._decode.input_rewrite import rewrite_input, translate_rewrite

__all__ = [
    "AGENTS",
    "DEFAULT_REASON",
    "canonical_event_of",
    "canonical_tool_name",
    "canonicalize_matcher",
    "carry_subject_matcher",
    "config_event_of",
    "config_events",
    "decode",
    "encode",
    "entry_timeout",
    "explain_narrowing",
    "load",
    "load_all",
    "lost_gap",
    "native_arguments",
    "native_event",
    "native_tool",
    "normalize",
    "placement_of",
    "point",
    "point_of",
    "reports_session_end",
    "reports_session_start",
    "rewrite_input",
    "subject_gaps",
    "translate_rewrite",
]

# Names whose modules are imported when they are first used: most calls neither configure an agent nor write a payload.
_HOMES = {
    "lost_gap": "_config.gaps",
    "canonicalize_matcher": "_config.matchers.alternation",
    "explain_narrowing": "_config.matchers.alternation",
    "carry_subject_matcher": "_config.matchers.subject",
    "subject_gaps": "_config.matchers.subject",
    "placement_of": "_config.provider_data",
    "encode": "_decode.encoder",
    "native_event": "_decode.encoder",
    "rewrite_input": "_decode.input_rewrite",
    "translate_rewrite": "_decode.input_rewrite",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'hookonce.agents' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"hookonce.agents.{_HOMES[name]}"), name)
    return value


AGENTS: dict[str, str] = {
    "amp": "amp",
    "antigravity": "antigravity",
    "augment": "augment",
    "claude-code": "claude_code",
    "cline": "cline",
    "codex": "codex",
    "copilot-cli": "copilot_cli",
    "cursor": "cursor",
    "devin": "devin",
    "factory-droid": "factory_droid",
    "gemini-cli": "gemini_cli",
    "kiro": "kiro",
    "opencode": "opencode",
    "qwen-code": "qwen_code",
    "vs-code-copilot": "vs_code_copilot",
    "windsurf": "windsurf",
}


@cache
def load(name: str) -> Agent:
    """The agent of that name or alias; its package is imported on the first call."""
    module = AGENTS.get(AGENT_ALIASES.get(name, name))
    if module is None:
        raise UnknownName(f"no agent is called {name!r}; `hookonce agents` lists them")
    agent: Agent = import_module(f"hookonce.agents.{module}.agent").AGENT
    return agent


def load_all() -> list[Agent]:
    """Every agent, in the order of the list."""
    return [load(name) for name in AGENTS]


@cache
def reports_session_start(name: str) -> bool:
    """Whether an agent reports session starts with the hooks that are installed by default."""
    try:
        agent = load(name)
    except UnknownName:
        return False
    starts = [native for native in config_events(agent) if canonical_event_of(agent, native) == "session_start"]
    return any(point_of(agent, native).install == "default" for native in starts)


@cache
def reports_session_end(name: str) -> bool:
    """Whether an agent always reports the end of a session; an unknown one may."""
    try:
        agent = load(name)
    except UnknownName:
        return True
    return agent.ends == "told" and "session_end" in {canonical_event_of(agent, name) for name in config_events(agent)}

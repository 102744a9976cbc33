"""Registry of the coding agents, one package each. `AGENTS` is the only list of them; packages load lazily."""

from functools import cache
from importlib import import_module

from hookonce.agents._base import decode, normalize
from hookonce.agents._encode import encode, native_event
from hookonce.agents._rewrite import translate_rewrite, rewrite_input
from hookonce.agents._tool import TOOL_END_EVENTS, native_arguments
from hookonce.agents.configs.entry import config_of, placement_of
from hookonce.agents.configs.picked import canonicalize_matcher, explain_narrowing
from hookonce.agents.configs.point import canonical_event_of, config_event_of, config_events, point_of
from hookonce.canon.names import AGENT_ALIASES
from hookonce.errors import UnknownName
from hookonce.model import Agent

__all__ = [
    "AGENTS",
    "TOOL_END_EVENTS",
    "canonicalize_matcher",
    "config_of",
    "decode",
    "encode",
    "canonical_event_of",
    "load",
    "explain_narrowing",
    "native_arguments",
    "native_event",
    "config_event_of",
    "config_events",
    "normalize",
    "placement_of",
    "point_of",
    "translate_rewrite",
    "rewrite_input",
]

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
    agent: Agent = import_module(f"hookonce.agents.{module}").AGENT
    return agent

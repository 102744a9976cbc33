"""The coding agents, one file each. This map is the only list of them."""

from functools import cache
from importlib import import_module

from hookonce.agents._base import decode, normalize
from hookonce.agents._encode import encode, native_event
from hookonce.agents._rewrite import retold, rewritten
from hookonce.agents._tool import ENDS, native_arguments
from hookonce.agents.configs.entry import config_of, own_place
from hookonce.agents.configs.picked import canonical_pattern, narrowed
from hookonce.agents.configs.point import kind_of, native_of, natives, point_of
from hookonce.canon.names import AGENT_ALIASES
from hookonce.errors import UnknownName
from hookonce.model import Agent

__all__ = [
    "AGENTS",
    "ENDS",
    "canonical_pattern",
    "config_of",
    "decode",
    "encode",
    "kind_of",
    "load",
    "narrowed",
    "native_arguments",
    "native_event",
    "native_of",
    "natives",
    "normalize",
    "own_place",
    "point_of",
    "retold",
    "rewritten",
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
    """The agent of that name or alias; its file is read on the first call."""
    module = AGENTS.get(AGENT_ALIASES.get(name, name))
    if module is None:
        raise UnknownName(f"no agent is called {name!r}; `hookonce agents` lists them")
    agent: Agent = import_module(f"hookonce.agents.{module}").AGENT
    return agent

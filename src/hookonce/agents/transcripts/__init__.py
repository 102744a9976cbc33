"""Transcript readers: session files of agents, parsed into model calls, tool calls, compactions and token usage."""

from functools import cache
from importlib import import_module

from hookonce.agents.transcripts.accumulator import TranscriptReader
from hookonce.vocabulary.names import AGENT_ALIASES

TRANSCRIPTS: dict[str, str] = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini-cli": "gemini_cli",
}


@cache
def load(name: str) -> TranscriptReader | None:
    """The transcript reader of that agent, None for an agent whose session files cannot be read."""
    module = TRANSCRIPTS.get(AGENT_ALIASES.get(name, name))
    if module is None:
        return None
    reader: TranscriptReader = import_module(f"hookonce.agents.{module}.transcript").READER
    return reader

"""Transcript readers: session files of agents, parsed into model calls, tool calls, compactions and token usage."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec

from hookonce.agents import AGENTS
from hookonce.agents.transcripts.accumulator import TranscriptReader
from hookonce.vocabulary.names import AGENT_ALIASES


@cache
def load(name: str) -> TranscriptReader | None:
    """The reader in `transcript.py` of that agent's package; None for an agent whose session files cannot be read."""
    package = AGENTS.get(AGENT_ALIASES.get(name, name))
    module = f"hookonce.agents.{package}.transcript"
    if package is None or find_spec(module) is None:
        return None
    reader: TranscriptReader = import_module(module).READER
    return reader

"""Marks: what a prompt holds so that the scripted model knows which scenario is played, by whom and where."""

import re
from urllib.parse import quote, unquote

_PATTERN = re.compile(r"\[\[hookonce scenario=([\w-]+) agent=([\w-]+) dir=([^\]\s]+)\]\]")


def mark(scenario: str, agent: str, folder: str) -> str:
    """What a prompt has to hold so that the model plays a scenario."""
    return f"[[hookonce scenario={scenario} agent={agent} dir={quote(folder, safe='/{}')}]]"


def prompt(scenario: str, agent: str, folder: str) -> str:
    """A prompt that has the model play a scenario."""
    return f"Please go on. {mark(scenario, agent, folder)}"


def marks(text: str) -> list[tuple[str, str, str]]:
    """The marks in a text: scenario, agent and folder of each."""
    return [(found[1], found[2], unquote(found[3])) for found in _PATTERN.finditer(text)]

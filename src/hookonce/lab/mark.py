"""Marks: what a prompt holds so that the scripted model knows which scenario is played, by whom and where."""

import re
from urllib.parse import quote, unquote

_MARKER_PATTERN = re.compile(r"\[\[hookonce scenario=([\w-]+) agent=([\w-]+) dir=([^\]\s]+)\]\]")


def scenario_marker(scenario: str, agent: str, folder: str) -> str:
    """Marker in a prompt that makes the model play a scenario."""
    return f"[[hookonce scenario={scenario} agent={agent} dir={quote(folder, safe='/{}')}]]"


def scenario_prompt(scenario: str, agent: str, folder: str) -> str:
    """Prompt that makes the model play a scenario."""
    return f"Please go on. {scenario_marker(scenario, agent, folder)}"


def find_markers(text: str) -> list[tuple[str, str, str]]:
    """Find the markers of a text: scenario, agent and folder of each."""
    return [(match[1], match[2], unquote(match[3])) for match in _MARKER_PATTERN.finditer(text)]

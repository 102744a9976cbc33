"""Marks: what a prompt holds so that the scripted model knows which scenario is played, by whom and where."""

import re

PATTERN = re.compile(r"\[\[hookonce scenario=([\w-]+) agent=([\w-]+) dir=([^\]\s]+)\]\]")


def mark(scenario: str, agent: str, folder: str) -> str:
    """What a prompt has to hold so that the model plays a scenario."""
    return f"[[hookonce scenario={scenario} agent={agent} dir={folder}]]"


def prompt(scenario: str, agent: str, folder: str) -> str:
    """A prompt that has the model play a scenario."""
    return f"Please go on. {mark(scenario, agent, folder)}"

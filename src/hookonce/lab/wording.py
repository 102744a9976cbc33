"""Steps in an agent's own words: its tables know names and arguments, its driver the rest."""

from hookonce.agents import native_arguments
from hookonce.lab.driver import Driver
from hookonce.lab.scenarios import Step
from hookonce.lab.talk import Call, Talk
from hookonce.model import Agent


def call_of(agent: Agent, driver: Driver, step: Step, talk: Talk) -> Call:
    """A step as the model of that agent would call it."""
    kind = "mcp" if step.tool.startswith("mcp:") else step.tool
    if kind in driver.calls:
        return driver.calls[kind](step.input, talk)
    name = _name(agent, step.tool, talk)
    given = step.input if kind == "mcp" else native_arguments(agent, name, step.tool, step.input)
    offer = talk.tools.get(name)
    known = {
        key: value for key, value in given.items() if offer is None or not offer.properties or key in offer.properties
    }
    return Call(name, known | driver.more.get(kind, {}))


def _name(agent: Agent, tool: str, talk: Talk) -> str:
    """The agent's own name of a tool; of several the one that it offers."""
    if tool.startswith("mcp:") and agent.mcp_name is not None:
        server, _, name = tool[4:].partition("/")
        return agent.mcp_name(server, name)
    names = [native for native, known in agent.tools.items() if known == tool]
    return next((name for name in names if name in talk.tools), names[0] if names else tool)

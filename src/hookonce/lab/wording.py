"""Steps in an agent's own words: its tables know names and arguments, its driver the rest."""

from hookonce.agents import native_arguments
from hookonce.lab.driver import Driver
from hookonce.lab.scenarios import ScenarioStep
from hookonce.lab.talk import ModelToolCall, Conversation
from hookonce.model import Agent


def build_native_call(agent: Agent, driver: Driver, step: ScenarioStep, conversation: Conversation) -> ModelToolCall:
    """Build the native tool call of a scenario step."""
    tool_kind = "mcp" if step.tool.startswith("mcp:") else step.tool
    if tool_kind in driver.tool_calls:
        return driver.tool_calls[tool_kind](step.input, conversation)
    name = _native_tool_name(agent, step.tool, conversation)
    arguments = step.input if tool_kind == "mcp" else native_arguments(agent, name, step.tool, step.input)
    offer = conversation.tools.get(name)
    accepted_arguments = {
        key: value for key, value in arguments.items() if offer is None or not offer.properties or key in offer.properties
    }
    return ModelToolCall(name, accepted_arguments | driver.extra_arguments.get(tool_kind, {}))


def _native_tool_name(agent: Agent, tool: str, conversation: Conversation) -> str:
    """The agent's own name of a tool; of several the one that it offers."""
    if tool.startswith("mcp:") and agent.mcp_name is not None:
        server, _, name = tool[4:].partition("/")
        return agent.mcp_name(server, name)
    names = [native for native, canonical in agent.tools.items() if canonical == tool]
    return next((name for name in names if name in conversation.tools), names[0] if names else tool)

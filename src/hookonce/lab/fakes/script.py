"""Script of the model: the next turn, computed from the request alone, so any number of agents may ask at once.

Scenario steps are worded with the agent's tables and its driver.
"""

import re

from hookonce import agents
from hookonce.agents import native_arguments
from hookonce.lab import drivers
from hookonce.lab.drivers import Driver
from hookonce.lab.fakes.conversation import Conversation, ModelToolCall, ModelTurn
from hookonce.lab.fakes.scenarios import SCENARIOS, Scenario, ScenarioStep, find_markers, scenario_prompt
from hookonce.model import Agent, Json


def build_native_call(agent: Agent, driver: Driver, step: ScenarioStep, conversation: Conversation) -> ModelToolCall:
    """Build the native tool call of a scenario step."""
    tool_kind = "mcp" if step.tool.startswith("mcp:") else step.tool
    if tool_kind in driver.tool_calls:
        return driver.tool_calls[tool_kind](step.input, conversation)
    name = _native_tool_name(agent, step.tool, conversation)
    arguments = step.input if tool_kind == "mcp" else native_arguments(agent, name, step.tool, step.input)
    offer = conversation.tools.get(name)
    if offer is not None and offer.properties:
        arguments = {key: value for key, value in arguments.items() if key in offer.properties}
    return ModelToolCall(name, arguments | driver.extra_arguments.get(tool_kind, {}))


def _native_tool_name(agent: Agent, tool: str, conversation: Conversation) -> str:
    """The agent's own name of a tool; of several the one that it offers."""
    if tool.startswith("mcp:") and agent.mcp_name is not None:
        server, _, name = tool[4:].partition("/")
        return agent.mcp_name(server, name)
    names = [native for native, canonical in agent.tools.items() if canonical == tool]
    return next((name for name in names if name in conversation.tools), names[0] if names else tool)


ScenarioPosition = tuple[str, str, str, int]  # scenario, agent, folder, and how many turns the model has had
_NESTED_MARKER = re.compile(r"\{mark:([\w-]+)\}")
_SIDE_ANSWER = '{"reasoning": "scripted", "next_speaker": "user", "model_choice": "flash", "title": "scripted"}'


def find_position(conversation: Conversation) -> ScenarioPosition | None:
    """Find the last scenario that a user message asks for."""
    marker, turns, previous_role = None, 0, ""
    for message in conversation.messages:
        if message.role == "user" and (markers := find_markers(message.text)):
            marker, turns = markers[-1], 0
        elif message.role == "assistant" and previous_role != "assistant":
            turns += 1
        previous_role = message.role
    return None if marker is None else (*marker, turns)


def next_turn(conversation: Conversation, url: str) -> ModelTurn:
    """Compute the model's next turn; a request without tools is a side question."""
    position = find_position(conversation)
    if position is None or not conversation.tools:
        return ModelTurn(text=_SIDE_ANSWER if conversation.wants_json else "ok")
    name, agent, folder, number = position
    scenario = SCENARIOS.get(name, Scenario(ending=f"There is no scenario called {name}."))
    if number >= len(scenario.turns):
        return ModelTurn(text=scenario.ending, number=number, scenario=name)
    calls = []
    for step in scenario.turns[number]:
        arguments = {key: _fill_placeholders(value, agent, folder, url) for key, value in step.input.items()}
        native_step = ScenarioStep(step.tool, arguments)
        calls.append(build_native_call(agents.load(agent), drivers.load_driver(agent), native_step, conversation))
    return ModelTurn(text=f"Step {number + 1}.", calls=calls, number=number, scenario=name)


def error_status(conversation: Conversation) -> int | None:
    """The status with which a scenario answers that is about a failing API."""
    position = find_position(conversation)
    return SCENARIOS[position[0]].error if position is not None and position[0] in SCENARIOS else None


def _fill_placeholders(value: Json, agent: str, folder: str, url: str) -> Json:
    if type(value) is not str:
        return value
    text = _NESTED_MARKER.sub(lambda match: scenario_prompt(match[1], agent, folder), value)
    return text.replace("{dir}", folder).replace("{url}", url)

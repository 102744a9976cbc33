"""Steps in each agent's own words: what a driver has the model call is what hooks are told of, in the canon's words."""

import pytest

from hookonce import agents
from hookonce.agents import decode, encode, native_event
from hookonce.lab import drivers
from hookonce.lab.fakes.conversation import ChatMessage, Conversation, ToolOffer
from hookonce.lab.fakes.scenarios import MCP_TOOL, SCENARIOS, ScenarioStep, scenario_prompt
from hookonce.lab.fakes.script import build_native_call, next_turn
from hookonce.model import Event, Tool
from tests.cases import cases

KIND = "before_tool_execute"
CANON = ("shell", "file_write", "file_edit", "file_read", "web_fetch", "agent", MCP_TOOL)
NOBODY = Conversation(messages=[])
OFFERED = {"codex": Conversation(messages=[], tools={"exec_command": ToolOffer(), "apply_patch": ToolOffer(takes_text=True)})}

# Hooks of Codex are not told what the model has called, but what that amounts to.
AMOUNTS = {
    "exec_command": lambda given: ("Bash", {"command": given["cmd"]}),
    "apply_patch": lambda given: ("apply_patch", {"command": given}),
}
# What an agent has no words for: as what it is known then, and which arguments it has.
OTHERWISE = {
    ("codex", "file_read"): ("shell", ()),
    ("codex", "file_write"): ("file_write", ("path",)),
    ("codex", "file_edit"): ("file_edit", ("path",)),
    ("codex", "agent"): ("agent", ("prompt",)),
    ("opencode", MCP_TOOL): ("mcp:?/lab_echo", ("text",)),
}
STEPS = {str(step): step for scenario in SCENARIOS.values() for turn in scenario.turns for step in turn}
EVERY_STEP = [(name, step) for name in drivers.DRIVER_MODULES for step in STEPS.values() if step.tool in CANON]


def worded(name, step, talk=NOBODY):
    """A step in an agent's words."""
    return build_native_call(agents.load(name), drivers.load_driver(name), step, talk)


def heard(name, call):
    """The tool call that a hook is told of, decoded."""
    agent, (native, given) = agents.load(name), (call.name, call.input)
    if name == "codex":
        native, given = AMOUNTS.get(call.name, lambda given: (call.name, given))(call.input)
        native = f"{call.namespace}__{native}" if call.namespace and call.namespace.startswith("mcp__") else native
    tool = Tool(name="", native=native, input={}, native_input=given)
    event = Event(
        id="x", schema="hookonce/1", type=KIND, agent=name, time="2026-01-01T00:00:00Z", time_source="agent", tool=tool
    )
    return decode(agent, encode(agent, event), native_event(agent, KIND)).tool


@cases(("name", "step"), EVERY_STEP, by=str)
def test_a_step_comes_back_as_what_it_was(name, step):
    """
    Told in the agent's words, read by the agent's table.
    """
    tool, keys = OTHERWISE.get((name, step.tool), (step.tool, step.input.keys()))
    found = heard(name, worded(name, step, OFFERED.get(name, NOBODY)))
    assert tool == found.name
    assert {key: step.input[key] for key in keys} == {key: found.input.get(key) for key in keys}


@cases(("name", "step"), EVERY_STEP, by=str)
def test_no_word_of_a_step_is_lost(name, step):
    """
    What it is about stands in the call, wherever the agent wants it; only a title may be left out.
    """
    told = str(worded(name, step, OFFERED.get(name, NOBODY)).input)
    words = [line for key, text in step.input.items() if key != "description" for line in text.splitlines()]
    assert [] == [word for word in words if word not in told]


@pytest.mark.parametrize("name", drivers.DRIVER_MODULES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_driver_words_every_scenario(name, scenario):
    """
    Each call has a name, and as its input an object, or a text for a tool that takes one.
    """
    for number in range(len(SCENARIOS[scenario].turns)):
        said = [ChatMessage("user", scenario_prompt(scenario, name, "/p")), *[ChatMessage("assistant", ""), ChatMessage("tool", "")] * number]
        turn = next_turn(Conversation(messages=said, tools={"x": ToolOffer()}), "http://127.0.0.1:1")
        assert len(SCENARIOS[scenario].turns[number]) == len(turn.calls)
        assert all(call.name and type(call.input) in {dict, str} for call in turn.calls)


def test_of_several_names_the_one_on_offer_is_called():
    """
    Agents rename their tools from one version to the next.
    """
    step = ScenarioStep("file_edit", {"path": "/p/a", "old_text": "x", "new_text": "y"})
    assert "edit" == worded("qwen-code", step).name
    assert "replace" == worded("qwen-code", step, Conversation(messages=[], tools={"replace": ToolOffer()})).name


def test_arguments_that_a_tool_does_not_have_are_left_out():
    """
    Unless it says nothing about them, or the driver knows that they are demanded.
    """
    step = ScenarioStep("agent", {"prompt": "x", "description": "y"})
    offered = Conversation(messages=[], tools={"agent": ToolOffer(properties=("prompt",))})
    demanded = {"subagent_type": "general-purpose", "run_in_background": False}
    assert {"prompt": "x"} | demanded == worded("qwen-code", step, offered).input
    assert {**step.input, **demanded} == worded("qwen-code", step, Conversation(messages=[], tools={"agent": ToolOffer()})).input


@pytest.mark.parametrize(
    ("tools", "name", "given"),
    [
        (("exec_command",), "exec_command", {"cmd": "ls"}),
        (("shell_command",), "shell_command", {"command": "ls"}),
        (("shell",), "shell", {"command": ["sh", "-c", "ls"]}),
    ],
)
def test_codex_runs_commands_by_the_tool_that_its_model_has(tools, name, given):
    """
    The model's name decides which one that is.
    """
    call = worded("codex", ScenarioStep("shell", {"command": "ls"}), Conversation(messages=[], tools={tool: ToolOffer() for tool in tools}))
    assert (name, given) == (call.name, call.input)


@pytest.mark.parametrize("is_free", [True, False])
def test_codex_patches_with_a_text_or_an_object(is_free):
    """
    As the tool is offered.
    """
    step = ScenarioStep("file_write", {"path": "/p/a", "content": "x\n"})
    call = worded("codex", step, Conversation(messages=[], tools={"apply_patch": ToolOffer(properties=("input",), takes_text=is_free)}))
    assert "+x" in (call.input if is_free else call.input["input"])

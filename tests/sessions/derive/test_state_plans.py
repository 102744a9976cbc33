"""Plans and choices, as far as tools tell them."""

import pytest

from hookonce.formats import load
from tests.sessions.derive.records import Story, kinds, only, walk


def documents(records):
    return [document for record in records for document in load("agent-hooks").write(record)]


@pytest.mark.covers("AH-28")
@pytest.mark.parametrize("tool", ["ExitPlanMode", "exit_plan_mode", "ExitSpecMode"])
def test_planning_ends_with_the_tool_that_leaves_it(tool):
    """
    When it has run; a refusal, a person's no or a failure keeps the agent planning.
    """
    story = Story()
    _, found = walk([*story.call({"plan": "secret thoughts"}, tool=tool), *story.call(tool=tool, ok=False)])

    assert ["plan_end"] == [kind for kind in kinds(found) if kind.startswith("plan")]
    assert ["Agent.Plan.End"] == [one["event_type"] for one in documents(found) if "Plan" in one["event_type"]]


@pytest.mark.covers("AH-29", "AH-48")
@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("TodoWrite", {"todos": [{"content": "secret thoughts"}, {"content": "more of them"}]}),
        ("update_plan", {"plan": [{"step": "secret thoughts"}, {"step": "b"}], "explanation": "secret thoughts"}),
        ("write_todos", {"todos": [1, 2]}),
    ],
)
def test_a_choice_is_told_with_the_number_of_steps_and_without_what_was_thought(tool, given):
    """
    The list of what is to be done next is what the agent has decided; its text is not repeated.
    """
    _, found = walk(Story().call(given, tool=tool))
    (decided,) = only(found, "agent_decision")
    (document,) = [one for one in documents(found) if one["event_type"] == "Agent.Decision"]

    assert {"step_count": 2, "action_name": tool, "derived": True} == decided.data
    assert "secret" not in repr(document)


def test_planning_begins_with_the_tool_that_enters_it():
    """
    Which not every agent has.
    """
    _, found = walk(Story("gemini-cli").call({}, tool="enter_plan_mode"))

    assert ["plan"] == [event.data["plan_type"] for event in only(found, "plan_start")]

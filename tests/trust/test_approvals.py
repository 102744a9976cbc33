"""Approvals: one question for one action, however often an agent tries it."""

from hookonce.model import Tool
from hookonce.trust import approvals
from tests.manifest.projects import house
from tests.store.rows import stored


def leave(command, number=0, **more):
    """Leave a question, as an agent's call does; its event."""
    event = stored(number, tool=Tool(name="shell", native="Bash", input={"command": command}), **more).event
    approvals.leave_question(event)
    return event


def test_an_action_that_is_tried_again_waits_once(monkeypatch, tmp_path):
    """
    In the list with its newest code; those of the calls before it count as well, and one yes answers all of them.
    """
    house(monkeypatch, tmp_path)
    first, second, other = leave("make deploy"), leave("make deploy", 1), leave("make clean", 2)
    calls = [question.call for _, question in approvals.open_questions()]
    code = approvals.find_code(first.id)

    assert [second.id, other.id] == calls
    assert code not in [None, approvals.find_code(second.id)]
    assert approvals.approve(code)
    assert [other.id] == [question.call for _, question in approvals.open_questions()]
    assert [True, False] == [approvals.consume_approval(second) is not None for _ in range(2)]


def test_a_yes_counts_for_the_same_action_of_any_agent(monkeypatch, tmp_path):
    """
    Once, in whatever session; another folder or command is another action.
    """
    house(monkeypatch, tmp_path)
    asked = leave("make deploy", cwd="/p")
    assert approvals.approve(approvals.find_code(asked.id))
    elsewhere, other = leave("make deploy", 1, cwd="/q"), leave("make clean", 2, cwd="/p")
    again = leave("make deploy", 3, cwd="/p", agent="gemini-cli", session="another")

    assert [None, None] == [approvals.consume_approval(event) for event in (elsewhere, other)]
    assert approvals.consume_approval(again) is not None
    assert approvals.consume_approval(asked) is None

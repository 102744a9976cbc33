"""What is tried again and what goes round."""

import pytest

from tests.sessions.derive.records import Story, kinds, only, walk


@pytest.mark.covers("AH-36")
def test_a_failed_call_that_is_made_again_is_a_retry():
    """
    With the number of the attempt, and what it cost so far.
    """
    story = Story()
    _, found = walk([*story.call(ok=False, exit_code=1), *story.call(ok=False, exit_code=1), story.before()])
    second, third = only(found, "retry_triggered")

    assert (2, 3) == (second.data["iteration_count"], third.data["iteration_count"])
    assert ("shell", 1000) == (second.data["action_name"], second.data["elapsed_ms"])
    assert second.derived_from == "before_tool_execute-2"


def test_the_same_call_after_success_or_other_work_is_no_retry():
    """
    To run the tests again after an edit is work.
    """
    story = Story()
    edit = story.call({"path": "a", "content": "x"}, tool="file_write")
    _, found = walk([*story.call(), *story.call(ok=False), *edit, story.before()])

    assert [] == kinds(found)


@pytest.mark.covers("AH-37")
def test_a_loop_is_told_of_once_and_again_when_it_has_doubled():
    """
    Four rounds, eight rounds; changing times do not hide it.
    """
    story = Story()
    calls = [one for number in range(9) for one in story.call(output=f"10:00:0{number} no such host")]
    _, found = walk(calls)

    assert [4, 8] == [event.data["iteration_count"] for event in only(found, "retry_loop_detected")]


def test_a_watch_with_changing_results_is_no_loop():
    """
    Fewer failures each time.
    """
    story = Story()
    calls = [one for left in range(12, 0, -1) for one in story.call(output=f"{left} failed")]
    _, found = walk(calls)

    assert [] == kinds(found)


@pytest.mark.covers("AH-38")
def test_a_loop_that_a_hook_stops_is_aborted():
    """
    The refusal of its next call ends it, and the count begins anew.
    """
    story = Story()
    calls = [one for _ in range(4) for one in story.call()]
    state, found = walk([*calls, story.before(outcome="deny")])

    assert ["retry_loop_detected", "policy_blocked", "retry_loop_aborted"] == kinds(found)
    assert 4 == only(found, "retry_loop_aborted")[0].data["iteration_count"]
    assert {} == state.retry.loops


@pytest.mark.covers("AH-38")
@pytest.mark.parametrize("kind", ["interrupt", "session_end", "session_abort"])
def test_a_loop_that_is_broken_off_is_aborted(kind):
    """
    By a person, or with its session; each sub-agent's loop for itself.
    """
    story = Story()
    calls = [one for _ in range(4) for sub in (None, "a") for one in story.call(sub=sub)]
    _, found = walk([*calls, story.tell(kind)])
    aborted = only(found, "retry_loop_aborted")

    assert 2 == len({event.id for event in aborted})


def test_an_agent_that_finds_its_own_way_out_has_aborted_nothing():
    """
    Another call ends the loop without a word.
    """
    story = Story()
    calls = [one for _ in range(4) for one in story.call()]
    _, found = walk([*calls, *story.call({"command": "ls"}), story.tell("session_end")])

    assert ["retry_loop_detected"] == kinds(found)


def test_refusals_that_are_not_taken_are_a_loop():
    """
    The same refused call again and again: retried, and at last a loop.
    """
    story = Story()
    _, found = walk([story.before(outcome="deny") for _ in range(4)])

    assert 3 == len(only(found, "retry_triggered"))
    assert 1 == len(only(found, "retry_loop_detected"))


def test_calls_that_never_end_are_a_loop_after_longer():
    """
    Some agents do not tell of calls that failed.
    """
    story = Story("factory-droid")
    _, found = walk([story.before() for _ in range(9)])

    assert [8] == [event.data["iteration_count"] for event in only(found, "retry_loop_detected")]


def test_a_new_prompt_is_a_new_beginning():
    """
    What a person asks for again is no loop of the agent's.
    """
    story = Story()
    records = [one for _ in range(5) for one in (story.tell("before_prompt"), *story.call(ok=False))]
    _, found = walk(records)

    assert [] == kinds(found)


@pytest.mark.parametrize(
    ("tool", "action"), [("file_edit", "write_file"), ("mcp:git/log", "mcp:log"), ("other", "other")]
)
def test_actions_have_the_names_of_agent_hooks(tool, action):
    """
    As the format's own table calls them.
    """
    story = Story()
    _, found = walk([*story.call(tool=tool, ok=False), story.before(tool=tool)])

    assert action == only(found, "retry_triggered")[0].data["action_name"]

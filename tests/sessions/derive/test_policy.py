"""What was blocked, lifted and broken."""

import pytest

from hookonce.sessions.derive.policy import PREVENTABLE_EVENTS
from tests.sessions.derive.records import Story, kinds, only, walk

FILE = {"path": "a.py", "content": "x"}


@pytest.mark.covers("AH-42")
@pytest.mark.parametrize("kind", sorted(PREVENTABLE_EVENTS))
def test_what_a_hook_refuses_is_blocked(kind):
    """
    Whatever a denial prevents.
    """
    _, found = walk([Story().tell(kind, outcome="deny")])

    assert ["policy_blocked"] == kinds(found)
    blocked = only(found, "policy_blocked")[0]
    assert (kind, True) == (blocked.data["origin_event"], blocked.data["derived"])


@pytest.mark.parametrize("kind", ["agent_stop", "after_tool_execute"])
def test_a_denial_that_prevents_nothing_blocks_nothing(kind):
    """
    An agent that may not stop goes on, and a result that is withheld was there.
    """
    _, found = walk([Story().tell(kind, outcome="deny")])

    assert [] == kinds(found)


@pytest.mark.covers("AH-41")
def test_a_refused_call_that_ends_all_the_same_is_a_violation():
    """
    Known by its id, so there is no doubt.
    """
    story = Story()
    _, found = walk([story.before(call="1", outcome="deny"), story.done(call="1")])
    violation = only(found, "policy_violation")[0]

    assert ("certain", "before_tool_execute-0", "after_tool_execute-1") == (
        violation.data["status"],
        violation.caused_by,
        violation.derived_from,
    )


@pytest.mark.covers("AH-41")
def test_without_an_id_a_violation_is_suspected():
    """
    The same tool and input, and nobody allowed it in between.
    """
    story = Story("gemini-cli")
    _, found = walk([story.before(outcome="deny"), story.done()])
    violation = only(found, "policy_violation")[0]

    assert ("suspected", ["caused_by"]) == (violation.data["status"], violation.data["guessed"])


def test_an_allowed_call_in_between_clears_the_suspicion():
    """
    Even when its own outcome was told already.
    """
    story = Story("gemini-cli")
    denied = story.before(outcome="deny")
    _, found = walk([denied, *story.call(), story.done()])

    assert [] == only(found, "policy_violation")


def test_an_agent_that_tells_of_the_refusal_breaks_no_rule():
    """
    A failure without an exit code is how agents say that nothing was done; with one, something ran.
    """
    story = Story()
    refused = [story.before(call="1", outcome="deny"), story.done(call="1", ok=False)]
    ran = [story.before(call="2", outcome="deny"), story.done(call="2", ok=False, exit_code=3)]

    assert [] == only(walk(refused)[1], "policy_violation")
    assert ["policy_violation"] == kinds([r for r in walk(ran)[1] if r.event.type == "policy_violation"])


def test_a_call_that_was_refused_when_its_agent_asked_is_refused():
    """
    The hook at the dialog says no, and the tool runs nevertheless.
    """
    story = Story()
    asked = story.before(call="1")
    no = story.tell("permission_request", outcome="deny", tool=asked.event.tool)
    _, found = walk([asked, no, story.done(call="1")])

    assert ["policy_blocked", "policy_violation"] == kinds(found)


def test_another_input_is_another_call():
    """
    A guess needs the same input.
    """
    story = Story("gemini-cli")
    _, found = walk([story.before(outcome="deny"), story.done({"command": "ls"})])

    assert [] == only(found, "policy_violation")


@pytest.mark.parametrize(("seconds", "status"), [(30, "suspected"), (61, None)])
def test_a_file_that_changes_soon_after_its_write_was_refused_is_suspicious(seconds, status):
    """
    Within a minute, wherever the path is told from.
    """
    story = Story()
    denied = story.before(FILE, tool="file_write", outcome="deny", cwd="/w")
    changed = story.tell("file_changed", after=seconds, data={"path": "/w/a.py"})
    _, found = walk([denied, changed])

    assert ([] if status is None else [status]) == [
        event.data["status"] for event in only(found, "policy_violation")
    ]


def test_a_file_that_an_allowed_call_writes_is_not_suspicious():
    """
    Whether it is still open or over, and whether it began before the refusal or after it.
    """
    edit = {"path": "a.py", "new_text": "y"}
    for order in ([0, 1], [0, 1, 2], [1, 0]):
        story = Story()
        told = [
            story.before(FILE, tool="file_write", call="1", outcome="deny", cwd="/w"),
            story.before(edit, tool="file_edit", call="2", cwd="/w"),
            story.done(edit, tool="file_edit", call="2", cwd="/w"),
        ]
        _, found = walk([told[one] for one in order] + [story.tell("file_changed", data={"path": "a.py"}, cwd="/w")])

        assert [] == only(found, "policy_violation")


def test_a_file_is_suspected_once():
    """
    Watchers tell of one write several times.
    """
    story = Story()
    denied = story.before(FILE, tool="file_write", outcome="deny", cwd="/w")
    changes = [story.tell("file_changed", data={"path": "a.py"}, cwd="/w") for _ in range(3)]

    assert 1 == len(only(walk([denied, *changes])[1], "policy_violation"))


@pytest.mark.covers("AH-43")
def test_a_question_that_was_answered_with_yes_is_an_override():
    """
    The hook asked, and the call has run.
    """
    story = Story()
    _, found = walk([story.before(call="1", outcome="ask"), story.done(call="1")])
    override = only(found, "policy_override")[0]

    assert ("user", "before_tool_execute-0") == (override.actor and override.actor.type, override.caused_by)


@pytest.mark.covers("AH-43")
def test_a_call_that_a_person_allowed_afterwards_is_an_override():
    """
    Refused at first; the hook still asks, and nothing holds the call up any more.
    """
    story = Story("gemini-cli")
    _, found = walk([story.before(outcome="deny", runs=["ask"]), story.before(runs=["ask"]), story.done()])

    assert ["policy_blocked", "policy_override"] == [kind for kind in kinds(found) if kind.startswith("policy")]


def test_a_question_that_was_answered_with_no_overrides_nothing():
    """
    The agent tells of a failure, or of nothing at all.
    """
    story = Story()
    _, found = walk([story.before(call="1", outcome="ask"), story.done(call="1", ok=False)])

    assert [] == kinds(found)

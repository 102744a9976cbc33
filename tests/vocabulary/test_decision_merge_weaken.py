"""What an agent cannot express becomes the safer decision."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce.model import Decision, Point
from hookonce.vocabulary.decision_merge import (
    APPROVAL_HINT,
    APPROVAL_PREFIX,
    MAX_CONTEXT_CHARS,
    merge_decisions,
    weaken,
)

GIVEN = {"command": "git push", "timeout": 5}
WORDS = ["prevent", "retry", "allow", "context", "stop", "message", "suppress", "hides_messages", "output"]
STRICTNESS = [None, "allow", "ask", "deny"]


def point(can="", **more):
    """A point, its powers written as words."""
    return Point(capabilities=frozenset(can.split()), **more)


points = st.builds(
    point,
    st.lists(st.sampled_from(WORDS), unique=True).map(" ".join),
    ask=st.sampled_from(["native", "denies_headless", "ignored", "fatal", "none"]),
    rewrite=st.sampled_from([None, "whole", "merge", "fields"]),
)
decisions = st.builds(
    Decision,
    outcome=st.sampled_from(STRICTNESS),
    reason=st.none() | st.just("because"),
    context=st.none() | st.just("by the way"),
    updated_input=st.sampled_from([None, GIVEN, GIVEN | {"command": "ls"}, {"command": "ls"}, {}]),
    updated_output=st.none() | st.just("other output"),
    proceed=st.sampled_from([None, False]),
    system_message=st.none() | st.just("look"),
    suppress_output=st.sampled_from([None, True]),
)


@given(decisions, points)
def test_what_comes_out_can_be_said_and_is_never_looser(decision, point):
    """
    Only what the point can hold remains; what prevents never becomes less, but where nothing can be refused at all.
    """
    final, gaps = weaken(decision, point, GIVEN)

    assert final.outcome != "ask" or point.ask in {"native", "denies_headless"}
    assert final.outcome != "allow" or "allow" in point.capabilities
    assert final.outcome != "deny" or point.capabilities & {"prevent", "retry"}
    assert final.updated_input is None or (point.rewrite and final.outcome != "deny")
    assert (final.proceed is None) or "stop" in point.capabilities
    assert (final.context is None) or "context" in point.capabilities
    assert (final.updated_output is None) or "output" in point.capabilities
    assert (final.system_message is None) or "message" in point.capabilities
    assert weaken(final, point, GIVEN)[0] == final
    if point.capabilities & {"prevent"} and "retry" not in point.capabilities and decision.outcome in {"ask", "deny"}:
        assert STRICTNESS.index(final.outcome) >= STRICTNESS.index(decision.outcome)
    assert gaps or final == Decision() or final.outcome == decision.outcome or "retry" in point.capabilities


@pytest.mark.parametrize(("can", "outcome"), [("prevent", None), ("prevent allow", "allow")])
def test_an_allow_goes_out_only_where_something_can_be_allowed(can, outcome):
    final, gaps = weaken(Decision(outcome="allow", reason="fine"), point(can), GIVEN)

    assert (outcome, ["allow"] * (outcome is None)) == (final.outcome, [gap.capability for gap in gaps])


@pytest.mark.covers("HIF-83")
@pytest.mark.parametrize(("ask", "asked"), [("native", True), ("denies_headless", True), ("ignored", False), ("fatal", False), ("none", False)])
def test_a_question_that_nobody_would_hear_is_a_no(ask, asked):
    """
    It goes out where the agent puts it to somebody, or takes it for a refusal itself.
    """
    final, gaps = weaken(Decision(outcome="ask", reason="sure?"), point("prevent", ask=ask))

    assert (final.outcome, bool(gaps)) == (("ask", False) if asked else ("deny", True))
    assert final.reason == ("sure?" if asked else f"{APPROVAL_PREFIX}sure?{APPROVAL_HINT}")


@pytest.mark.covers("HIF-25")
@pytest.mark.parametrize(
    ("rewrite", "new", "outcome"),
    [
        ("whole", {"command": "ls"}, None),
        ("merge", {"command": "ls"}, "deny"),  # the timeout would stay
        ("merge", GIVEN | {"command": "ls"}, None),
        ("fields", GIVEN | {"command": "ls", "more": 1}, None),
        ("fields", {}, "deny"),
        (None, GIVEN | {"command": "ls"}, "deny"),
        (None, GIVEN, None),  # nothing is changed
    ],
)
def test_input_that_cannot_be_changed_as_wanted_does_not_go_on(rewrite, new, outcome):
    """
    A merging agent cannot take anything out, and one that cannot change input at all must not use the old one.
    """
    final, gaps = weaken(Decision(updated_input=new), point("prevent", rewrite=rewrite), GIVEN)

    assert outcome == final.outcome
    assert ([] if outcome is None else ["input_rewrite"]) == [gap.capability for gap in gaps]
    assert (final.updated_input == new) == (outcome is None and rewrite is not None)


def test_a_refusal_has_no_new_input_beside_it():
    """
    Whoever refuses changes nothing, and that nothing is changed is no loss.
    """
    refusal = Decision(outcome="deny", reason="no")

    assert (refusal, []) == weaken(replace(refusal, updated_input={"command": "ls"}), point("prevent", rewrite="whole"), GIVEN)


@pytest.mark.covers("HIF-23")
@pytest.mark.parametrize(
    ("can", "decision", "expected"),
    [
        ("prevent", Decision(proceed=False, reason="enough"), Decision(outcome="deny", reason="enough")),
        ("prevent", Decision(proceed=False), Decision(outcome="deny", reason="a hook has ended the turn")),
        ("prevent stop", Decision(proceed=False, reason="enough"), Decision(proceed=False, reason="enough")),
        ("prevent stop", Decision(outcome="deny", reason="no", proceed=False), Decision(outcome="deny", reason="no", proceed=False)),
        ("retry stop", Decision(proceed=False, reason="enough"), Decision(proceed=False, reason="enough")),
        ("retry stop", Decision(outcome="deny", proceed=False, reason="x"), Decision(proceed=False, reason="x")),
        ("retry", Decision(outcome="deny", proceed=False, reason="x"), Decision()),
        ("retry", Decision(outcome="deny", reason="go on"), Decision(outcome="deny", reason="go on")),
    ],
)
def test_to_end_the_turn_is_at_least_to_refuse_the_action(can, decision, expected):
    """
    An agent that does not know how to end its turn is refused the action; but one that wants to stop is let go, since
    a refusal would make it go on.
    """
    assert expected == weaken(decision, point(can))[0]


@pytest.mark.covers("HIF-24", "HIF-26", "HIF-27")
def test_what_nobody_would_hear_is_left_out_by_name():
    """
    Context, a message, new output and the wish to hide it go where the agent has a place for them.
    """
    said = Decision(context="c", system_message="m", updated_output="o", suppress_output=True)

    everything, nothing_lost = weaken(said, point("context message output suppress"))
    nothing, lost = weaken(said, point())

    assert (said, []) == (everything, nothing_lost)
    assert Decision() == nothing
    assert {"context", "system_message", "output_rewrite", "suppress_output"} == {gap.capability for gap in lost}


@pytest.mark.covers("HIF-26")
@pytest.mark.parametrize(
    ("decision", "is_told"),
    [(Decision(), False), (Decision(system_message="m"), True), (Decision(outcome="deny", reason="no"), True), (Decision(proceed=False), False)],
)
def test_what_the_user_is_told_is_not_hidden_with_the_output(decision, is_told):
    """
    Where an agent hides both or neither, the wish to hide is what is lost, by name.
    """
    decision = replace(decision, suppress_output=True)

    both, nothing_lost = weaken(decision, point("prevent stop message suppress"))
    shown, gaps = weaken(decision, point("prevent stop message suppress hides_messages"))

    assert (decision, []) == (both, nothing_lost)
    assert replace(decision, suppress_output=None if is_told else True) == shown
    assert [("suppress_output", "lost")] * is_told == [(gap.capability, gap.effect) for gap in gaps]


def test_a_refusal_that_nobody_heeds_is_told_to_the_model():
    """
    It comes too late then, and the gap says so.
    """
    final, (gap,) = weaken(Decision(outcome="deny", reason="no", context="c"), point("context"))

    assert (Decision(context="no\nc"), "later") == (final, gap.effect)


@pytest.mark.covers("AMP-X7")
@pytest.mark.parametrize("longest", [MAX_CONTEXT_CHARS, 7])
def test_context_ends_at_its_limit(longest):
    """
    10,240 characters, or what the user has set; what was cut is told.
    """
    exact, none = weaken(Decision(context="é" * longest), point("context"), None, longest)
    final, (gap,) = weaken(Decision(context="é" * (longest + 1)), point("context"), None, longest)

    assert ("é" * longest, []) == (exact.context, none)
    assert ("é" * longest, "context") == (final.context, gap.capability)
    assert f"{longest} of {longest + 1} characters" in gap.note


def test_several_texts_are_cut_as_one():
    """
    The limit is for what the model reads, however many hooks have written it.
    """
    said = merge_decisions([Decision(context="a" * 6_000), Decision(context="b" * 6_000)])

    assert "a" * 6_000 + "\n" + "b" * 4_239 == weaken(said, point("context"))[0].context

"""Differences between two captures: shapes, not values, and the same seen from either side."""

import json

import provenance
import pytest
from diff import NameChanges, compare_captures, compare_claims, count_changes
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce.base.jsontext import dump
from hookonce.errors import HookonceError
from hookonce.lab.prove.certificate import Certificate, Claim
from tests.tools.capture.sample_captures import capture, payload, run_tool, shell

START, STOP = payload("SessionStart", source="startup"), payload("Stop", stop_hook_active=False)
keys = st.dictionaries(st.sampled_from("pqrs"), st.none() | st.integers() | st.text(max_size=3), max_size=4)


def of(found, event="PreToolUse"):
    return [(one.change, one.path, one.old, one.new) for one in found.keys if one.event == event]


def certificate(version, **states):
    claims = [Claim(name, state, "seen") for name, state in states.items()]
    more = {"date": "2026-11-15", "hookonce": "0", "machine": "m", "origin": "cache", "tries": 1, "seconds": 1.0}
    return Certificate(agent="claude-code", version=version, claims=claims, **more)


def test_other_values_are_no_difference():
    old = capture(START, shell(command="ls"), version="1.0.0")
    new = capture(START | {"session_id": "s2"}, shell(command="pwd") | {"session_id": "s2"}, version="2.0.0")

    assert 0 == count_changes(compare_captures(old, new))


def test_events_of_one_version_only_are_named():
    found = compare_captures(capture(START, shell()), capture(shell(), STOP))

    assert NameChanges(added=["Stop"], removed=["SessionStart"]) == found.events
    assert [] == found.order  # what comes in one of them only is told once
    assert 2 == count_changes(found)


def test_an_event_that_comes_in_some_runs_only_is_a_note():
    shown = payload("MessageDisplay", delta="x")
    found = compare_captures(capture(shell()), capture(shell(), shown))

    assert 0 == count_changes(found)
    assert ["MessageDisplay came only in the new one, but comes in some runs only"] == found.notes


def test_an_event_that_the_agent_does_not_wait_for_is_different_with_a_doubt():
    """
    It counts; that it may have been missed is said beside it. An event with an answer is beyond doubt.
    """
    failed = payload("PostCompact", trigger="auto")
    found = compare_captures(capture(shell(), failed, STOP), capture(shell()))

    assert NameChanges(removed=["PostCompact", "Stop"]) == found.events
    assert 2 == count_changes(found)
    (note,) = found.notes
    assert note.startswith("the agent does not wait for PostCompact")


def test_a_tool_at_an_event_that_both_have_is_named():
    read = payload(tool_name="Read", tool_input={"file_path": "/x"})
    found = compare_captures(capture(shell()), capture(shell(), read))

    assert NameChanges(added=["PreToolUse file_read"]) == found.calls
    assert NameChanges() == found.events


def test_keys_are_added_removed_or_of_another_type():
    old = capture(shell(one=1, both="x", gone={"a": 1}))
    new = capture(shell(one="1", both="y", more={"deep": {"er": 1}}))

    assert [
        ("removed", "$.gone", ["object"], []),
        ("added", "$.more", [], ["object"]),
        ("type", "$.one", ["number"], ["string"]),
    ] == of(compare_captures(old, new))


def test_keys_are_told_apart_by_tool():
    read = payload(tool_name="Read", tool_input={"file_path": "/x"})
    found = compare_captures(capture(shell(), read), capture(shell(), read | {"new": 1}))

    assert [("PreToolUse", "file_read", "$.new")] == [(one.event, one.tool, one.path) for one in found.keys]


def test_a_key_that_only_some_payloads_have_is_there():
    old = capture(shell(), shell(extra=1), shell(command="pwd"))

    assert [] == of(compare_captures(old, capture(shell(extra=2))))


def test_lists_and_odd_keys_have_parents():
    old = capture(shell(some=[{"a": 1}], odd={"x.y": 1}))
    new = capture(shell(some=[{"a": 1, "b": 2}], odd={}))

    assert [("removed", '$.odd["x.y"]', ["number"], []), ("added", "$.some[].b", [], ["number"])] == of(
        compare_captures(old, new)
    )


def test_tools_that_are_offered_are_compared():
    found = compare_captures(capture(shell(), tools=("Bash", "Old")), capture(shell(), tools=("Bash", "New")))

    assert NameChanges(added=["New"], removed=["Old"]) == found.tools


def test_another_order_is_told_with_its_place():
    prompt = payload("UserPromptSubmit", prompt="go")
    (turn, back) = compare_captures(capture(START, prompt, shell()), capture(prompt, START, shell())).order

    assert (0, None, [], ["UserPromptSubmit"]) == (turn.thread, turn.after, turn.old, turn.new)
    assert ("SessionStart", ["UserPromptSubmit"], []) == (back.after, back.old, back.new)


def test_two_agents_are_not_compared():
    old = capture(shell())
    other = replace(old, provenance=replace(old.provenance, agent="codex"))

    with pytest.raises(HookonceError, match="two agents"):
        compare_captures(old, other)


def test_payloads_that_were_not_kept_and_other_scenarios_are_notes():
    found = compare_captures(capture(shell()), capture(shell(), shell(command="cat /home/alice/x", odd=1), scenario="pair"))

    assert ["other scenarios: tour; pair", "payloads of the new one that were not kept: 1"] == found.notes


@given(keys, keys)
def test_from_the_other_side_everything_is_the_other_way_round(one, other):
    old, new = capture(shell(more=one)), capture(shell(more=other))
    turned = {"added": "removed", "removed": "added", "type": "type"}

    there, back = of(compare_captures(old, new)), of(compare_captures(new, old))

    assert there == [(turned[change], path, now, was) for change, path, was, now in back]
    assert bool(there) == ({key: type(value) for key, value in one.items()} != {k: type(v) for k, v in other.items()})


@given(keys)
def test_a_capture_is_the_same_as_itself(one):
    assert 0 == count_changes(compare_captures(capture(START, shell(more=one), STOP), capture(START, shell(more=one), STOP)))


def test_claims_in_another_state_are_named():
    old = certificate("1", fires="held", deny="held", gone="held")
    new = certificate("2", fires="held", deny="contradicted", more="untried")

    assert [("deny", "held", "contradicted"), ("more", None, "untried"), ("gone", "held", None)] == [
        (one.claim, one.old, one.new) for one in compare_claims(old, new)
    ]


@pytest.fixture
def folders(tmp_path):
    """Two captures, the second with something new, and certificates of both."""
    old = provenance.save_capture(capture(START, shell(), version="1.0.0"), tmp_path)
    new = provenance.save_capture(capture(START, shell(new=1), STOP, version="2.0.0", tools=("Bash", "Web")), tmp_path)
    for made in (certificate("1.0.0", deny="held"), certificate("2.0.0", deny="contradicted")):
        (tmp_path / f"claude-code-{made.version}.json").write_bytes(dump(made))
    return old, new


def test_the_same_is_exit_0(folders):
    ran = run_tool("diff.py", folders[0], folders[0])

    assert (0, "claude-code 1.0.0 and claude-code 1.0.0: the same\n", "") == ran


def test_a_difference_is_exit_1_and_told_in_groups(folders):
    ran = run_tool("diff.py", *folders, "--certificates", folders[0].parent)

    assert (1, "") == (ran.code, ran.err)
    assert [
        "claude-code 1.0.0 and claude-code 2.0.0: 4 differences",
        "",
        "events (1)",
        "  + Stop",
        "",
        "tools that the model is offered (1)",
        "  + Web",
        "",
        "keys of payloads (1)",
        "  + $.new (number): PreToolUse of shell",
        "",
        "claims (1)",
        "  deny: held → contradicted",
    ] == ran.out.splitlines()


def test_as_json_it_is_one_object(folders):
    ran = run_tool("diff.py", *folders, "--json")
    (told,) = ran.documents()

    assert 1 == ran.code
    assert ["same", "old", "new", "events", "calls", "keys", "tools", "order", "claims", "notes"] == list(told)
    assert (False, None) == (told["same"], told["claims"])
    assert {"agent": "claude-code", "version": "1.0.0"} == told["old"]
    assert [
        {"change": "added", "event": "PreToolUse", "tool": "shell", "path": "$.new", "old": [], "new": ["number"]}
    ] == (told["keys"])
    assert True is json.loads(run_tool("diff.py", folders[1], folders[1], "--json").out)["same"]


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["one"], 64, "two folders, or an agent and two versions"),
        (["claude-code", "1", "2", "3"], 64, "two folders, or an agent and two versions"),
        (["nowhere", "nowhere"], 1, "nowhere is no capture: there is no provenance.json in it"),
        (["nobody", "1.0.0", "2.0.0"], 64, "no agent is called 'nobody'"),
        (["claude-code", "2.1.197", "2.1.325"], 1, "hookonce lab fetch claude-code --version 2.1.197 gets it"),
        (["a", "b", "--prove", "--certificates", "c"], 2, "not allowed with"),
    ],
)
def test_what_cannot_be_compared_is_said(tmp_path, words, code, said):
    ran = run_tool("diff.py", *words, cwd=tmp_path, HOOKONCE_AGENTS=str(tmp_path / "agents"))

    assert (code, "") == (ran.code, ran.out)
    assert said in ran.err


def test_a_certificate_that_is_not_there_is_named(folders, tmp_path):
    ran = run_tool("diff.py", *folders, "--certificates", tmp_path / "none")

    assert 1 == ran.code
    assert "hookonce prove claude-code --out" in ran.err

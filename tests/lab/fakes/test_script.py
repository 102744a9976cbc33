"""The script: what the model says next is told from the request alone, and from nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.lab import drivers
from hookonce.lab.fakes.conversation import ChatMessage, Conversation, ToolOffer
from hookonce.lab.fakes.scenarios import FILE_SECRET, SCENARIOS, find_markers, scenario_marker, scenario_prompt
from hookonce.lab.fakes.script import error_status, find_position, next_turn

URL = "http://127.0.0.1:1"
TOOLS = {"Bash": ToolOffer(properties=("command",))}
MARKS = st.builds(scenario_prompt, st.sampled_from(sorted(SCENARIOS)), st.sampled_from(sorted(drivers.DRIVER_MODULES)), st.just("/p"))
ROLES = st.sampled_from(["system", "user", "assistant", "tool"])
SAID = st.builds(ChatMessage, ROLES, MARKS | st.text(max_size=30) | st.builds("{} {}".format, MARKS, MARKS))
TALKS = st.builds(
    Conversation,
    messages=st.lists(SAID, max_size=12),
    tools=st.sampled_from([{}, TOOLS]),
    streams=st.booleans(),
    wants_json=st.booleans(),
)


def talk(*said, tools=TOOLS, **more):
    """A conversation, written in short: who, and what."""
    return Conversation(messages=[ChatMessage(*one) for one in said], tools=tools, **more)


def asked(scenario="tour", agent="claude-code"):
    """What a user says to have a scenario played."""
    return "user", scenario_prompt(scenario, agent, "/p")


def after(turns, scenario="tour", agent="claude-code"):
    """A conversation in which the model has had so many turns, each answered by a tool."""
    return talk(asked(scenario, agent), *[("assistant", "Step."), ("tool", "done")] * turns)


def played(scenario, agent):
    """All turns of a scenario, as an agent has them that does what it is told."""
    turns, said = [], [ChatMessage(*asked(scenario, agent))]
    while not turns or turns[-1].calls:
        turns.append(next_turn(Conversation(messages=said, tools=TOOLS), URL))
        said += [ChatMessage("assistant", turns[-1].text), *[ChatMessage("tool", "done") for _ in turns[-1].calls]]
    return turns


@given(st.text(min_size=1, max_size=40).filter(lambda text: "\0" not in text and text.isprintable()).map("/{}".format))
def test_a_mark_says_what_is_played_by_whom_and_where(folder):
    """
    Wherever it stands in a prompt.
    """
    found = find_markers(f"before {scenario_marker('refuse-shell', 'claude-code', folder)} after")
    assert [("refuse-shell", "claude-code", folder)] == found


@pytest.mark.parametrize("agent", drivers.DRIVER_MODULES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_is_played_turn_by_turn_to_its_end(scenario, agent):
    """
    Each turn makes the calls of its steps, with the project's folder in them; the last one says that it is over.
    """
    known, turns = SCENARIOS[scenario], played(scenario, agent)
    assert [*map(len, known.turns), 0] == [len(turn.calls) for turn in turns]
    assert list(range(len(turns))) == [turn.number for turn in turns]
    assert known.ending == turns[-1].text
    told = json.dumps([call.input for turn in turns for call in turn.calls])
    assert not any(hole in told for hole in ("{dir}", "{url}", "{mark:"))


def test_turns_are_counted_from_the_prompt_that_asks():
    """
    What an agent puts before it, as some do, counts for nothing.
    """
    greeted = talk(("user", "Here is where we are."), ("assistant", "Thanks for the context!"), asked())
    assert ("tour", "claude-code", "/p", 0) == find_position(greeted)
    assert 2 == find_position(after(2))[3]


def test_what_is_said_in_one_breath_is_one_turn():
    """
    Some APIs send a thought, a text and each call as messages of their own.
    """
    pieces = [("assistant", ""), ("assistant", "Step 1."), ("assistant", '{"command":"ls"}'), ("tool", "a"), ("tool", "b")]
    assert 1 == find_position(talk(asked(), *pieces))[3]
    assert 2 == find_position(talk(asked(), *pieces, *pieces))[3]


def test_what_a_user_adds_does_not_begin_anew():
    """
    A reason to go on, or a reminder after a tool's result, is a turn like any other.
    """
    assert 2 == find_position(talk(asked(), ("assistant", "a"), ("user", "go on"), ("assistant", "b"), ("user", "go on")))[3]


def test_the_last_prompt_counts():
    """
    Also within one text, as where the first one is quoted.
    """
    assert ("talk", 0) == find_position(talk(asked("tour"), ("assistant", "x"), asked("talk")))[::3]
    assert "talk" == find_position(talk(("user", f"{scenario_prompt('tour', 'codex', '/p')} {scenario_prompt('talk', 'codex', '/p')}")))[0]


@pytest.mark.parametrize("role", ["system", "assistant", "tool"])
def test_only_a_user_asks_for_a_scenario(role):
    """
    A file that was read, or a memory, may hold any text.
    """
    assert find_position(talk((role, asked()[1]))) is None
    assert "talk" == find_position(talk(asked("talk"), (role, asked("tour")[1])))[0]


@pytest.mark.parametrize("agent", drivers.DRIVER_MODULES)
def test_a_sub_agent_is_given_a_mark_of_its_own(agent):
    """
    Its conversation begins with it, and plays the smaller scenario in the same place, whatever its parent is at.
    """
    task = next(call for turn in played("refuse-agent", agent) for call in turn.calls)
    (order,) = [value for value in task.input.values() if "hookonce scenario" in str(value)]
    assert ("sub", agent, "/p", 0) == find_position(talk(("system", "You are a helper."), ("user", order)))
    (call,) = next_turn(talk(("user", order)), URL).calls
    assert "sub.txt" in json.dumps(call.input)


def test_a_side_question_gets_a_short_answer():
    """
    Titles and summaries are asked for without tools, and with the whole conversation.
    """
    aside = next_turn(talk(asked(), ("assistant", "Step."), ("user", "A title, please."), tools={}), URL)
    assert ("ok", []) == (aside.text, aside.calls)
    assert "ok" == next_turn(talk(("user", "Hello.")), URL).text


def test_a_request_for_json_gets_json():
    """
    An object that holds what agents look for there; those who do not ask get none.
    """
    aside = next_turn(talk(asked(), tools={}, wants_json=True), URL)
    assert {"title", "next_speaker", "reasoning"} <= json.loads(aside.text).keys()
    assert next_turn(talk(asked(), wants_json=True), URL).calls


def test_an_unknown_scenario_is_named():
    """
    Nothing is called, and whoever looks at the run sees why.
    """
    turn = next_turn(talk(asked("no-such")), URL)
    assert ([], True) == (turn.calls, "no-such" in turn.text)
    assert error_status(talk(asked("no-such"))) is None


def test_a_scenario_may_be_about_an_api_that_fails():
    """
    The others are not.
    """
    assert 400 == error_status(talk(asked("error")))
    assert [] == [name for name in SCENARIOS if name != "error" and error_status(talk(asked(name))) is not None]
    assert error_status(talk(("user", "Hello."))) is None


def test_the_secret_is_told_by_the_file_alone():
    """
    So that a model that was sent it has had the file read.
    """
    told = [str(call.input) for agent in drivers.DRIVER_MODULES for turn in played("tour", agent) for call in turn.calls]
    assert [] == [one for one in told if FILE_SECRET in one]


@given(st.lists(TALKS, min_size=1, max_size=4), st.data())
def test_the_same_request_gets_the_same_answer(talks, data):
    """
    Whatever was asked before, in whatever order, and however often.
    """
    first = [(next_turn(one, URL), error_status(one)) for one in talks]
    order = data.draw(st.lists(st.integers(0, len(talks) - 1), max_size=8))
    assert [first[at] for at in order] == [(next_turn(talks[at], URL), error_status(talks[at])) for at in order]

"""Marks: whatever a folder is called, the model knows where it plays."""

from hypothesis import given
from hypothesis import strategies as st

from hookonce.lab import drivers
from hookonce.lab.fakes.conversation import ChatMessage, Conversation
from hookonce.lab.fakes.scenarios import SCENARIOS, find_markers, scenario_marker, scenario_prompt
from hookonce.lab.fakes.script import find_position

SIGNS = st.text(st.sampled_from(" \t\n[]{}%+&=#?\"'\\äß漢🙂\u00a0\u2028"), min_size=1, max_size=12)
NAMES = SIGNS | st.text(min_size=1, max_size=20)
FOLDERS = st.lists(NAMES.map(lambda name: name.replace("/", "_").replace("\0", "_")), min_size=1, max_size=4).map(
    lambda names: "/" + "/".join(names)
)
PLAYED = st.tuples(st.sampled_from(sorted(SCENARIOS)), st.sampled_from(sorted(drivers.DRIVER_MODULES)), FOLDERS)
AROUND = st.text(st.characters(exclude_characters="[]", exclude_categories=["Cs"]), max_size=20)


@given(PLAYED, AROUND, AROUND)
def test_a_mark_is_read_as_it_was_written_wherever_it_stands(played, before, after):
    assert [played] == find_markers(f"{before}{scenario_marker(*played)}{after}")


@given(st.lists(PLAYED, max_size=4), AROUND)
def test_several_marks_are_read_in_their_order(several, between):
    assert several == find_markers(between.join(scenario_marker(*one) for one in several))


@given(PLAYED)
def test_a_mark_is_one_word_but_for_its_fields_and_survives_a_prompt_of_one_line(played):
    """
    So no shell, quoting or wrapping that an agent does to a prompt takes the folder apart.
    """
    told = scenario_marker(*played)

    assert 4 == len(told.split())
    assert told.isascii()
    assert [played] == find_markers(scenario_prompt(*played))


@given(PLAYED, st.integers(0, 5))
def test_a_conversation_is_about_the_folder_that_its_prompt_names(played, turns):
    said = [ChatMessage("user", scenario_prompt(*played)), *[ChatMessage("assistant", "Step."), ChatMessage("tool", "done")] * turns]

    assert (*played, turns) == find_position(Conversation(messages=said))


@given(AROUND)
def test_a_text_without_a_mark_has_none(text):
    assert [] == find_markers(text)
    assert find_position(Conversation(messages=[ChatMessage("user", text)])) is None

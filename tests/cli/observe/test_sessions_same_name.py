"""Two agents that have a session of the same name: nothing of one is told as the other's."""

import pytest

from hookonce.store.entry import build_entry
from hookonce.store.writer import Writer
from tests.cli.command import run
from tests.cli.recorded_home import FIRST, remember, stored


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home in which another agent has a session of the first one's name, and one that begins like it."""
    remember(tmp_path, monkeypatch)
    others = [
        stored(40, "before_prompt", agent="claude-code", prompt="of somebody else"),
        stored(41, "before_prompt", agent="claude-code", session=f"{FIRST[:8]}-other", prompt="another"),
    ]
    with Writer() as writer:
        writer.append([build_entry(one) for one in others])
    return tmp_path


@pytest.mark.parametrize("words", [("show", FIRST), ("events", "erase", "--session", FIRST)], ids=str)
def test_whose_session_is_meant_has_to_be_said(home, words):
    ran = run(*words, HOME=str(home))

    told = f"claude-code and codex each have a session '{FIRST}'; choose with --agent claude-code or --agent codex"
    assert (1, "", [told]) == (ran.code, ran.out, ran.complaints())


@pytest.mark.parametrize(("agent", "steps"), [("codex", 7), ("claude-code", 1), ("claude", 1)])
def test_whose_is_said_is_told(home, agent, steps):
    (told,) = run("show", FIRST, "--agent", agent, "--json", HOME=str(home)).documents()

    assert (FIRST, steps) == (told["session"], len(told["steps"]))
    assert told["agent"].startswith(agent)


def test_a_beginning_is_enough_among_the_sessions_of_one_agent(home):
    ran = run("show", FIRST[:8], HOME=str(home))
    events = run("events", "--session", FIRST[:8], "--agent", "codex", "--json", HOME=str(home))

    assert (1, 1) == (ran.code, ran.err.count("several sessions begin with"))
    assert "type more of the id" in ran.err
    assert {"codex"} == {one["event"]["agent"] for one in events.documents()}
    assert 0 == run("show", FIRST[:8], "--agent", "codex", HOME=str(home)).code


def test_an_agent_that_has_no_such_session_is_named(home):
    ran = run("show", "ses_2", "--agent", "codex", HOME=str(home))

    assert ["no session of codex begins with 'ses_2'; hookonce sessions lists them"] == ran.complaints()

"""What real agents wrote into their session files, and what we read there."""

import json
import re
from hashlib import sha256

import pytest

from hookonce.lab.fakes import apis
from tests.agents.transcripts.material import (
    FILES,
    GOLDEN,
    agent_of,
    at_once,
    golden,
    reader_of,
    session,
    session_and_spawns,
)

USAGE = {"claude-code": apis._ANTHROPIC_USAGE, "codex": apis._RESPONSES_USAGE, "gemini-cli": apis._GEMINI_USAGE}
SCENARIOS = dict.fromkeys(USAGE, ("pair", "tour", "refuse"))
RUNS = [(agent, scenario) for agent, scenarios in SCENARIOS.items() for scenario in scenarios]
SUBAGENTS = {
    "claude-code": ("ac107fe85aa3485e4", "general-purpose", "toolu_tour_6_0"),
    "codex": ("01a1df30-1685-7792-91c2-e417e5ba5a16", None, "call_tour_6_0"),
    "gemini-cli": (
        "edbd4850-ac9f-4851-bc2e-f54255ffdb4e",
        "generalist",
        "invoke_agent__invoke_agent_1794745845238_0",
    ),
}


def counted(agent):
    """Input and output tokens that the scripted model tells for each answer."""
    told = USAGE[agent]
    pairs = (("input_tokens", "output_tokens"), ("promptTokenCount", "candidatesTokenCount"))
    return next((told[given], told[made]) for given, made in pairs if given in told)


def requests(agent, scenario):
    told = json.loads((GOLDEN / agent / "provenance.json").read_text(encoding="utf-8"))
    return next(one["requests"] for one in told["files"] if one["scenario"] == scenario)


@pytest.mark.parametrize("agent", USAGE)
def test_goldens_are_the_files_that_were_recorded(agent):
    """
    Every file is named with its scenario and is what it was.
    """
    told = json.loads((GOLDEN / agent / "provenance.json").read_text(encoding="utf-8"))
    named = {GOLDEN / agent / one["file"]: one["sha256"] for one in told["files"]}
    assert sorted(named) == [file for file in FILES if agent_of(file) == agent]
    assert {} == {file: known for file, known in named.items() if sha256(file.read_bytes()).hexdigest() != known}


@pytest.mark.parametrize(("agent", "scenario"), RUNS)
def test_the_tokens_of_a_session_are_those_that_the_model_has_told(agent, scenario):
    """
    Each request with tools is one call, in the session's file or in that of its sub-agent, and none is counted twice.
    """
    calls = session(golden(agent, scenario)).calls
    given, made = counted(agent)
    number = requests(agent, scenario)
    assert number == len(calls) == len({one.id for one in calls})
    assert number * given == sum(one.usage.input_tokens for one in calls)
    assert number * made == sum(one.usage.output_tokens for one in calls)
    assert number * (given + made) == sum(one.usage.total_tokens for one in calls)
    assert all(one.model and one.time and one.session and not one.failed for one in calls)


@pytest.mark.parametrize("agent", USAGE)
def test_calls_of_a_sub_agent_say_so(agent):
    """
    What the sub-agent did is marked as its own, and the call that started it is known.
    """
    reading, spawns = session_and_spawns(golden(agent, "tour"))
    known, kind, call = SUBAGENTS[agent]
    theirs = [one for one in reading.calls if one.subagent is not None]
    assert {known} == {one.subagent.id for one in theirs}
    assert {(known, kind, call)} == {(one.id, one.type, one.call) for one in spawns}
    assert requests(agent, "tour") == len(theirs) + sum(one.subagent is None for one in reading.calls)


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_failed_call_is_told_without_tokens(agent):
    """
    An API that refuses is one failed call; it has neither usage nor an end that the model gave.
    """
    (call,) = session(golden(agent, "error")).calls
    assert (True, None, None) == (call.failed, call.usage, call.stop_reason)


def test_a_compaction_says_how_much_was_there_before_and_after():
    """
    Claude Code tells who wanted it; Codex does not.
    """
    (claude,) = session(GOLDEN / "claude-code" / "compact.jsonl").compactions
    assert ("manual", 110, 2663) == (claude.trigger, claude.tokens_before, claude.tokens_after)
    (codex,) = session(golden("codex", "compact")).compactions
    assert (None, 110, 6823) == (codex.trigger, codex.tokens_before, codex.tokens_after)


def test_a_forked_session_repeats_old_lines_with_their_old_ids():
    """
    Whoever keeps calls by their id counts none of them twice.
    """
    both = session(GOLDEN / "claude-code" / "compact.jsonl") + session(GOLDEN / "claude-code" / "fork.jsonl")
    assert 10 == len(both.calls)
    assert 6 == len({one.id for one in both.calls})
    assert 1 == len({one.id for one in both.compactions})


def test_an_answer_that_gemini_cli_cuts_off_is_not_in_its_file():
    """
    What it takes for a loop leaves no tokens behind: a limit that is known.
    """
    assert () == session(golden("gemini-cli", "long")).calls


@pytest.mark.covers("OH-47")
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{agent_of(file)}/{file.stem}")
def test_nothing_that_was_said_or_thought_leaves_the_reader(file):
    """
    No prompt, answer, thought, command, path or output is in what is told: all texts of the run are looked for.
    """
    told = repr(at_once(reader_of(file), file.read_bytes()))
    for said in ("Please go on", "Step 1", "All done", "echo", "/home/dev", "the-secret", "alpha", "refuses", "Kepler"):
        assert said not in re.sub("(mcp_+)?lab[_-]+echo", "", told)  # the name of a tool

"""Every dialect behind every agent, from one table: what a hook says in one agent's words is heard in another's."""

import json

import pytest

from hookonce import agents
from hookonce.agents import config_event_of, point_of
from hookonce.dispatch.dialect import dialect_variables, encode_input
from hookonce.model import Decision
from tests.dispatch.dialect_rows import ROWS
from tests.dispatch.pipeline_cases import ask, asked, hook, said, shell_calls


def _is_plain(agent, native, payload):
    tool = agents.decode(agents.load(agent), payload, native).tool
    return agents.rewrite_input(agents.load(agent), tool, tool.input | {"command": "ls -l"}) is not None


# A call of each agent, one whose command can be told in other words if there is such a call.
CALLS = sorted((one.values for one in shell_calls("before_tool_execute")), key=lambda values: _is_plain(*values))
BEHIND = {name: asked(name, native, payload) for name, native, payload in CALLS}
DIALECTS = pytest.mark.parametrize("dialect", sorted(ROWS))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))


def heard(dialect, agent, *answer, failure=None, **more):
    """What an agent hears of a hook that speaks another one's words, and the record of it."""
    return ask(BEHIND[agent], [hook(dialect=dialect, **more)], lambda *_: said(*answer, failure=failure))


def can(agent):
    """What an agent can be told before it uses a tool."""
    return point_of(BEHIND[agent].agent, BEHIND[agent].native)


def test_the_table_is_complete():
    """
    Every agent is a dialect, and every agent has called.
    """
    assert sorted(agents.AGENTS) == sorted(ROWS) == sorted(BEHIND)
    for name, row in ROWS.items():
        assert ("context" in can(name).capabilities, can(name).rewrite is not None) == (row.context is not None, row.rewrite is not None), name


@DIALECTS
def test_a_refusal_is_a_refusal(dialect):
    """
    With its reason, for every agent.
    """
    for agent in BEHIND:
        decision, record = heard(dialect, agent, *ROWS[dialect].deny)
        assert ("deny", "not this one", None) == (decision.outcome, decision.reason, record.runs[0].failure), agent


@DIALECTS
def test_silence_is_silence(dialect):
    """
    In each form that means no opinion there.
    """
    for agent in BEHIND:
        for text in ROWS[dialect].silence:
            decision, record = heard(dialect, agent, text)
            assert (Decision(), None, None) == (decision, record.runs[0].failure, record.runs[0].outcome), agent


@pytest.mark.parametrize("dialect", [name for name, row in ROWS.items() if row.context])
def test_context_reaches_the_model_where_it_can(dialect):
    """
    Where an agent has no place for it, a gap says so.
    """
    for agent in BEHIND:
        decision, record = heard(dialect, agent, ROWS[dialect].context)
        lost = "context" in {gap.capability for gap in record.gaps}
        fits = "context" in can(agent).capabilities
        assert (None, None) == (decision.outcome, record.runs[0].failure), agent
        assert ("mind the gap" if fits else None, not fits) == (decision.context, lost), agent


@pytest.mark.parametrize("dialect", [name for name, row in ROWS.items() if row.rewrite])
def test_new_input_arrives_or_nothing_runs(dialect):
    """
    The words of the dialect go in, those of the agent come out; what it cannot express is refused by name.
    """
    spoken = agents.load(dialect)
    for agent, one in BEHIND.items():
        stdin, _ = encode_input(dialect, one.event, hook().hook)
        shown = agents.decode(spoken, json.loads(stdin), config_event_of(spoken, "before_tool_execute")).tool
        new = agents.rewrite_input(spoken, shown, shown.input | {"command": "ls -l"})

        decision, record = heard(dialect, agent, ROWS[dialect].rewrite(new.native_input))

        assert record.runs[0].failure is None, agent
        if can(agent).rewrite is None:
            assert ("deny", True) == (decision.outcome, "input_rewrite" in {gap.capability for gap in record.gaps}), agent
            continue
        is_whole = can(agent).rewrite == "whole"
        made = decision.updated_input if is_whole else one.event.tool.native_input | decision.updated_input
        wanted = agents.rewrite_input(one.agent, one.event.tool, one.event.tool.input | {"command": "ls -l"})
        assert ("ls -l", None) == (wanted.input["command"], decision.outcome), agent
        assert wanted.native_input == made, agent


@pytest.mark.part(2)
@pytest.mark.parametrize(("code", "column"), [(2, "two"), (1, "one")])
@DIALECTS
def test_an_exit_code_means_what_it_means_to_the_dialect(dialect, code, column):
    """
    A refusal with what it wrote, nothing at all, or a failure, which only a closed hook turns into a refusal.
    """
    meant = getattr(ROWS[dialect], column)
    for agent in BEHIND:
        decision, record = heard(dialect, agent, "", "a word on stderr", code)
        closed, _ = heard(dialect, agent, "", "a word on stderr", code, on_failure="closed")
        assert (meant == "fails") == (record.runs[0].failure is not None), agent
        assert ("deny" if meant == "deny" else None) == decision.outcome, agent
        assert ("deny" if meant else None) == closed.outcome, agent


@pytest.mark.part(2)
@DIALECTS
def test_a_hook_that_is_killed_has_no_opinion_in_any_dialect(dialect):
    """
    Unless it has to be asked.
    """
    for agent in BEHIND:
        decision, record = heard(dialect, agent, failure="ended by signal 9")
        closed, _ = heard(dialect, agent, failure="ended by signal 9", on_failure="closed")
        assert (Decision(), "ended by signal 9", "deny") == (decision, record.runs[0].failure, closed.outcome), agent


@DIALECTS
def test_a_script_finds_the_variables_of_its_agent(dialect):
    """
    Where the project is above all.
    """
    known = agents.load(dialect).variables
    for agent, one in BEHIND.items():
        found = dialect_variables(dialect, one.event, "/somewhere")
        assert {name for name, slot in known.items() if slot != "session"} <= found.keys() <= known.keys(), agent
        assert all(found.values()), agent


def test_what_the_caller_has_in_its_environment_counts():
    """
    A variable that is set already stays as it is, and hooks that speak our own words get none.
    """
    worlds = []
    for dialect in ("gemini-cli", None):
        one = hook(dialect=dialect, handler={"env": {"GEMINI_CWD": "/own"}})
        ask(BEHIND["claude-code"], [one], lambda *words: worlds.append(words[2]) or said())

    assert ("/own", True) == (worlds[0].env["GEMINI_CWD"], worlds[0].env["GEMINI_PROJECT_DIR"].startswith("/"))
    assert "GEMINI_PROJECT_DIR" not in worlds[1].env

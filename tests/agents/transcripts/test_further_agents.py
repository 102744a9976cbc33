"""Session files of Qwen Code, Copilot CLI, Factory Droid and Cline: tokens, models, and what hooks do not hear."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from hookonce.agents import transcripts
from hookonce.agents.transcripts.accumulator import parse_chunk
from hookonce.agents.transcripts.follower import follow_file
from hookonce.agents.transcripts.types import ReaderMemory
from tests.agents.transcripts.material import GOLDEN, golden, lines, session, session_and_spawns

AGENTS = ("qwen-code", "copilot-cli", "factory-droid", "cline")
IN, OUT = 5000, 10  # tokens that the scripted model tells for each answer
SUBAGENT_CALLS = {"qwen-code": 2, "copilot-cli": 2, "cline": 2}  # those of Droid have sessions of their own


def provenance(agent):
    return json.loads((GOLDEN / agent / "provenance.json").read_text(encoding="utf-8"))["files"]


@pytest.mark.parametrize("agent", AGENTS)
def test_goldens_are_the_files_that_were_recorded(agent):
    """
    Each is what it was when its provenance was written.
    """
    for one in provenance(agent):
        assert one["sha256"] == sha256((GOLDEN / agent / one["file"]).read_bytes()).hexdigest()


@pytest.mark.parametrize("agent", AGENTS)
def test_the_tokens_of_a_session_are_those_that_the_model_has_told(agent):
    """
    Every request of the run once, with its model; Droid tells sums, which are the same in total.
    """
    calls = session(golden(agent, "tour")).calls
    requests = provenance(agent)[0]["requests"]

    assert agent == "factory-droid" or requests == len(calls)
    assert requests * IN == sum(one.usage.input_tokens for one in calls)
    assert requests * OUT == sum(one.usage.output_tokens for one in calls)
    assert requests * (IN + OUT) == sum(one.usage.total_tokens for one in calls)
    assert all(one.model and one.session for one in calls if one.subagent is None)


@pytest.mark.parametrize("agent", SUBAGENT_CALLS)
def test_calls_of_a_sub_agent_say_so(agent):
    """
    They stand in its own file, or have its id on every line.
    """
    reading, spawns = session_and_spawns(golden(agent, "tour"))
    theirs = [one for one in reading.calls if one.subagent is not None]
    assert SUBAGENT_CALLS[agent] == len(theirs)
    assert 1 == len({one.subagent.id for one in theirs})
    assert agent == "cline" or ["call_tour_6_0"] == [spawn.call for spawn in spawns]


def test_droid_tells_what_its_hooks_do_not():
    """
    No hook is asked after a command that failed; its exit code stands in the file. So does a refusal by a hook.
    """
    (failed,) = session(golden("factory-droid", "tour")).outcomes
    assert (False, 3, "Execute", True) == (failed.ok, failed.exit_code, failed.tool, failed.is_done)
    refused = [one for one in session(golden("factory-droid", "refuse")).outcomes if one.refused_by]
    assert ["hook"] * 6 == [one.refused_by for one in refused]
    assert {"Execute", "Create", "Edit", "Read", "Task", "lab___echo"} == {one.tool for one in refused}


def test_qwen_tells_results_and_who_has_refused_a_call():
    """
    By hooks, and by rules of the user's own settings, of which hooks hear nothing. A command that a signal ended failed.
    """
    ran = {one.id: one for one in session(golden("qwen-code", "tour")).outcomes}
    assert [(True, 0), (False, 3)] == [(ran[name].ok, ran[name].exit_code) for name in ("call_tour_0_0", "call_tour_7_0")]
    assert (True, None, "write_file") == (ran["call_tour_1_0"].ok, ran["call_tour_1_0"].exit_code, ran["call_tour_1_0"].tool)
    assert {None} == {one.duration_ms for one in ran.values()}

    found = {one.id.split("_")[2]: one for one in session(golden("qwen-code", "refuse")).outcomes}
    assert {"0": "hook", "1": "agent", "6": "hook"} == {name: one.refused_by for name, one in found.items() if one.refused_by}
    assert {"2": False, "3": False, "4": False, "5": False, "7": True} == {name: one.ok for name, one in found.items() if not one.refused_by}


@pytest.mark.parametrize(
    ("status", "execution", "display", "expected"),
    [
        ("cancelled", "not_started", "no", (None, "user")),
        ("cancelled", "cancelled", "no", (False, None)),
        ("success", "success", "in the background", (None, None)),
        ("success", "success", {"type": "shell_result", "exitCode": 0}, (True, None)),
        ("success", "success", {"type": "shell_result", "exitCode": 4}, (False, None)),
        ("error", "not_started", "bad parameters", (False, None)),
        ("validating", "success", "", None),
    ],
)
def test_qwen_knows_a_cancelled_call_from_a_refused_one(status, execution, display, expected):
    """
    A call that a person has ended did run. A command without an exit code is unknown.
    """
    parts = [{"functionResponse": {"id": "c", "name": "run_shell_command", "response": {}}}]
    result = {"callId": "c", "status": status, "executionStatus": execution, "resultDisplay": display}
    line = {"type": "tool_result", "timestamp": "2026-11-16T12:00:00Z", "message": {"parts": parts}, "toolCallResult": result}
    memory, _, _ = parse_chunk(transcripts.load("qwen-code"), ReaderMemory(), lines(line))

    assert ({"c": expected} if expected else {}) == {name: (one.ok, one.refused_by) for name, one in memory.outcomes.items()}


def test_copilot_tells_who_has_refused_a_call():
    """
    By the code of its error, and by its own words where it was a hook.
    """
    refused = [one for one in session(golden("copilot-cli", "refuse")).outcomes if one.refused_by]
    assert {"hook"} == {one.refused_by for one in refused}
    assert "bash" in {one.tool for one in refused}
    assert () == session(golden("copilot-cli", "tour")).outcomes


@pytest.mark.parametrize(
    ("agent", "environment", "place"),
    [
        ("copilot-cli", {}, "/home/dev/.copilot/session-state/s/events.jsonl"),
        ("copilot-cli", {"COPILOT_HOME": "/c"}, "/c/session-state/s/events.jsonl"),
        ("cline", {}, "/home/dev/.cline/data/sessions/s/s.messages.json"),
        ("cline", {"CLINE_DIR": " /c "}, "/c/data/sessions/s/s.messages.json"),
        ("cline", {"CLINE_DIR": "/c", "CLINE_DATA_DIR": "/d"}, "/d/sessions/s/s.messages.json"),
        ("cline", {"CLINE_DATA_DIR": "/d", "CLINE_SESSION_DATA_DIR": "/e"}, "/e/s/s.messages.json"),
        ("opencode", {}, "/home/dev/.local/share/opencode/opencode.db/s"),
        ("opencode", {"XDG_DATA_HOME": "/x"}, "/x/opencode/opencode.db/s"),
        ("opencode", {"XDG_DATA_HOME": "/x", "OPENCODE_DB": "own.db"}, "/x/opencode/own.db/s"),
        ("opencode", {"XDG_DATA_HOME": "/x", "OPENCODE_DB": "/y/own.db"}, "/y/own.db/s"),
        ("opencode", {"OPENCODE_DB": ":memory:"}, None),
    ],
)
def test_a_file_that_no_payload_names_lies_where_the_agent_puts_it(agent, environment, place):
    """
    In a folder of its session, which variables move as they do in the shipped program.
    """
    found = transcripts.load(agent).locate(Path("/home/dev"), "s", environment)
    assert place == (None if found is None else str(found))


def test_totals_that_grow_are_counted_once(tmp_path):
    """
    The settings of a Droid session hold all tokens so far: what is new since the last look is one call.
    """
    file, reader = tmp_path / "s1.settings.json", transcripts.load("factory-droid")
    found, cursor = [], None
    for given in (100, 100, 250, 0):
        file.write_text(json.dumps({"model": "m", "tokenUsage": {"inputTokens": given, "outputTokens": given // 10, "cacheReadTokens": 7}}), encoding="utf-8")
        cursor, reading = follow_file(reader, file, cursor)
        found += [(one.id, one.usage.input_tokens, one.usage.output_tokens) for one in reading.calls]
    assert [("s1/117", 107, 10), ("s1/282", 150, 15)] == found

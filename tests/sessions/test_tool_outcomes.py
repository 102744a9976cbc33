"""What a tool call came to, where hooks do not hear it: by the agent's own session file, and never by a guess."""

import shutil
from contextlib import closing

import pytest
from msgspec.structs import replace

from hookonce.agents.transcripts.types import ToolOutcome
from hookonce.model import Decision, HookRun, Result, Tool
from hookonce.sessions import transcript_events
from hookonce.sessions.derive.calls import OpenCalls, update_calls
from hookonce.sessions.derive.summary import summarize_session
from hookonce.sessions.transcript_events import TranscriptOwner, outcome_records
from hookonce.store import database
from hookonce.store.query import RecordFilter, find_records
from tests.agents.transcripts.material import GOLDEN, golden, session
from tests.sessions.test_tailer import TailerHarness, harness  # noqa: F401  the fixture
from tests.store.rows import stored

FAILED, RAN, PATCH = "call_tour_7_0", "call_tour_0_0", "call_tour_1_0"


def outcomes(agent, scenario):
    return {one.id: one for one in session(golden(agent, scenario)).outcomes}


def test_a_rollout_tells_exit_code_and_duration_of_each_command():
    """
    In the figures of Codex; a patch and an MCP call are told too, and what only the model was told is not lost.
    """
    found = outcomes("codex", "tour")
    assert (False, 3, 858.924) == (found[FAILED].ok, found[FAILED].exit_code, found[FAILED].duration_ms)
    assert (True, 0) == (found[RAN].ok, found[RAN].exit_code)
    assert (True, "apply_patch") == (found[PATCH].ok, found[PATCH].tool)
    assert found["call_tour_5_0"].ok is True
    assert all(one.is_done and one.time for one in found.values())


@pytest.mark.parametrize(("agent", "refused"), [("claude-code", 6), ("codex", 4), ("gemini-cli", 6)])
def test_a_refusal_by_a_hook_is_told(agent, refused):
    """
    In the words that the agent itself uses towards its model.
    """
    found = [one.refused_by for one in outcomes(agent, "refuse").values() if one.refused_by]
    assert ["hook"] * refused == found


def kept(*types):
    with closing(database.connect_reader()) as connection:
        found = list(find_records(connection, RecordFilter()))
    return [one for one in found if not types or one.event.type in types]


class Codex(TailerHarness):
    """A session of Codex whose rollout file is there."""

    def call(self, kind, call_id, path, result=None, runs=(), decision=None, **more):
        tool = Tool(name="shell", native="Bash", input={"command": "x"}, call_id=call_id, result=result)
        record = stored(
            0, type=kind, agent="codex", session="s", tool=tool, model=None, data={"transcript_path": str(path)}, **more
        )
        self.journal.append(replace(record, runs=list(runs), decision=decision))


@pytest.fixture
def codex(harness, tmp_path):  # noqa: F811
    harness.__class__ = Codex
    folder = shutil.copytree(GOLDEN / "codex", tmp_path / ".codex/sessions")
    harness.file = folder / golden("codex", "tour").relative_to(GOLDEN / "codex")
    harness.refusals = folder / golden("codex", "refuse").relative_to(GOLDEN / "codex")
    return harness


def test_a_command_that_failed_is_recorded_as_failed(codex):
    """
    Codex reports its output alone; whether it failed, and how long it took, stands in the record of its end all the same.
    """
    for call_id in (FAILED, RAN):
        codex.call("before_tool_execute", call_id, codex.file)
        codex.call("after_tool_execute", call_id, codex.file, Result(output="oops", duration_ms=4000))
    codex.until(lambda: 2 == len(kept("after_tool_execute")))
    failed, ran = (one.event.tool.result for one in kept("after_tool_execute"))

    assert (False, 3, 858.924) == (failed.ok, failed.exit_code, failed.duration_ms)
    assert (True, 0) == (ran.ok, ran.exit_code)
    codex.until(lambda: codex.status["events"] > 5)
    assert 2 == len(kept("after_tool_execute")), "what is known is not told a second time"


def test_an_unknown_result_stays_unknown_until_the_file_tells_it(codex):
    """
    Its end is stored as it came; the file's own record of it follows, and the session counts one call and one failure.
    """
    whole = codex.file.read_bytes()
    codex.file.write_bytes(whole[:400])
    codex.call("before_tool_execute", FAILED, codex.file)
    codex.call("after_tool_execute", FAILED, codex.file, Result(output="oops"))
    codex.until(lambda: kept("after_tool_execute"))
    assert kept("after_tool_execute")[0].event.tool.result.ok is None
    codex.file.write_bytes(whole)
    codex.tell("before_model", codex.file, agent="codex")
    codex.until(lambda: 2 == len(kept("after_tool_execute")))

    late = kept("after_tool_execute")[0 if kept("after_tool_execute")[0].event.origin else 1].event
    assert (["transcript"], False, 3) == (late.origin.via, late.tool.result.ok, late.tool.result.exit_code)
    session, calls = summarize_session(kept())
    assert (1, 1, [(False, 858.924)]) == (
        session.calls,
        session.failed_calls,
        [(call.ok, call.duration_ms) for call in calls],
    )


def test_nobody_waits_for_a_long_file_before_an_end_is_stored(codex, monkeypatch):
    """
    A session that is resumed has megabytes that were not read: its calls' results follow, when they were.
    """
    monkeypatch.setattr(transcript_events, "_MAX_PEEK_BYTES", 1000)
    codex.call("before_tool_execute", FAILED, codex.file)
    codex.call("after_tool_execute", FAILED, codex.file, Result(output="oops"))
    codex.until(lambda: 2 == len(kept("after_tool_execute")))
    results = {one.event.origin is None: one.event.tool.result for one in kept("after_tool_execute")}

    assert (None, False) == (results[True].ok, results[False].ok)


def test_a_call_of_which_no_hook_hears_the_end_is_ended_by_the_file(codex):
    """
    Codex asks no hook after a failed patch or MCP call, nor after a command that it has left running.
    """
    codex.call("before_tool_execute", FAILED, codex.file)
    codex.until(lambda: kept("after_tool_execute"))
    (end,) = kept("after_tool_execute")
    assert ("shell", "Bash", 3) == (end.event.tool.name, end.event.tool.native, end.event.tool.result.exit_code)
    codex.call("after_tool_execute", FAILED, codex.file, Result(output="late"))
    codex.until(lambda: 2 == len(kept("after_tool_execute")))
    assert 1 == sum(one.event.data.get("repeat") is True for one in kept("after_tool_execute"))
    assert 1 == len(summarize_session(kept())[1])


def test_a_patch_of_which_no_hook_hears_the_end_has_written_its_files(codex):
    """
    Codex carries out a patch that comes through the shell itself, and asks no hook after it: the session knows the file.
    """
    files = [{"path": "made.txt", "operation": "create"}]
    tool = Tool(name="shell", native="Bash", input={"command": "apply_patch"}, call_id=RAN)
    data = {"transcript_path": str(codex.file), "files": files}
    record = stored(0, type="before_tool_execute", agent="codex", session="s", tool=tool, model=None, data=data)
    codex.journal.append(replace(record, decision=None))
    codex.until(lambda: kept("after_tool_execute"))
    assert files == kept("after_tool_execute")[0].event.data["files"]
    assert {"made.txt": 1} == {path: stats.writes for path, stats in summarize_session(kept())[0].files.items()}


def test_calls_that_hooks_have_not_told_of_are_not_added(codex):
    """
    The file completes the record; a call that was made before hookonce was there is none of it.
    """
    codex.tell("before_prompt", codex.file, agent="codex")
    codex.until(lambda: codex.status["events"] > 5)
    assert [] == kept("after_tool_execute", "tool_use_failure", "permission_denied")


def test_a_call_that_another_hook_has_refused_is_known_as_refused(codex):
    """
    Ours said nothing; the record says that it was refused, not by us, and nobody waits for its end.
    """
    codex.call("before_tool_execute", "call_refuse_0_0", codex.refusals)
    codex.until(lambda: kept("permission_denied"))
    (refusal,) = kept("permission_denied")

    assert ("deny", "another hook", None) == (refusal.decision.outcome, refusal.decision.by, refusal.decision.reason)
    (call,) = summarize_session(kept())[1]
    assert (True, None) == (call.refused, call.ok)


def test_a_call_without_an_id_is_ended_by_the_file_as_well(codex, tmp_path):
    """
    Droid tells its hooks no ids, and nothing of a command that failed: the last call of that tool before it has ended.
    """
    folder = shutil.copytree(GOLDEN / "factory-droid/sessions", tmp_path / ".factory/sessions")
    file = folder / golden("factory-droid", "tour").relative_to(GOLDEN / "factory-droid/sessions")
    tool = Tool(name="shell", native="Execute", input={"command": "x"})
    record = stored(0, type="before_tool_execute", agent="factory-droid", session="s", tool=tool, model=None, data={"transcript_path": str(file)})
    codex.journal.append(replace(record, decision=None))
    codex.until(lambda: kept("after_tool_execute"))
    session, (call,) = summarize_session(kept())
    assert (1, record.event.id, False, True) == (session.failed_calls, call.id, call.ok, call.guessed)
    later = stored(0, type="before_tool_execute", agent="factory-droid", session="s", tool=tool, model=None, data={"transcript_path": str(file)}, time="2026-12-01T00:00:00Z")
    codex.journal.append(replace(later, decision=None))
    codex.until(lambda: 2 == len(kept("before_tool_execute")))
    codex.tell("before_model", file, agent="factory-droid", time="2026-12-01T00:00:01Z")
    codex.until(lambda: kept("before_model"))
    assert 1 == len(kept("after_tool_execute")), "an outcome is that of a call before it, and of one"
    assert [False, None] == [one.ok for one in summarize_session(kept())[1]]


def test_a_call_is_known_by_the_id_of_the_model_as_well(codex, tmp_path):
    """
    Qwen tells hooks an id of its own and that of the model, which alone stands in its file.
    """
    folder = shutil.copytree(GOLDEN / "qwen-code/projects", tmp_path / ".qwen/projects")
    file = folder / golden("qwen-code", "refuse").relative_to(GOLDEN / "qwen-code/projects")

    def tell(kind, number, result=None):
        tool = Tool(name="shell", native="run_shell_command", input={"command": number}, call_id=f"toolu_{number}", result=result)
        data = {"transcript_path": str(file), "model_call_id": f"call_results_{number}_0"}
        record = stored(0, type=kind, agent="qwen-code", session="s", tool=tool, model=None, data=data, time="2026-11-16T12:54:00Z")
        codex.journal.append(replace(record, decision=None))

    for number in (0, 3, 2):
        tell("before_tool_execute", number)
    tell("tool_use_failure", 2, Result(ok=False, error="File not found"))
    codex.until(lambda: kept("permission_denied") and 2 == len(kept("tool_use_failure")))
    codex.until(lambda: codex.status["events"] > 5)

    (refusal,) = kept("permission_denied")
    assert ("another hook", "toolu_0") == (refusal.decision.by, refusal.event.tool.call_id)
    calls = {one.id: one for one in summarize_session(kept())[1]}
    starts = {one.event.tool.call_id: calls[one.event.id] for one in kept("before_tool_execute")}
    assert [(True, None), (False, False), (False, False)] == [(starts[f"toolu_{number}"].refused, starts[f"toolu_{number}"].ok) for number in (0, 3, 2)]
    assert 2 == len(kept("tool_use_failure")), "what a hook has told is not told again"


def test_the_last_call_of_a_session_is_known_before_its_end(codex):
    """
    Both are stored at once; the file is read in between, because with the session its open calls end.
    """
    codex.call("before_tool_execute", FAILED, codex.file)
    codex.tell("session_end", codex.file, agent="codex", time="2026-11-15T13:00:00Z")
    codex.until(lambda: kept("session_end"))
    assert [False] == [call.ok for call in summarize_session(kept())[1]]


def test_a_call_that_we_have_refused_is_refused_once(codex):
    """
    The file repeats what the record says already.
    """
    refusal = Decision(outcome="deny", reason="no", by="mine")
    codex.call("before_tool_execute", "call_refuse_0_0", codex.refusals, decision=refusal)
    codex.until(lambda: codex.status["events"] > 5)
    assert [] == kept("permission_denied", "policy_violation")


def test_the_time_of_hooks_is_not_the_time_of_the_command(codex):
    """
    Where nobody tells how long a call took, what its hooks needed is taken off.
    """
    run = HookRun(hook="mine", duration_ms=700)
    codex.call("before_tool_execute", "other", codex.file, runs=[run], time="2026-11-15T12:00:00.000Z")
    codex.call("after_tool_execute", "other", codex.file, Result(output=""), time="2026-11-15T12:00:01.000Z")
    codex.until(lambda: kept("after_tool_execute"))
    (call,) = summarize_session(kept())[1]
    assert (300, None) == (call.duration_ms, call.ok)


def test_outcomes_of_calls_without_ids_are_told_in_their_order():
    """
    One that was read before its call was stored waits, and still comes before a later one.
    """
    starts = [f"2026-11-16T10:00:0{number}Z" for number in (1, 3)]
    tool = Tool(name="shell", native="Execute", input={})
    records = [stored(0, type="before_tool_execute", tool=replace(tool, input={"command": time}), time=time) for time in starts]
    calls = OpenCalls()
    for record in records:
        calls, _ = update_calls(calls, replace(record, decision=None))
    outcomes = [ToolOutcome(id=f"c{number}", tool="Execute", ok=False, exit_code=number, time=f"2026-11-16T10:00:0{number}Z") for number in (4, 2)]
    found = outcome_records(outcomes, calls, TranscriptOwner(agent="factory-droid", session="s"))
    assert [(2, records[0].event.id), (4, records[1].event.id)] == [(one.event.tool.result.exit_code, one.event.caused_by) for one in found]

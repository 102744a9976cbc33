"""Runs of hooks in the record: as many as it needs to judge a hook, and no more where somebody waits."""

import os
import time

import pytest
from msgspec.structs import replace

from hookonce.base import times
from hookonce.dispatch.hook_faults.history import find_failing_hooks, load_runs
from hookonce.dispatch.hook_faults.manifest_hooks import HookPlace
from hookonce.model import Handler, Hook, HookRun
from hookonce.store.entry import build_entry
from hookonce.store.spool import files
from hookonce.store.writer import Writer
from tests.store.rows import stored

HOOKS = [Hook(event="before_tool_execute", name=name, handler=Handler(type="command", command="x")) for name in ("often", "seldom")]


def entry(number, *names):
    record = stored(number, time=times.from_seconds(1e9 * 1.7 + number))
    return replace(record, runs=[HookRun(hook=name, scope="user", failure=f"exit code {number}") for name in names])


@pytest.fixture
def record(tmp_path, monkeypatch):
    """Forty calls of one hook, the first of which another was asked about too."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("hookonce.dispatch.hook_faults.history.time", lambda: 1e9 * 1.7)
    with Writer() as writer:
        writer.append([build_entry(entry(number, "often", *(["seldom"] if number < 4 else []))) for number in range(40)])


def test_the_newest_runs_are_read_until_each_suspect_has_enough(record):
    names = [run.hook for run in load_runs(HOOKS)]
    few = load_runs(HOOKS[:1])

    assert (40, 4) == (names.count("often"), names.count("seldom"))
    assert [f"exit code {number}" for number in range(39, 29, -1)] == [run.failure for run in few]


def test_whoever_keeps_others_waiting_reads_what_there_is_time_for(record, monkeypatch):
    """
    The newest run at least; and nothing of a spool that is long because the store cannot be written.
    """
    files.append(entry(50, "often"))
    runs = load_runs(HOOKS, 0.0)
    monkeypatch.setattr("hookonce.dispatch.hook_faults.history._MAX_SPOOL_BYTES", 10)
    runs_without_spool = load_runs(HOOKS, 0.0)

    assert ["exit code 50", "exit code 39"] == [run.failure for run in runs]
    assert ["exit code 39"] == [run.failure for run in runs_without_spool]
    assert 50 == int(load_runs(HOOKS)[0].failure.split()[-1])


@pytest.mark.parametrize(("age_s", "told"), [(-60, []), (60, ["failing"])])
def test_a_hook_whose_script_has_a_new_mode_is_not_told_to_fail(tmp_path, age_s, told):
    """
    Who has followed the advice is not told it again; nobody knows yet what it does now.
    """
    (tmp_path / "guard.sh").write_text("exit 0\n")
    os.utime(tmp_path / "guard.sh", (0, 0))
    (tmp_path / "guard.sh").chmod(0o755)
    hook = Hook(event="before_tool_execute", name="guard", handler=Handler(type="command", command="./guard.sh"))
    started = times.from_seconds(time.time() + age_s)
    runs = [HookRun(hook="guard", scope="user", failure="exit code 126", started=started)] * 5
    place = HookPlace(tmp_path, tmp_path, "user", is_openhook=False)

    assert told == [fault.kind for _, fault in find_failing_hooks([(hook, place)], runs)]


GUARD = Hook(event="before_tool_execute", name="guard", blocking=True, handler=Handler(type="command", command="./guard.sh"))
CLOSED = replace(GUARD, on_failure="closed")


def describe_failures(folder, hook, *failures, outcome=None, age_s=60):
    """What is said of a hook in a manifest that is `age_s` older than its runs, which ended so, the newest first."""
    (folder / "hooks.json").touch()
    started = times.from_seconds(time.time() + age_s)
    runs = [HookRun(hook="guard", scope="user", failure=one, started=started, duration_ms=2003, outcome=outcome) for one in failures]
    place = HookPlace(folder, folder, "user", manifest_file=folder / "hooks.json")
    return [fault.sentence for _, fault in find_failing_hooks([(hook, place)], runs)]


def test_runs_before_the_last_change_of_the_manifest_do_not_count(tmp_path):
    """
    Who has made a hook blocking is not told that it is not.
    """
    failures = ["exit code 2, but the hook is not blocking"] * 3

    assert [] == describe_failures(tmp_path, GUARD, *failures, age_s=-60)
    assert ["keeps failing: 3 of its last 3 runs (exit code 2, but the hook is not blocking)"] == describe_failures(tmp_path, GUARD, *failures)


@pytest.mark.parametrize(
    ("failures", "said"),
    [
        (["timeout", "timeout", "exit code 1", "timeout", None], "keeps timing out: 3 of its last 5 runs, and 1 failed otherwise"),
        (["exit code 1", "timeout", "timeout"], "keeps failing: 1 of its last 3 runs (exit code 1), and 2 failed otherwise"),
        ([None, "exit code 1", "exit code 1", "exit code 1"], "keeps failing: 3 of its last 4 runs (exit code 1)"),
        ([None, None, "exit code 1", "exit code 1", "exit code 1"], None),
    ],
)
def test_the_reason_is_that_of_the_newest_failure_and_so_is_its_count(tmp_path, failures, said):
    """
    A hook that works again is not told.
    """
    assert ([] if said is None else [said]) == describe_failures(tmp_path, GUARD, *failures)


def test_a_guard_that_failed_once_and_let_something_through_is_told(tmp_path):
    """
    Not one that refused because it failed, nor one that only looks on, nor one that has worked since.
    """
    said = "failed in its last run ({}), so what it judges was let through"
    look_on = replace(GUARD, blocking=False)

    assert [said.format("timeout after 2 s")] == describe_failures(tmp_path, GUARD, "timeout", None)
    assert [said.format("exit code 1")] == describe_failures(tmp_path, GUARD, "exit code 1")
    assert [said.format("exit code 2, but the hook is not blocking")] == describe_failures(tmp_path, look_on, "exit code 2, but the hook is not blocking")
    assert [] == describe_failures(tmp_path, CLOSED, "exit code 1", outcome="deny")
    assert [] == describe_failures(tmp_path, look_on, "exit code 1")
    assert [] == describe_failures(tmp_path, GUARD, None, "exit code 1")


def test_whoever_waits_for_nobody_reads_the_runs_of_hooks_that_failed_once(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("hookonce.dispatch.hook_faults.history.time", lambda: 1e9 * 1.7)
    with Writer() as writer:
        writer.append([build_entry(entry(1, "seldom"))])

    assert ["exit code 1"] == [run.failure for run in load_runs(HOOKS)]
    assert [] == load_runs(HOOKS, 1.0)

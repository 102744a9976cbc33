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

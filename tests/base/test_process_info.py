"""How deep hooks start agents that start hooks."""

import os
import subprocess

import pytest

from hookonce.base import process_info, runtime_dir
from hookonce.base.runtime_dir import runtime_file


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))


def below(environment):
    """The depth that a process finds which we have started."""
    pid = os.fork()
    if pid == 0:
        os._exit(process_info.nesting_depth(environment))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_what_a_handler_starts_is_one_deeper():
    """
    As long as the handler runs.
    """
    mark = process_info.register_handlers(2)

    assert 2 == below({process_info.PARENT_VARIABLE: mark, process_info.DEPTH_VARIABLE: "1"})
    process_info.unregister_handlers(mark)
    process_info.unregister_handlers(mark)
    assert 0 == below({process_info.PARENT_VARIABLE: mark, process_info.DEPTH_VARIABLE: "2"})


def test_a_process_that_runs_handlers_all_day_registers_each_depth_once(monkeypatch):
    """
    The token outlives a call, and is renewed before its file would be swept away.
    """
    registry = process_info.LongLivedRegistry(runtime_dir.find_runtime_dir())
    first, second = registry.register_handlers(1), registry.register_handlers(2)
    registry.unregister_handlers(first)

    assert (first, second) == (registry.register_handlers(1), registry.register_handlers(2))
    assert [1, 2] == [below({process_info.PARENT_VARIABLE: token}) for token in (first, second)]
    later = process_info.monotonic() + 600
    monkeypatch.setattr(process_info, "monotonic", lambda: later)
    renewed = registry.register_handlers(1)
    assert renewed != first
    assert [1, 1] == [below({process_info.PARENT_VARIABLE: token}) for token in (first, renewed)]


@pytest.mark.part(2)
@pytest.mark.parametrize("mark", ["", "0" * 16, "../calls/x", "/etc/passwd", "a b", "é", "x" * 5000])
def test_a_mark_that_is_none_counts_for_nothing(mark):
    """
    Whatever a repository sets in the environment, hooks run.
    """
    assert 0 == below({process_info.PARENT_VARIABLE: mark, process_info.DEPTH_VARIABLE: "9"})
    assert 0 == below({process_info.DEPTH_VARIABLE: "9"})


def test_a_handler_that_is_not_above_us_counts_for_nothing():
    """
    Its mark may have been carried off into a file of the repository.
    """
    with subprocess.Popen(["sleep", "5"]) as other:
        runtime_file("handlers", "abc123").write_text(f"{other.pid} 3")
        assert 0 == below({process_info.PARENT_VARIABLE: "abc123"})
        other.kill()


@pytest.mark.parametrize("text", ["", "x y", "1", "1 2 3", "1 x"])
def test_a_mark_that_cannot_be_read_counts_for_nothing(text):
    """
    Somebody was killed while writing it.
    """
    runtime_file("handlers", "abc123").write_text(text)

    assert 0 == below({process_info.PARENT_VARIABLE: "abc123"})

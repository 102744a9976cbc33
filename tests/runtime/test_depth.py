"""How deep hooks start agents that start hooks."""

import os
import subprocess

import pytest

from hookonce.runtime import depth
from hookonce.runtime.folder import at


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))


def below(environment):
    """The depth that a process finds which we have started."""
    pid = os.fork()
    if pid == 0:
        os._exit(depth.depth_of(environment))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_what_a_handler_starts_is_one_deeper():
    """
    As long as the handler runs.
    """
    mark = depth.begin(2)

    assert 2 == below({depth.PARENT: mark, depth.DEPTH: "1"})
    depth.end(mark)
    depth.end(mark)
    assert 0 == below({depth.PARENT: mark, depth.DEPTH: "2"})


@pytest.mark.parametrize("mark", ["", "0" * 16, "../calls/x", "/etc/passwd", "a b", "é", "x" * 5000])
def test_a_mark_that_is_none_counts_for_nothing(mark):
    """
    Whatever a repository sets in the environment, hooks run.
    """
    assert 0 == below({depth.PARENT: mark, depth.DEPTH: "9"})
    assert 0 == below({depth.DEPTH: "9"})


def test_a_handler_that_is_not_above_us_counts_for_nothing():
    """
    Its mark may have been carried off into a file of the repository.
    """
    with subprocess.Popen(["sleep", "5"]) as other:
        at("handlers", "abc123").write_text(f"{other.pid} 3")
        assert 0 == below({depth.PARENT: "abc123"})
        other.kill()


@pytest.mark.parametrize("text", ["", "x y", "1", "1 2 3", "1 x"])
def test_a_mark_that_cannot_be_read_counts_for_nothing(text):
    """
    Somebody was killed while writing it.
    """
    at("handlers", "abc123").write_text(text)

    assert 0 == below({depth.PARENT: "abc123"})

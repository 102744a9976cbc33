"""Claims and results of hooks: any descriptor number, any failure half way, any status."""

import fcntl
import os
import resource

import pytest

from hookonce.handlers.supervise import hook_results
from hookonce.handlers.supervise.hook_results import ClaimHolder, HookClaim, encode_result, parse_result


@pytest.fixture
def claim(tmp_path):
    """The claim of a hook that nobody has begun."""
    return HookClaim(str(tmp_path / "claim"), 0)


@pytest.fixture
def high_pipe():
    """A pipe whose reading end has a number as in a daemon with many callers."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limits[1] < 4096:
        pytest.skip("this account may not open so many files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(4096, limits[0]), limits[1]))
    low_end, write_end = os.pipe()
    ends = [fcntl.fcntl(low_end, fcntl.F_DUPFD_CLOEXEC, 2048), write_end]
    os.close(low_end)
    yield ends
    for end in ends:
        os.close(end)
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize("runner", ["there", "gone"])
def test_a_hook_begins_whatever_the_number_of_the_pipe(high_pipe, claim, tmp_path, runner):
    """
    Unless its runner has gone; then its claim is free for whoever answers.
    """
    if runner == "gone":
        os.close(high_pipe.pop())

    assert (runner == "there") == ClaimHolder(claim, high_pipe[0]).begin()
    assert ["claim"] * (runner == "there") == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["flock", "poll"])
@pytest.mark.parametrize("problem", [ValueError, MemoryError, KeyboardInterrupt])
def test_a_claim_that_fails_half_way_leaves_nothing(monkeypatch, claim, tmp_path, name, problem):
    """
    An empty file that nobody holds would say that the hook is free, though nobody knows.
    """

    def fail(*_):
        raise problem

    monkeypatch.setattr(hook_results, name, fail)

    with pytest.raises(problem):
        ClaimHolder(claim, 0).begin()
    assert [] == [path.name for path in tmp_path.iterdir()]


def test_a_claim_that_cannot_be_locked_is_none_and_the_hook_is_asked(monkeypatch, claim, tmp_path):
    """
    As on a file system without locks.
    """

    def fail(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(hook_results, "flock", fail)

    assert ClaimHolder(claim, 0).begin()
    assert [] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("status", ["²", "٣", "1²", "①", "+1", " 1", "", "1_0"])
def test_a_status_that_is_no_number_is_a_failure(status):
    """
    Whatever else Unicode calls a digit.
    """
    result = parse_result(encode_result(status, b"out"))

    assert (None, status, b"out") == (result.code, result.failure, result.stdout)
    assert 7 == parse_result(encode_result("7")).code

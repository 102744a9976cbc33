"""A machine on which another user was faster to take the places for runtime files: hooks are asked all the same."""

import tempfile
from pathlib import Path

import pytest

from hookonce.base import paths
from hookonce.daemon import lifecycle
from tests.base.taken_locations import taken
from tests.daemon.installed_home import Home, command, refused

NO = command("echo no >&2; exit 2")


@pytest.fixture
def far(installed, tmp_path):
    """A home whose own place has a longer path than a socket can have."""
    yield from crowded(tmp_path, installed)


@pytest.fixture
def near(installed):
    """A home with a short path."""
    with tempfile.TemporaryDirectory(prefix="h") as place:
        yield from crowded(Path(place), installed)


def crowded(path, installed):
    """A home of which the usual places are taken, with a hook that refuses."""
    with taken(path):
        found = Home(path, installed)
        found.hooks(NO)
        yield found
        found.end()


def test_hooks_are_asked_and_the_daemon_is_done_without_where_its_path_would_be_too_long(far):
    """
    The second call finds the directory that the first has made, and starts nobody who could not listen there.
    """
    assert all(refused(far.tool(), "no") for _ in range(2))
    assert far.home / ".local/share/hookonce/run" == far.house.parent
    assert (far.house / "slots").is_dir()
    assert (None, []) == (far.status(), far.daemons())


def test_a_daemon_that_cannot_listen_leaves_a_stamp_and_a_word(far):
    """
    Whoever starts it by hand hears at once that it will not come.
    """
    with far.inside():
        assert 0 == lifecycle.serve()

        assert lifecycle.failure_marker_path().exists()
        assert not far.is_locked()
        assert "too long" in paths.log_path().read_text(encoding="utf-8").splitlines()[-1]


def test_a_short_path_has_its_daemon_there(near):
    """
    Everything is as anywhere else.
    """
    assert near.warm()["pid"] in near.daemons()
    assert near.home / ".local/share/hookonce/run" == near.house.parent
    assert refused(near.tool(), "no")
    assert 1 <= near.status()["answered"]

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
    path = tmp_path / "a-folder-with-a-name-that-is-long-enough-for-every-system-and-longer"
    path.mkdir()
    yield from crowded(path, installed)


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


def test_a_path_that_is_too_long_for_a_socket_has_its_daemon_too(far):
    """
    Whoever connects goes through the folder.
    """
    assert len(str(far.socket)) > 108
    assert far.warm()["pid"] in far.daemons()
    assert refused(far.tool(), "no")


def test_a_daemon_that_cannot_listen_leaves_a_stamp_and_a_word(far):
    """
    Whoever starts it by hand hears at once that it will not come.
    """
    far.socket.mkdir()
    with far.inside():
        assert 70 == lifecycle.serve()

        lifecycle.release_lock()  # as its end would have done
        assert lifecycle.failure_marker_path().exists()
        assert "Is a directory" in paths.log_path().read_text(encoding="utf-8")


def test_a_short_path_has_its_daemon_there(near):
    """
    Everything is as anywhere else.
    """
    assert near.warm()["pid"] in near.daemons()
    assert near.home / ".local/share/hookonce/run" == near.house.parent
    assert refused(near.tool(), "no")
    assert 1 <= near.status()["answered"]

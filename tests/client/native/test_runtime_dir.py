"""The house: client and Python agree on the home, and so on where the daemon lives."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hookonce.base.runtime_location import runtime_dir_name
from hookonce.base.wire import ANSWER, encode_reply
from tests.base.taken_locations import taken
from tests.client.native.client_env import COLD, Daemon, World, hear

ASK = "from hookonce.base.runtime_dir import find_runtime_dir; print(find_runtime_dir())"


def pythons(home):
    """Where Python looks for the daemon of a home, made if need be."""
    env = {"HOME": home, "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", ASK], env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("spelled", ["{0}", "{0}/", "/{0}", "//{0}", "{0}//./", "{0}/bin/..", "{0}/./bin/.././", "/.{0}"])
def test_a_home_has_one_house_in_whatever_way_it_is_spelled(world, spelled):
    """
    Client and Python meet at the same socket.
    """
    home = spelled.format(world.home)
    place = Path(pythons(home))
    world.env["HOME"] = home
    with Daemon(place) as daemon:
        daemon.act = lambda line: (hear(line), line.sendall(encode_reply(ANSWER, 0, 4, b"here", b"")))
        try:
            assert (4, b"here", b"") == world.ask("x")
        finally:
            shutil.rmtree(place)


@pytest.mark.parametrize(("where", "counts"), [(None, True), ("", False), ("..", False), ("../..", False)])
def test_a_repository_is_no_home(world, where, counts):
    """
    Whoever wrote it would speak for the user; a link by that name is enough.
    """
    inner = world.home / "a" / "b"
    inner.mkdir(parents=True)
    if where is not None:
        (inner / where / ".git").symlink_to("/nowhere")
    place = world.house().with_name(runtime_dir_name(bytes(inner), bytes(inner / ".local/share/hookonce")))
    place.mkdir(mode=0o700)
    world.env["HOME"] = str(inner)
    try:
        world.run("x", given=b" " * (16 << 20))  # too large for any daemon: that of the user of this machine is left alone
        assert counts == (place / "slots").exists()
    finally:
        shutil.rmtree(place)


@pytest.fixture
def near(client):
    """A world with so short a path that a socket has room below it, where the usual places are taken."""
    with tempfile.TemporaryDirectory(prefix="h") as place:
        home = Path(place)
        with taken(home):
            yield World(client, home)


def test_where_the_usual_places_are_taken_the_house_lies_with_our_data(near):
    """
    Client and Python meet there.
    """
    place = near.house()
    with Daemon(place) as daemon:
        daemon.act = lambda line: (hear(line), line.sendall(encode_reply(ANSWER, 0, 4, b"here", b"")))

        assert (4, b"here", b"") == near.ask("x")
    assert near.home / ".local/share/hookonce/run" == place.parent


@pytest.mark.parametrize("spelled", ["{0}", "{0}/a-name-that-is-long-enough-for-every-system/é" + "/b" * 500])
def test_a_path_that_no_socket_can_have_costs_the_daemon_only(world, spelled):
    """
    Nobody is started who could not listen, and the slots are there.
    """
    home = Path(spelled.format(world.home))
    home.mkdir(parents=True, exist_ok=True)
    world.env["HOME"] = str(home)
    with taken(home):
        place = Path(pythons(str(home)))
        assert COLD == world.run("x")

    assert (0, str(place / "slots/0")) == (world.starts(), world.descriptors("cold")[4])
    assert {"slots"} == {path.name for path in place.iterdir()}


@pytest.mark.parametrize("kind", ["open", "link"])
def test_the_last_place_has_to_be_ours_alone_too(world, kind):
    """
    Else there is no house, and the call goes without.
    """
    with taken(world.home):
        place = world.house()
        if kind == "open":
            place.parent.chmod(0o755)
        else:
            place.parent.rename(world.home / "target")
            place.parent.symlink_to(world.home / "target")
        assert COLD == world.run("x")

    assert "-" == world.words()[-1]

"""The house: client and Python agree on the home, and so on where the daemon lives."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookonce.runtime.folder import house
from hookonce.wire import ANSWER, reply
from tests.client.world import Daemon, hear

ASK = "from hookonce.runtime.folder import folder; print(folder())"


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
        daemon.act = lambda line: (hear(line), line.sendall(reply(ANSWER, 0, 4, b"here", b"")))
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
    place = world.house().with_name(house(inner, inner / ".local/share/hookonce"))
    place.mkdir(mode=0o700)
    world.env["HOME"] = str(inner)
    try:
        world.run("x", given=b" " * (16 << 20))  # too large for any daemon: that of the user of this machine is left alone
        assert counts == (place / "slots").exists()
    finally:
        shutil.rmtree(place)

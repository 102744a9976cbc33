"""The house: client and Python agree on the home, and so on where the daemon lives."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hookonce.base.runtime_location import CLIENT_SUBDIR
from hookonce.base.wire import ANSWER, encode_reply
from tests.base.taken_locations import taken
from tests.client.native.client_env import COLD, Daemon, World, hear

ASK = "from hookonce.base.runtime_dir import find_runtime_dir; print(find_runtime_dir())"


def pythons(home):
    """Where Python looks for the daemon of a home, made if need be."""
    env = {"HOME": home, "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", ASK], env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("spelled", ["{0}", "{0}/", "/{0}", "//{0}", "{0}//./", "{0}/told/..", "{0}/./told/.././", "/.{0}"])
def test_a_home_has_one_house_in_whatever_way_it_is_spelled(world, spelled):
    """
    Client and Python meet at the same socket.
    """
    with Daemon(Path(pythons(spelled.format(world.home)))) as daemon:
        daemon.act = lambda line: (hear(line), line.sendall(encode_reply(ANSWER, 0, 4, b"here", b"")))
        assert (4, b"here", b"") == world.ask("x")


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


def test_a_path_that_no_socket_can_have_is_none_for_the_daemon_either(client, tmp_path):
    """
    The socket is found through its folder.
    """
    home = tmp_path / "a-name-that-is-long-enough-for-every-system" / "é" / ("b/" * 200)
    home.mkdir(parents=True)
    world = World(client, home)
    with Daemon(world.house()) as daemon:
        daemon.act = lambda line: (hear(line), line.sendall(encode_reply(ANSWER, 0, 4, b"here", b"")))
        assert (4, b"here", b"") == world.ask("x")


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


def other_folder(world):
    """A folder with a file that names an interpreter, which is not that of a client that lies elsewhere."""
    (world.home / "other").mkdir()
    (world.home / "other" / "interpreter").write_text("/bin/false\nbuild\n/\n")
    return world.home / "other"


WAYS = {
    "its path": lambda world: [str(world.client)],
    "a path with a dot": lambda world: [f"{world.home}/./{CLIENT_SUBDIR}/hookonce-on"],
    "a path that goes up": lambda world: [f"{world.home}/told/../{CLIENT_SUBDIR}/hookonce-on"],
    "a path with two slashes": lambda world: [f"{world.home}/{CLIENT_SUBDIR}//hookonce-on"],
    "a path from where the caller is": lambda _: [f"./{CLIENT_SUBDIR}/hookonce-on"],
    "a link": lambda world: link(world.home / "link", world.client),
    "a link beside files of others": lambda world: link(other_folder(world) / "hookonce-on", world.client),
    "a link to its folder": lambda world: [*map("{}/hookonce-on".format, link(world.home / "bin", world.bin))],
    "a link to its home": lambda world: [*map(f"{{}}/{CLIENT_SUBDIR}/hookonce-on".format, link(Path(f"{world.home}-moved"), world.home))],
}


def link(place, target):
    """The path of a new link."""
    place.symlink_to(target)
    return [str(place)]


@pytest.mark.native("a shell's script finds its folder otherwise")
@pytest.mark.parametrize("way", WAYS)
def test_it_lies_where_it_lies_in_whatever_way_it_is_started(world, way):
    """
    Python is told the folder without a link, and no other name of it.
    """
    done = subprocess.run([*WAYS[way](world), "x"], cwd=world.home, env=world.env, input=b"", capture_output=True, check=False)

    assert COLD == (done.returncode, done.stdout, done.stderr)
    assert str(world.bin) in world.words()


@pytest.mark.native("a shell's script finds its folder otherwise")
def test_a_descriptor_is_a_way_too(world):
    """
    Its path is one of /proc.
    """
    with world.client.open() as file:
        done = subprocess.run([f"/proc/self/fd/{file.fileno()}", "x"], env=world.env, pass_fds=[file.fileno()], input=b"", capture_output=True, check=False)

    assert COLD == (done.returncode, done.stdout, done.stderr)
    assert str(world.bin) in world.words()

"""The client as agents start it, in a home of its own, with an interpreter that only tells what it was given."""

import os
import shlex
import subprocess

import pytest

from tests.client.native.client_env import Daemon, World
from tests.shared import ROOT

SOURCE = ROOT / "src" / "hookonce" / "client" / "native"


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """The client of C, warnings being errors."""
    made = tmp_path_factory.mktemp("compiled") / "hookonce-on"
    words = [*shlex.split(os.environ.get("CC") or "cc"), "-Os", "-std=c11", "-Wall", "-Wextra", "-Werror"]
    try:
        done = subprocess.run([*words, "-o", made, SOURCE / "hookonce-on.c"], capture_output=True, text=True, check=False)
    except OSError:
        pytest.skip("there is no C compiler here")
    assert 0 == done.returncode, done.stderr
    return made


@pytest.fixture
def twin():
    """The client of a shell and Python."""
    return SOURCE / "hookonce-on.sh"


@pytest.fixture(params=["compiled", "twin"])
def client(request):
    """Every program that is a client; the same tests are for all, but for those that say why not."""
    mark = request.node.get_closest_marker("native")
    if mark and request.param == "twin":
        pytest.skip(mark.args[0])
    return request.getfixturevalue(request.param)


@pytest.fixture
def world(client, tmp_path):
    """A home with that client in it."""
    return World(client, tmp_path)


@pytest.fixture
def daemon(world):
    """Somebody at the socket who does what a test wants."""
    with Daemon(world.house()) as found:
        yield found

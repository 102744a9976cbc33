"""The client as agents start it, in a home of its own, with an interpreter that only tells what it was given."""

import os
import runpy
import shlex
import subprocess
import sys
from itertools import count
from types import SimpleNamespace

import pytest

from tests.client.native.client_env import Daemon, World
from tests.sample import EXHAUSTIVE
from tests.shared import ROOT

SOURCE = ROOT / "src" / "hookonce" / "client" / "native"


def load_build_hook():
    """The names of the build hook, without what it is built with."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "hatchling.builders.hooks.plugin.interface", SimpleNamespace(BuildHookInterface=list))
        return runpy.run_path(str(ROOT / "hatch_build.py"))


def pytest_collection_modifyitems(items):
    """The client with a C library is for each fourth test, and for none that waits, unless all are asked for."""
    numbers = count()

    def is_taken(item):
        is_libc = "callspec" in dir(item) and item.callspec.params.get("client") == "libc"
        return EXHAUSTIVE or not is_libc or (item.get_closest_marker("slow") is None and not next(numbers) % 4)

    items[:] = filter(is_taken, items)


@pytest.fixture(scope="session")
def native(tmp_path_factory):
    """The clients of C by how they are linked, warnings being errors."""
    folder = tmp_path_factory.mktemp("native")
    compiler = [*shlex.split(os.environ.get("CC") or "cc"), "-Os", "-std=c11", "-Wall", "-Wextra", "-Werror"]
    clients = {}
    for name, flags in {"freestanding": load_build_hook()["_FREESTANDING"], "libc": ()}.items():
        clients[name] = folder / name
        try:
            done = subprocess.run([*compiler, *flags, "-o", folder / name, SOURCE / "hookonce-on.c"], capture_output=True, text=True, check=False)
        except OSError:
            pytest.skip("there is no C compiler here")
        assert 0 == done.returncode, done.stderr
    return clients


@pytest.fixture
def compiled(native):
    """The client of C as most machines have it."""
    return native["freestanding"]


@pytest.fixture
def libc(native):
    """The same with a C library."""
    return native["libc"]


@pytest.fixture
def twin():
    """The client of a shell and Python."""
    return SOURCE / "hookonce-on.sh"


@pytest.fixture(params=["compiled", "libc", "twin"])
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

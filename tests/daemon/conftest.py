"""A copy of the package with a client built from it, and homes in which that is installed."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.client.native.conftest import load_build_hook
from tests.daemon.installed_home import Home, command
from tests.sessions.session_clock import agent, harness
from tests.shared import ROOT

__all__ = ["agent", "harness"]
PACKAGE = ROOT / "src" / "hookonce"
PLACE = "from hookonce.client.installation import install_client; install_client()"


@pytest.fixture(scope="session")
def shelf(tmp_path_factory):
    """A copy of the package: what a test does to it, or somebody to the original meanwhile, disturbs nobody."""
    found = tmp_path_factory.mktemp("shelf")
    shutil.copytree(PACKAGE, found / "hookonce")
    built = found / "hookonce" / "client" / "native" / "hookonce-on"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HOOKONCE_CLIENT", raising=False)
        if not load_build_hook()["_make"](built.parent):
            pytest.skip("there is no compiler here for a client of C")
    return found


@pytest.fixture(scope="session")
def installed(shelf, tmp_path_factory):
    """What the copy puts beside agents' configurations."""
    return install(shelf, tmp_path_factory.mktemp("installed"))


def install(shelf, home):
    """Let a package put its client into a home; the folder in which that lies, without what is made of hooks."""
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(shelf)}
    subprocess.run([sys.executable, "-c", PLACE], env=env, check=True, capture_output=True)
    found = home / ".local" / "share" / "hookonce" / "bin"
    for file in found.iterdir():
        if file.suffix == ".bin":
            file.unlink()
    return found


def hurried(shelf, tmp_path_factory, name, old, new):
    """What a copy installs in which a file says something else, such as how long a daemon has patience."""
    package = tmp_path_factory.mktemp("hurried")
    shutil.copytree(shelf / "hookonce", package / "hookonce")
    file = package / "hookonce" / name
    text = file.read_text(encoding="utf-8")
    assert 1 == text.count(old)
    file.write_text(text.replace(old, new), encoding="utf-8")
    return install(package, tmp_path_factory.mktemp("by"))


@pytest.fixture
def own_package(shelf, tmp_path, tmp_path_factory):
    """A home with a hook that refuses, and its package, which nobody else uses."""
    package = tmp_path_factory.mktemp("own")
    shutil.copytree(shelf / "hookonce", package / "hookonce")
    found = Home(tmp_path, install(package, tmp_path_factory.mktemp("by")))
    found.hooks(command("echo no >&2; exit 2"))
    yield found, package / "hookonce"
    found.end()


@pytest.fixture
def home(installed, tmp_path):
    """A home with the client in it."""
    found = Home(tmp_path, installed)
    yield found
    found.end()


@pytest.fixture
def warm(home):
    """A home with a daemon."""
    home.warm()
    return home


@pytest.fixture
def show():
    """Tell a figure to whoever wants to know more than that all is well (pytest -s)."""
    return lambda text: sys.stdout.write(f"{text}\n")

"""The HTTP door while one daemon takes over from another: a right answer or an error to try again after, never silence."""

import os
import shutil
import signal
from http.client import HTTPException

import pytest

from tests.daemon.http_client import Poster
from tests.daemon.installed_home import payload, refused
from tests.handlers.processes import eventually


@pytest.fixture
def upgradable(own_package):
    """A caller over HTTP, and the package of the daemon that answers it."""
    home, package = own_package
    return Poster(home), package


def post(poster):
    """What becomes of a call: refused by the hook, or told to come again; anything else is not to be."""
    try:
        status, body = poster.post(payload("ls"))
    except (OSError, HTTPException):  # nobody listens, or has hung up
        return "again"
    if status == 503:
        return "again"
    assert (200, True) == (status, refused((0, body), "no"))
    return "answered"


def upgrade(package):
    """Put another version in the place of the package, as an installer does."""
    package.rename(package.with_name("old"))
    shutil.copytree(package.with_name("old"), package)
    (package / "handlers" / "verdict.py").write_text((package / "handlers" / "verdict.py").read_text() + "\n")


def test_after_an_upgrade_another_daemon_answers_at_the_same_port(upgradable):
    """
    Agents that only post start no daemon: the one that leaves starts the next. It runs no hook itself any more.
    """
    poster, package = upgradable
    before = poster.home.status()
    assert "answered" == post(poster)
    upgrade(package)

    assert "again" == post(poster)
    assert eventually(lambda: "answered" == post(poster), 30)
    after = poster.home.status()
    assert before["pid"] != after["pid"]
    assert before["build"] != after["build"]
    assert (True, None) == (after["http"]["open"], after["http"]["problem"])
    assert eventually(lambda: [after["pid"]] == [*poster.home.daemons()], 30)


def test_a_daemon_that_comes_too_early_waits_for_the_port(upgradable):
    """
    The one that still has it answers until it leaves.
    """
    poster, _ = upgradable
    old = poster.home.status()["pid"]
    poster.home.socket.unlink()
    poster.home.warm()
    new = poster.home.status()["pid"]

    assert old != new
    assert eventually(lambda: post(poster) and [new] == [*poster.home.daemons()], 30)
    assert eventually(lambda: poster.home.status()["http"]["open"], 1)
    assert "answered" == post(poster)
    assert poster.home.status()["http"]["problem"] is None


def test_a_daemon_that_is_stopped_starts_nobody(upgradable):
    poster, _ = upgradable
    os.kill(poster.home.status()["pid"], signal.SIGTERM)

    assert eventually(lambda: not poster.home.daemons(), 30)
    assert "again" == post(poster)
    assert poster.home.status() is None

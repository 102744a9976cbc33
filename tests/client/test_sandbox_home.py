"""Sandbox home: nothing of it is left."""

import signal
import subprocess
import threading
import time
from contextlib import suppress

import pytest

from hookonce.client import sandbox_home
from hookonce.client.sandbox_home import SandboxHome


def test_a_home_in_which_a_call_still_writes_is_deleted_all_the_same(tmp_path):
    home = SandboxHome(tmp_path / "home")
    end = time.monotonic() + 0.3

    def write():
        while time.monotonic() < end:
            with suppress(OSError):
                (home.path / ".local/share").mkdir(parents=True, exist_ok=True)
                (home.path / ".local/share/late").touch()

    call = threading.Thread(target=write)
    call.start()

    home.delete()

    call.join()
    assert [] == list(tmp_path.iterdir())


def test_a_home_whose_installation_is_interrupted_leaves_nothing(tmp_path, monkeypatch):
    """
    What was started in it, out of our hands, is ended, and writes nothing after that.
    """
    writers = []

    def interrupt(_, env):
        script = "while :; do mkdir -p $HOME/late; sleep 0.01; done"
        writers.append(subprocess.Popen(["/bin/sh", "-c", script], env=env, start_new_session=True))
        raise KeyboardInterrupt

    monkeypatch.setattr(sandbox_home, "run", interrupt)
    with pytest.raises(KeyboardInterrupt):
        SandboxHome(tmp_path / "home")

    assert -signal.SIGKILL == writers[0].wait(5)
    assert [] == list(tmp_path.iterdir())

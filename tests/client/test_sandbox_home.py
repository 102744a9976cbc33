"""Sandbox home: nothing of it is left."""

import threading
import time
from contextlib import suppress

from hookonce.client.sandbox_home import SandboxHome


def test_a_home_in_which_a_call_still_writes_is_deleted_all_the_same(tmp_path):
    home = SandboxHome(tmp_path / "home")
    end = time.monotonic() + 0.3

    def write():
        while time.monotonic() < end:
            with suppress(FileNotFoundError):
                (home.path / ".local/share").mkdir(parents=True, exist_ok=True)
                (home.path / ".local/share/late").touch()

    call = threading.Thread(target=write)
    call.start()

    home.delete()

    call.join()
    assert [] == list(tmp_path.iterdir())

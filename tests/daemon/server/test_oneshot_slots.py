"""A slot for cold calls is held while Python works, and not while a hook does."""

import shutil
import sys

import pytest

from tests.daemon.installed_home import SILENT, command
from tests.shared import ROOT

LOOK = """
import fcntl, pathlib, sys
free = True
for slot in pathlib.Path(sys.argv[1]).iterdir():
    with slot.open("ab") as file:
        try: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError: free = False
pathlib.Path(sys.argv[2]).write_text(f"{free} {len([*pathlib.Path(sys.argv[1]).iterdir()])}")
"""


@pytest.mark.parametrize("client", ["native", "twin"])
def test_a_hook_that_runs_keeps_no_other_call_from_running(home, client):
    """
    Both clients let go of the slot before the first hook begins.
    """
    if client == "twin":
        shutil.copy(ROOT / "src" / "hookonce" / "client" / "native" / "hookonce-on.sh", home.client)
    script = home.home / "look.py"
    script.write_text(LOOK)
    home.hooks(command(f"{sys.executable} {script} {home.house}/slots {home.home}/seen"))

    assert SILENT == home.tool(env=home.cold_env)
    assert ["True 1"] == home.lines("seen")

"""The twin starts with what Python is made of, because agents wait for it at every call."""

import subprocess
import sys

from tests.shared import ROOT

SLOW = {
    "collections", "contextlib", "enum", "functools", "hashlib", "importlib", "json", "msgspec", "pathlib", "re",
    "shutil", "signal", "socket", "subprocess", "tempfile", "threading", "typing",
}  # fmt: skip
LOOK = """
import sys
sys.path[:0] = [sys.argv[1]]
import hookonce.client.python.main
print(*sys.modules)
"""


def test_nothing_slow_is_imported_before_the_daemon_is_asked():
    """
    Each of these takes a good part of the time in which the daemon could have answered.
    """
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", LOOK, ROOT / "src"], capture_output=True, text=True, check=True)

    assert set() == SLOW & set(ran.stdout.split())
    light = {"hookonce.client", "hookonce.base", "hookonce.base.wire", "hookonce.base.runtime_location"}
    assert not [name for name in ran.stdout.split() if name.startswith("hookonce.") and not name.startswith("hookonce.client.python") and name not in light]

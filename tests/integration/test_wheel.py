"""hookonce as a stranger installs it."""

import subprocess
import sys

import pytest

from tests.integration.real import wheel

pytestmark = pytest.mark.integration


def test_a_wheel_in_an_empty_environment_installs_and_leaves(tmp_path):
    """
    Build, install into a new environment, let an agent's file be changed, call the very command that stands there.
    """
    made = wheel(tmp_path / "dist")
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    settings = home / ".claude" / "settings.json"
    settings.write_text("{}")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    pip = [tmp_path / "env" / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", made]
    fetched = subprocess.run(pip, capture_output=True, text=True, check=False, timeout=900)
    if fetched.returncode:
        pytest.skip(f"dependencies could not be fetched: {fetched.stderr.strip()[-200:]}")

    def hookonce(*words):
        env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        words = [tmp_path / "env" / "bin" / "hookonce", *words]
        return subprocess.run(words, capture_output=True, text=True, check=False, env=env, cwd=home)

    installed = hookonce("install", "claude-code")
    client = home / ".local" / "share" / "hookonce" / "bin" / "hookonce-on"
    called = subprocess.run([client, "claude-code", "PreToolUse"], input=b"{}", capture_output=True, check=False, env={})

    assert 0 == installed.returncode, installed.stderr
    assert str(client) in settings.read_text()
    assert (0, b"", b"") == (called.returncode, called.stdout, called.stderr)
    assert 0 == hookonce("demo").returncode

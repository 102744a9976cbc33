"""Files that hookonce writes anew end with one line end, and no line of them with a space."""

import json

import pytest

from hookonce import agents
from tests.cli.command import run

ENTRY = {"type": "command", "command": "/bin/true x", "timeout": 5}
SETTINGS = json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [ENTRY]}]}}).encode()
TARGETS = ["hif", *agents.AGENTS]


def faults(folder):
    """The lines with a space at their end, and the files without one line end."""
    texts = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert texts
    lines = [(path, line) for path, text in texts.items() for line in text.splitlines() if line != line.rstrip()]
    return lines + [path for path, text in texts.items() if not text.endswith(b"\n") or text.endswith(b"\n\n")]


def test_init(tmp_path):
    """
    A first manifest and its script.
    """
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)

    assert 0 == run("init", cwd=project, HOME=str(tmp_path)).code
    assert [] == faults(project / ".hookonce")


@pytest.mark.part(2)
@pytest.mark.parametrize("name", TARGETS)
def test_convert(name, tmp_path):
    """
    The configuration of every agent, and a manifest.
    """
    options = ("--no-adapt", "--from", "claude-code", "--to", name, "--output", tmp_path / "new")
    ran = run("convert", *options, "-", given=SETTINGS)

    assert 0 == ran.code, ran.err
    assert [] == faults(tmp_path / "new")

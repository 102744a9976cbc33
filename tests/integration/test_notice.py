"""Real agents show their user that a hook is broken, in a terminal, and send their model no word of it."""

import json
import sys
from pathlib import Path

import pytest

from hookonce.lab import drivers
from hookonce.lab.drivers import ExtraRun
from hookonce.lab.prove.bench import Bench
from tests.integration.real import agent

pytestmark = pytest.mark.integration
TEXT = "hookonce: 1 of your guards does not protect you: no-rm: cannot run: /nowhere/guard.sh does not exist. Next: hookonce doctor"
BROKEN = {"name": "no-rm", "event": "before_tool_execute", "handler": {"type": "command", "command": "/nowhere/guard.sh"}}
MAX_WAIT_S = 45


def claude(env):
    """Its first questions are answered: theme, key and folder."""
    known = {str(env.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}
    keys = {"approved": ["no-key"], "rejected": []}
    settings = {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": keys, "projects": known}
    file = env.home / ".claude.json"
    settings |= json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(settings))
    return [str(env.program), env.prompt, "--model", "claude-sonnet-4-5"], {}


def codex(env):
    """The folder is trusted; it offers another model by itself."""
    with (env.home / ".codex/config.toml").open("a") as settings:
        settings.write(f'\n[projects."{env.project}"]\ntrust_level = "trusted"\n')
    return [str(env.program), env.prompt], {"2. Use existing model": "\x1b"}


def gemini(env):
    """Its driver has answered everything."""
    return [str(env.node), str(env.program), "-m", "gemini-2.5-flash", "-i", env.prompt, "--approval-mode", "yolo"], {}


@pytest.mark.parametrize(("name", "interactive"), [("claude-code", claude), ("codex", codex), ("gemini-cli", gemini)])
def test_a_broken_hook_is_shown_to_the_user_alone(name, interactive, tmp_path):
    """
    On the screen, before or beside the first answer; no request has it.
    """

    def start(env):
        words, answers = interactive(env)
        terminal = Path(__file__).with_name("terminal.py")
        return [sys.executable, "-I", str(terminal), str(MAX_WAIT_S), TEXT, json.dumps(answers), *words]

    bench = Bench(drivers.load_driver(name), agent(name), tmp_path / "cache")
    run = bench.play("talk", hooks=lambda _: [BROKEN], extra_run=ExtraRun(scenario="talk", command=start))

    assert TEXT in run.out, run.out[-2000:]
    assert run.requests
    assert "of your guards" not in repr(run.requests)

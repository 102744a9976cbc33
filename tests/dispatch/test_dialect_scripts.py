"""Scripts that people have, unmodified, behind agents that they were not written for."""

import contextlib
import json
import subprocess

import pytest

from hookonce import agents
from hookonce.agents import config_event_of
from hookonce.diagnose.trial import sample_event
from hookonce.dispatch.context import oneshot_context
from hookonce.dispatch.pipeline import process_request
from hookonce.dispatch.request.call_request import CallArguments, parse_request
from hookonce.handlers.operation import run_blocking
from hookonce.model import Decision
from tests.dispatch.dialect_scripts import SCRIPTS
from tests.dispatch.pipeline_cases import PLAIN

# Who asks: the agent that most scripts will meet, and some of quite another kind.
ASKING = ["claude-code", "codex", "opencode"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used, with all the scripts in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, (file, text) in SCRIPTS.items():
        script = tmp_path / "my scripts" / name / file
        script.parent.mkdir(parents=True)
        script.write_text(text, encoding="utf-8")
        script.chmod(0o755)
    return tmp_path


def answer(home, agent, dialect, command):
    """What an agent hears when it is about to run a command, from a script for another agent."""
    known = agents.load(agent)
    event = sample_event(known, "before_tool_execute", "shell", {"command": command})
    run = f"'{home}/my scripts/{dialect}/{SCRIPTS[dialect][0]}'"
    call = CallArguments(agent=agent, event=config_event_of(known, "before_tool_execute"), dialect=dialect, run=run, scope="project", timeout=30)
    one = parse_request(call, json.dumps(event.native).encode())
    with contextlib.chdir(home):
        made = run_blocking(process_request(one, oneshot_context(PLAIN)))
    return known.read_reply(one.native, made.reply), made.record


@pytest.mark.part(3)
@pytest.mark.parametrize("dialect", sorted(SCRIPTS))
@pytest.mark.parametrize("agent", ASKING)
def test_a_script_for_one_agent_runs_behind_another(home, agent, dialect):
    """
    What it refuses is refused with its reason, and what it has nothing against goes on as if it were not there.
    """
    refused, record = answer(home, agent, dialect, "git push --force")
    other, _ = answer(home, agent, dialect, "git status")

    assert ("deny", "pushes are for people", None) == (refused.outcome, refused.reason, record.runs[0].failure)
    assert Decision() == other


def test_scripts_are_sound():
    """
    As far as a shell can tell without running them.
    """
    for file, text in SCRIPTS.values():
        if file.endswith(".sh"):
            subprocess.run(["bash", "-n"], input=text.encode(), check=True)
        else:
            compile(text, file, "exec")

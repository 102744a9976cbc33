"""Emitter: a program that somebody makes becomes an agent with hooks."""

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookonce import Emitter
from hookonce.base.json_stream import StreamLine
from hookonce.diagnose.document_check import check_documents
from hookonce.diagnose.project_check import check_folder
from hookonce.errors import HookonceError
from hookonce.store.spool.files import load_records
from tests.manifest.projects import Project, house, put
from tests.shared import ROOT

EXAMPLE = ROOT / "examples" / "emitter"
GUARD = "from hookonce import *\n@hook('before_tool_execute')\ndef guard(event):\n    if event.command == 'rm': return deny('no')\n    if event.command == 'cp': return rewrite({'command': 'true'}), context('mind')\n    if event.command == 'mv': return ask('sure?')\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home that is ours."""
    return house(monkeypatch, tmp_path)


def function(**more):
    """A hook of the user, in Python."""
    return {"spec": "hooks/1.0", "hooks": [{"event": "before_tool_execute", "blocking": True, "handler": {"type": "function", "file": "guard.py"}} | more]}


@pytest.mark.covers("OH-35", "OH-36", "OH-37", "OH-43", "OH-44", "OH-45", "OH-46")
def test_the_example_reaches_level_three(home, tmp_path):
    """
    It emits the whole lifecycle, and runs the observers of its project once somebody has agreed to them.
    """
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLE, folder)
    words = [sys.executable, "agent.py", "buy", "milk"]

    def go():
        return subprocess.run(words, cwd=folder, env=os.environ | {"HOME": str(home)}, capture_output=True, text=True, check=True).stdout

    assert "file_write: written\nshell: 1\n" == go()
    assert not (folder / "seen.txt").exists()

    Project(folder).trust()
    (folder / "events.jsonl").unlink()
    go()
    seen = [json.loads(line) for line in (folder / "seen.txt").read_text(encoding="utf-8").splitlines()]
    verdict = check_folder(folder, strict=True)

    assert (True, "OpenHook level 3 with artifact events") == (verdict.ok, verdict.level)
    told = [one["type"] for one in seen]
    assert ["session.start", "prompt.submit", "tool.start", "tool.end", "file.write", "tool.start", "tool.end"] == told[:7]
    assert {"tiny-agent"} == {one["source"] for one in seen}


def test_hooks_decide_what_the_agent_does(home, tmp_path):
    """
    A refusal, other input, a question; the file of the hook stays loaded from one event to the next.
    """
    put(home / ".config" / "hookonce" / "hooks.json", function())
    put(home / ".config" / "hookonce" / "guard.py", GUARD)
    log = io.StringIO()

    with Emitter("my-agent", log=log, cwd=tmp_path, model="m") as agent:
        plain, refused, changed, asked = (agent.tool("shell", {"command": name}) for name in ("ls", "rm", "cp", "mv"))
        changed.done("fine", exit_code=0)
        plain.failed("oh", exit_code=3)

    assert (False, False, {"command": "ls"}) == (plain.denied, plain.asks, plain.input)
    assert (True, "no") == (refused.denied, refused.reason)
    assert ({"command": "true"}, "mind") == (changed.input, changed.decision.context)
    assert (True, "sure?") == (asked.asks, asked.reason)
    told = [json.loads(line) for line in log.getvalue().splitlines()]
    assert ["session.start", *["tool.start"] * 4, "tool.end", "tool.end", "session.end"] == [one["type"] for one in told]
    assert ["success", "error"] == [one["data"]["status"] for one in told if one["type"] == "tool.end"]
    kept = list(load_records())
    assert "my-agent" == kept[-1].event.agent
    assert ["no"] == [one.decision.reason for one in kept if one.decision and one.decision.outcome == "deny"]


def test_other_formats_and_other_events(home, tmp_path):
    """
    Agent Hooks are written as well; what only this agent has is its own.
    """
    file = tmp_path / "log.jsonl"
    with Emitter("my-agent", log=file, format="agent-hooks", cwd=tmp_path, transcript="t.jsonl") as agent:
        agent.prompt("a secret wish")
        agent.emit("vendor.my-agent.Dream", data={"of": "sheep"})
    lines = [StreamLine(number, line) for number, line in enumerate(file.read_bytes().splitlines(), 1)]

    assert "Agent Hooks 0.1.0, valid" == check_documents("log", lines, strict=False).level
    assert "a secret wish" not in file.read_text(encoding="utf-8")


def test_a_hook_that_has_to_be_asked_and_cannot_be_refuses(home, tmp_path):
    """
    As everywhere: closed is a refusal, open no opinion.
    """
    manifest = home / ".config" / "hookonce" / "hooks.json"
    agent = Emitter("my-agent", cwd=tmp_path)
    for mode, denied in (("open", False), ("closed", True)):
        put(manifest, function(on_failure=mode))
        assert denied == agent.tool("shell", {"command": "ls"}).denied
    agent.close()


def test_our_own_failure_is_no_decision(home, tmp_path, monkeypatch):
    """
    Whatever goes wrong is a gap, and the agent goes on.
    """
    agent = Emitter("my-agent", cwd=tmp_path)
    monkeypatch.setattr("hookonce.sdk.emitter.process_request", lambda *_: 1 / 0)
    monkeypatch.setattr("hookonce.dispatch.request.call_record.redact_record", lambda *_: 1 / 0)

    assert not agent.tool("shell", {"command": "ls"}).denied
    assert "ZeroDivisionError" in agent.gaps[0].note
    agent.close()


@pytest.mark.parametrize("wrong", [{"source": "My Agent"}, {"source": "a", "privacy": "none"}, {"source": "a", "format": "letters"}])
def test_what_makes_no_sense_is_refused(home, wrong):
    """
    At once, in words.
    """
    with pytest.raises(HookonceError):
        Emitter(**wrong)
    with pytest.raises(HookonceError, match="did you mean"):
        Emitter("a", cwd=Path.cwd()).emit("sesion_start")

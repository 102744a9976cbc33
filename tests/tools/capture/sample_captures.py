"""Captures that no agent has made: payloads of Claude Code as runs of the lab would have heard them."""

import subprocess
import sys
from pathlib import Path

from capture import CaptureRun, build_capture
from msgspec import to_builtins
from scrub import HOME, PROJECT, MachineOwner, Scrubber

from hookonce import agents
from hookonce.lab.fakes.conversation import ChatMessage, Conversation, ToolOffer
from hookonce.lab.fakes.model_server import ModelRequest
from hookonce.lab.fetch.programs import AgentProgram
from hookonce.lab.prove.run import AgentRun
from tests.cli.command import Ran, environment
from tests.shared import ROOT

AGENT = agents.load("claude-code")
ALICE = MachineOwner(frozenset({"/home/alice"}), frozenset({"alice"}), frozenset({"workshop"}))
LAB = "/tmp/hookonce-lab-0123456789abcdef"
PLACES = {f"{LAB}/project": PROJECT, f"{LAB}/home": HOME, LAB: f"{HOME}/lab"}


def payload(event="PreToolUse", **more):
    """A payload of Claude Code, with the lab's folders in it."""
    usual = {"session_id": "s1", "transcript_path": f"{LAB}/home/.claude/projects/p/s1.jsonl", "cwd": f"{LAB}/project"}
    return usual | {"hook_event_name": event} | more


def shell(event="PreToolUse", command="ls", **more):
    return payload(event, tool_name="Bash", tool_input={"command": command}, tool_use_id="t1", **more)


def heard(given, number=0, agent=AGENT):
    """What the lab's hook is told of a payload: the event, and the payload in it."""
    event = agents.decode(agent, given, id=f"e{number}", received=f"2026-11-15T12:00:{number:02}Z")
    return to_builtins(event)


def run(*events, scenario="tour", tools=()):
    talk = Conversation(messages=[ChatMessage("user", "go on")], tools={name: ToolOffer() for name in tools})
    asked = ModelRequest(at=0.0, method="POST", path="/v1/messages", conversation=talk)
    return AgentRun(scenario=scenario, code=0, out="", err="", files={}, requests=[asked], hook_events=list(events))


def found(version="2.1.325", agent="claude-code"):
    return AgentProgram(agent=agent, version=version, program=Path("/nowhere"), node=None, origin="cache")


def capture(*payloads, version="2.1.325", tools=("Bash",), scenario="tour"):
    """A capture of payloads that came one after the other."""
    events = [heard(one, number) for number, one in enumerate(payloads)]
    made = run(*events, tools=tools, scenario=scenario)
    return build_capture(found(version), [CaptureRun(scenario, made, Scrubber(PLACES, ALICE))])


def run_tool(name, *words, cwd=None, **more):
    """Run a script of tools/capture as a maintainer does."""
    command = [sys.executable, ROOT / "tools" / "capture" / name, *map(str, words)]
    done = subprocess.run(command, capture_output=True, check=False, cwd=cwd, env=environment(**more))
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

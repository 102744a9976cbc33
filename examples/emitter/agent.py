"""A tiny agent that tells what it does: a user's wish, a model that asks for tools, and hooks that have their say.

It needs the Python that hookonce is installed in (`. .venv/bin/activate`, then `python agent.py buy milk`), and no
model: `model` stands for one. It writes events.jsonl, transcript.txt and notes.txt into the current folder;
the observer of the .openhook.json beside it hears of the events after `hookonce trust`.
"""

import subprocess
import sys
from pathlib import Path

from hookonce import Emitter


def model(wish):
    """What a language model would answer: tools to be used, one after the other."""
    yield "file_write", {"path": "notes.txt", "content": f"{wish}\n"}
    yield "shell", {"command": "wc -l < notes.txt"}


def use(tool, given):
    """Do what a tool does; what it says, and its exit code."""
    if tool == "file_write":
        Path(given["path"]).write_text(given["content"], encoding="utf-8")
        return "written", 0
    done = subprocess.run(given["command"], shell=True, capture_output=True, text=True, check=False)
    return done.stdout, done.returncode


def work(agent, wish):
    """One turn: what was done, line by line."""
    if agent.prompt(wish).outcome == "deny":
        return
    for tool, given in model(wish):
        step = agent.tool(tool, given)
        if step.denied or step.asks:
            yield f"{tool}: not done, {step.reason}"
        else:
            said, code = use(tool, step.input)
            step.done(said, exit_code=code)
            yield f"{tool}: {said.strip()}"


if __name__ == "__main__":
    with Emitter("tiny-agent", log="events.jsonl", transcript="transcript.txt") as agent:
        for line in work(agent, " ".join(sys.argv[1:]) or "buy milk"):
            print(line)
            with Path("transcript.txt").open("a", encoding="utf-8") as transcript:
                transcript.write(f"{line}\n")

"""A file of functions, and the process that has it loaded, asked from a loop of the test's own."""

import json
import os
from time import monotonic

from msgspec.structs import replace

from hookonce import agents
from hookonce.base.event_loop import EventLoop
from hookonce.base.jsontext import dump
from hookonce.diagnose.trial import sample_event
from hookonce.handlers.command import ProcessContext
from hookonce.handlers.function import build_function_operation, load_function
from hookonce.handlers.operation import run_to_completion
from hookonce.handlers.workers.pool import WorkerPool
from hookonce.model import Handler

LONG = 20.0  # seconds that nothing takes, however busy the machine is
HEAD = "from hookonce import allow, ask, context, deny, hook, rewrite\nimport os, sys, time\n"


def event(command="ls", kind="before_tool_execute"):
    """What a function is given about a shell command."""
    return dump(sample_event(agents.load("codex"), kind, "shell", {"command": command}))


class Ready:
    """A folder with files of functions, asked cold or warm."""

    def __init__(self, folder):
        self.folder, self.loop = folder, EventLoop()
        self.kept = WorkerPool(self.loop)

    def write(self, text, name="guard.py"):
        """Let a file be so."""
        (self.folder / name).write_text(HEAD + text, encoding="utf-8")

    def call(self, given=None, name=None, timeout=LONG, *, is_isolated=False, **world):
        """A call of a function of the file as it is now."""
        function = load_function(Handler(type="function", file="guard.py", name=name), str(self.folder))
        place = ProcessContext(**{"cwd": str(self.folder), "env": dict(os.environ)} | world)
        operation = build_function_operation(function, given or event(), place, is_isolated=is_isolated)
        return replace(operation, timeout=timeout)

    def cold(self, *words, **more):
        """Ask it in a process of its own."""
        return run_to_completion(self.call(*words, **more))

    def begin(self, *words, **more):
        """Begin to ask it where it is loaded already; a list that will hold how it went."""
        made, ended = self.call(*words, **more), []
        made.begin(self.loop, made.timeout, ended.append)
        return ended

    def wait(self, *all_ended):
        """Wait for the ends of what was begun."""
        until = monotonic() + LONG
        while not all(all_ended) and monotonic() < until:
            self.loop.run_once(0.1)
        return [ended[0] for ended in all_ended]

    def warm(self, *words, **more):
        """Ask it where it is loaded already."""
        return self.wait(self.begin(*words, **more))[0]

    def turn(self, until):
        """Let time pass until something is so."""
        end = monotonic() + LONG
        while not until():
            assert monotonic() < end
            self.loop.run_once(0.05)

    def close(self):
        """End everything."""
        self.kept.close()
        end = monotonic() + 0.3
        while self.loop._callbacks and monotonic() < end:
            self.loop.run_once(0.05)
        self.loop.close()


def said(ran):
    """What a function has answered."""
    assert (0, None) == (ran.code, ran.failure), ran.stderr.decode()
    return json.loads(ran.stdout) or None

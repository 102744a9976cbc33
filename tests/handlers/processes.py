"""Processes that tests start and look for: each carries a word in its command line that nobody else has."""

import os
import time
from pathlib import Path
from secrets import token_hex

from hookonce.handlers.command import CommandOperation
from hookonce.handlers.operation import run_to_completion


def word():
    """A number of seconds to sleep that no other process on this machine sleeps."""
    return f"600.{int(token_hex(6), 16)}"


def running(mark):
    """The processes whose command line holds a word; zombies hold none."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line:
                found.append(int(entry.name))
    return found


def eventually(is_so, seconds=5.0):
    """Whether something becomes true in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if is_so():
            return True
        time.sleep(0.01)
    return bool(is_so())


def run_command(command, payload, process_context, timeout):
    """The result of a shell command that is run to its end."""
    return run_to_completion(CommandOperation(command, payload, process_context, timeout))

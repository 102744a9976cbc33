"""Processes that kill themselves with SIGKILL between two steps of their own: a write, a rename, a statement.

Nothing in the package knows of it: whoever profiles a process is told before and after each function of C that it
calls, and there it ends.
"""

import json
import os
import runpy
import signal
import sys
import traceback
from pathlib import Path

# What changes a file, or asks a database to.
STEPS = frozenset(
    {"write", "pwrite", "flush", "ftruncate", "truncate", "unlink", "rename", "replace", "link", "fsync", "fdatasync"}
    | {"execute", "executemany", "send", "sendall"}
)
WITHIN = ("/hookonce/store/", "/hookonce/dispatch/fast_path/lookup.py", "/hookonce/daemon/stream.py", "/hookonce/client/oneshot_call.py")


class Clock:
    """Counts steps, and ends the process at one of them; it never comes to step 0."""

    def __init__(self, last):
        self.last, self.count = last, 0

    def __call__(self, frame, kind, what):
        """Before a step and after it."""
        name = getattr(what, "__name__", "")
        if kind not in {"c_call", "c_return"} or name not in STEPS:
            return
        if not any(place in frame.f_code.co_filename for place in WITHIN):
            return
        self.count += 1
        if self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


def lived(work, last=0):
    """Let a copy of this process work until a step; what it has told, how it ended, and how many steps it took."""
    ear, mouth = os.pipe()
    pid = os.fork()
    if pid == 0:
        _live(work, last, mouth)
    os.close(mouth)
    with os.fdopen(ear, "rb") as file:
        said = file.read().decode().split()
    ending = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    steps = next((int(word[1:]) for word in said if word.startswith("=")), 0)
    return [word for word in said if not word.startswith("=")], ending, steps


def _live(work, last, mouth):
    ending = 3
    try:
        clock = Clock(last)
        sys.setprofile(clock)
        work(lambda name: os.writev(mouth, [f"{name} ".encode()]))
        sys.setprofile(None)
        os.writev(mouth, [f"={clock.count} ".encode()])
        ending = 0
    except BaseException:  # noqa: BLE001  whoever waits sees it
        traceback.print_exc()
    finally:
        os._exit(ending)


def wrap(home, **last):
    """Let daemon (`warm`) and cold processes of a home (`cold`) end at a step; without one they live on."""
    file = home.bin / "interpreter"
    lines = file.read_text(encoding="utf-8").splitlines()
    place = home.home / "killing"
    place.mkdir(exist_ok=True)
    kept = place / "python"
    if not kept.exists():
        kept.write_text(lines[0], encoding="utf-8")
    python = kept.read_text(encoding="utf-8")
    (place / "last").write_text(json.dumps(last), encoding="utf-8")
    program = place / "program"
    program.write_text(f'#!/bin/sh\nexec {python} -I -S {__file__} {place / "last"} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    draft = file.with_suffix(".draft")
    draft.write_text("\n".join([str(program), *lines[1:], ""]), encoding="utf-8")
    draft.replace(file)


def main(file, _isolated, _bare, script, *words):
    """Be the interpreter that a client, or a daemon, was promised."""
    name = {"__main__": "warm", "oneshot": "cold"}.get(Path(script).stem, "")
    last = json.loads(Path(file).read_text(encoding="utf-8")).get(name, 0)
    sys.argv = [script, *words]
    sys.path[:] = [place for place in sys.path if place != os.path.dirname(__file__)]  # noqa: PTH120
    sys.setprofile(Clock(last))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])

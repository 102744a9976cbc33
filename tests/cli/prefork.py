"""A Python that has read its libraries, and begins commands: each is a process of its own, and a fork of this one.

To start an interpreter takes longer than most commands do. This one has imported what commands import, in an empty
environment, and has called nothing of it; what it forks gets its words, environment, directory and streams.
"""

import atexit
import gc
import json
import os
import pkgutil
import runpy
import socket
import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

PACKAGES = ("agents", "cli", "configure", "convert", "diagnose", "dispatch", "formats", "inspect", "store", "translation")
LIBRARIES = ("jsonschema", "rich.console", "rich.table", "sqlite3", "yaml")
PIPES = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
_MOST = 100_000  # bytes that fit into one message
_LOOK = 5.0  # seconds between two looks at who has started us


# Here


def run(words, given, cwd, env, first=""):
    """Run hookonce, and a piece of Python before it; its exit code and what it wrote to both outputs."""
    asked = json.dumps({"words": words, "cwd": os.fspath(cwd or Path.cwd()), "env": env, "first": first}).encode()
    assert len(asked) < _MOST
    (stdin, ours), (out, stdout), (err, stderr), (ending, told) = (os.pipe() for _ in range(4))
    theirs = [stdin, stdout, stderr, told]
    socket.send_fds(_line(), [asked], theirs)
    for file in theirs:
        os.close(file)
    with ThreadPoolExecutor(3) as pool:
        said = [pool.submit(_read, file) for file in (out, err, ending)]
        _write(ours, given)
        out, err, code = (one.result() for one in said)
    return int(code), out, err


def _read(file):
    with open(file, "rb") as stream:  # noqa: PTH123  it has no name
        return stream.read()


def _write(file, data):
    with suppress(BrokenPipeError), open(file, "wb", buffering=0) as stream:  # noqa: PTH123  it has no name
        while data:
            data = data[stream.write(data) :]


@cache
def _line():
    """The way to the interpreter that forks; it ends when this process does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    root = Path(__file__).resolve().parents[2]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(root / "src")}
    words = [sys.executable, __file__, str(theirs.fileno())]
    process = subprocess.Popen(words, pass_fds=[theirs.fileno()], env=env, **PIPES)
    theirs.close()
    atexit.register(_end, ours, process)
    return ours


def _end(line, process):
    line.shutdown(socket.SHUT_RDWR)  # a fork of ours may hold it too
    line.close()
    with process:
        process.communicate()


# There


def prepare():
    """Read what commands read, and let nobody look through it when they end."""
    for room in PACKAGES:
        package = import_module(f"hookonce.{room}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(found.name)
    for name in LIBRARIES:
        import_module(name)
    gc.collect()
    gc.freeze()


def serve(line):
    """Begin whatever is asked for, until nobody asks any more; a lost fork of our parent may hold the line open."""
    parent = os.getppid()
    line.settimeout(_LOOK)
    while True:
        try:
            data, files, *_ = socket.recv_fds(line, _MOST, 4)
        except TimeoutError:
            if os.getppid() == parent:
                continue
            return
        if not data:
            return
        if not os.fork():
            line.close()
            keep(json.loads(data), *files)
        for file in files:
            os.close(file)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue


def keep(asked, stdin, stdout, stderr, told):
    """Be the parent of one command, and tell how it ended."""
    command = os.fork()
    for number, file in enumerate((stdin, stdout, stderr)):
        if not command:
            os.dup2(file, number)
        os.close(file)
    if not command:
        os.close(told)
        become(**asked)
    _, status = os.waitpid(command, 0)
    os.write(told, str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def become(words, cwd, env, first):
    """Be `python -m hookonce` with these words."""
    locale = {"LC_CTYPE": os.environ["LC_CTYPE"]} if "LC_CTYPE" in os.environ else {}  # as an interpreter sets it
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env | locale)
    time.tzset()
    sys.path[0] = cwd
    sys.argv = ["hookonce", *words]
    try:
        exec(first, {})  # noqa: S102  a test wrote it
        runpy.run_module("hookonce", run_name="__main__", alter_sys=True)
    except SystemExit as ending:
        leave(ending.code or 0)
    except BaseException:  # noqa: BLE001  told as an interpreter tells it
        traceback.print_exc()
    leave(1)


def leave(code):
    """End as an interpreter does, but for taking apart all that was imported, which is most of the work."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    prepare()
    serve(socket.socket(fileno=int(sys.argv[1])))

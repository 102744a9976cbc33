"""What is around a client: a home, an interpreter that tells what it was given, and somebody at the socket."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from hookonce.base import wire
from hookonce.base.runtime_dir import find_runtime_dir
from hookonce.base.runtime_location import CLIENT_SUBDIR
from hookonce.client.daemon_endpoints import with_address
from tests.shared import ROOT

COLD = (7, b"cold", b"aside")  # what that interpreter says
BUILD = "build-1"
SOURCE = ROOT / "src" / "hookonce"

# A file that stands in for Python; it is called as `python -I -S SCRIPT BIN ...`. The client that is itself of Python
# gets a true one.
INTERPRETER = """#!/bin/sh
case $3 in
*/hookonce-on) exec PYTHON "$@" ;;
esac
(ls -l /proc/$$/fd >TOLD/fds.new)
cat /proc/$$/environ >TOLD/environ.new
pwd >TOLD/cwd.new
umask >>TOLD/cwd.new
case $3 in
*/daemon/__main__.py)
    for name in fds environ cwd; do mv TOLD/$name.new TOLD/warm.$name; done
    echo "$@" >>TOLD/started
    WARM ;;
esac
for name in fds environ cwd; do mv TOLD/$name.new TOLD/cold.$name; done
printf '%s\\n' "$@" >TOLD/words
cat >TOLD/frame
COLD
"""
# What that client calls when it goes cold hands over to the file above, as the native client does itself.
BRIDGE = """
import os

def answer_frame(folder, frame, caller, slot=None):
    file = os.memfd_create("frame")
    with open(file, "wb", closefd=False) as whole:
        whole.write(frame)
    os.lseek(file, 0, os.SEEK_SET)
    os.dup2(file, 0)
    if slot is not None:
        os.set_inheritable(slot, True)
    os.execv(PYTHON, [PYTHON, "-I", "-S", __file__.replace("_call", ""), folder, str(caller), "-" if slot is None else str(slot)])
"""
ANSWER = "printf cold; printf aside >&3; exit 107"


class World:
    """A home, the client in its directory, and what the interpreter was given."""

    def __init__(self, client, home):
        self.home, self.told, self.bin = home, home / "told", home / CLIENT_SUBDIR
        self.told.mkdir()
        self.bin.mkdir(parents=True)
        self.bin.chmod(0o700)
        self.client = self.bin / "hookonce-on"
        shutil.copy(client, self.client)
        self.env = {"HOME": str(home), "PATH": os.environ["PATH"]}
        self.is_native = not self.client.read_bytes().startswith(b"#!")
        self.interpret()
        if not self.is_native:
            self._package()

    def interpret(self, cold=ANSWER, warm="exit 1"):
        """Put the interpreter in place, doing this for a call and that as a daemon."""
        text = INTERPRETER.replace("TOLD", str(self.told)).replace("PYTHON", sys.executable)
        text = text.replace("WARM", warm).replace("COLD", cold)
        python = self.home / "python"
        python.write_text(text)
        python.chmod(0o755)
        (self.bin / "interpreter").write_text(f"{python}\n{BUILD}\n{self.home}/lib\n/elsewhere\n")

    def _package(self):
        """What the client that is of Python consists of, and nothing else of ours."""
        place = self.home / "lib" / "hookonce"
        place.mkdir(parents=True)
        for name in ("base", "client"):
            (place / name).mkdir()
        for name in ("__init__.py", "base/__init__.py", "base/wire.py", "base/runtime_location.py", "client/__init__.py", "client/python"):
            (place / name).symlink_to(SOURCE / name)
        (place / "client" / "oneshot_call.py").write_text(BRIDGE.replace("PYTHON", repr(str(self.home / "python"))))

    def house(self):
        """The runtime directory of this home, made by Python; without it nobody looks for a daemon."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(self.home))
            return find_runtime_dir()

    def start(self, *words, **options):
        """The client, started."""
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen([self.client, *words], **{"env": self.env, **pipes, **options})

    def run(self, *words, given=b"{}", **options):
        """Call it; its exit code, and what it says on both outputs."""
        with self.start(*words, **options) as process:
            out, err = process.communicate(given, timeout=60)
        return process.returncode, out, err

    def ask(self, *words, **options):
        """Call until the daemon was in time; on a busy machine its moment may pass before it is woken."""
        for _ in range(20):
            found = self.run(*words, **options)
            if found != COLD:
                break
            (self.told / "words").unlink()
        return found

    def fields(self):
        """The frame that the interpreter was given."""
        return wire.decode_fields((self.told / "frame").read_bytes())

    def words(self):
        """The words that it was started with."""
        return (self.told / "words").read_text().splitlines()

    def descriptors(self, whose):
        """The open files of an interpreter, by number; that a shell reads its script is no gift of ours."""
        listed = (line.split() for line in (self.told / f"{whose}.fds").read_text().splitlines() if " -> " in line)
        found = {int(words[words.index("->") - 1]): " ".join(words[words.index("->") + 1 :]) for words in listed}
        return {number: path for number, path in found.items() if path != str(self.home / "python")}

    def starts(self):
        """How many daemons were started."""
        return len((self.told / "started").read_text().splitlines()) if (self.told / "started").exists() else 0


class Daemon:
    """A listener at the socket; `act` gets every connection, and the number of those is kept."""

    def __init__(self, place):
        self.act, self.calls, self.over = None, 0, threading.Event()
        self.door = socket.socket(socket.AF_UNIX)
        with_address(str(place / "socket"), self.door.bind)
        self.door.listen(64)
        self.thread = threading.Thread(target=self._live)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.door.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.door.close()

    def _live(self):
        while True:
            try:
                line, _ = self.door.accept()
            except OSError:
                return
            self.calls += 1
            with line, suppress(OSError):
                self.act(line)


def hear(line):
    """The fields of the frame that comes."""
    data = b""
    while not (size := wire.frame_length(data)) or len(data) < size:
        chunk = line.recv(1 << 20)
        if not chunk:
            raise OSError("half a frame")
        data += chunk
    return wire.decode_fields(data)


def root_mount():
    """Number of the mount that is our root."""
    return next(line.split()[0] for line in Path("/proc/self/mountinfo").read_text().splitlines() if line.split()[4] == "/")


def in_seconds(seconds):
    """A deadline."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) + int(seconds * 1e9)


# A daemon that is started as such: it answers everybody, until it is killed or the test's home is gone.
SERVER = f"""exec {sys.executable} -I -S -c '
import os, socket, sys, threading
home, place = sys.argv[1:]
with open(home + "/told/pid", "w") as file: file.write(str(os.getpid()))
door = socket.socket(socket.AF_UNIX)
os.chdir(place)
door.bind("socket")
os.chdir("/")
door.listen(128)
door.settimeout(5)
while os.path.exists(home):
    try: line, _ = door.accept()
    except TimeoutError: continue
    line.settimeout(5)
    line.recv(1 << 20)
    line.sendall(bytes([2]) + bytes(8) + bytes([0]) + (4).to_bytes(4, "little") + bytes(4) + b"warm")
    line.close()
' HOME HOUSE"""

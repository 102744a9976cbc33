"""A caller that is as young as the client is, and does what it does in steps: ask, hang up, and let Python answer."""

import os
import socket
import subprocess
import sys


def asking(home, frame):
    """One that has asked; with each line that it is given it does its next step."""
    python, _, shelf = (home.bin / "interpreter").read_text().splitlines()[:3]
    file = home.home / "frame"
    file.write_bytes(frame)
    cold = [python, "-I", "-S", f"{shelf}/hookonce/client/oneshot.py", home.bin]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, __file__, home.socket, file, *cold], env=home.env, cwd=home.where, **pipes)


def step(caller):
    """Let it go on."""
    caller.stdin.write(b"\n")
    caller.stdin.flush()


def main(place, file, *cold):
    """The whole life of a caller."""
    with socket.socket(socket.AF_UNIX) as line, open(file, "rb") as frame:  # noqa: PTH123
        os.chdir(os.path.dirname(place))  # noqa: PTH120
        line.connect(os.path.basename(place))  # noqa: PTH119
        line.sendall(frame.read())
        sys.stdin.readline()
    sys.stdin.readline()
    with open(file, "rb") as frame:  # noqa: PTH123
        return subprocess.run([*cold, str(os.getpid()), "-"], stdin=frame, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

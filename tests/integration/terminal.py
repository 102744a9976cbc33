"""A terminal for a program that wants one: runs it until a text is on the screen, and prints all that it has drawn.

`python terminal.py SECONDS TEXT ANSWERS COMMAND…`; ANSWERS is a JSON object of keys that are pressed by what is asked.
The width is such that no line is broken.
"""

import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from fcntl import ioctl

ROWS, COLUMNS = 50, 400
FAREWELL_S = 1.0  # that it goes on after the text was seen, so that a model may be asked
ESCAPES = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?<>=]*([A-Za-z])|\x1b[()][A-Z0-9]|\x1b[=>78M]")


def plain(drawn: bytes) -> str:
    """What was drawn, with a space wherever the cursor was moved along."""
    return ESCAPES.sub(lambda found: b" " if found[1] in {b"C", b"G", b"H"} else b"", drawn).decode(errors="replace")


def main(seconds: float, text: str, answers: dict[str, str], command: list[str]) -> str:
    """Run it in a terminal of its own, and end it with all that it has started."""
    pid, terminal = pty.fork()
    if not pid:
        os.environ["TERM"] = "xterm-256color"
        os.execvp(command[0], command)  # noqa: S606  it is our own child
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    drawn, end = b"", time.monotonic() + seconds
    is_seen = False
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                drawn += os.read(terminal, 1 << 16)
            except OSError:
                break
        for question in [one for one in answers if one in plain(drawn)]:
            time.sleep(0.5)  # it may be drawn before it can be answered
            os.write(terminal, answers.pop(question).encode())
        if not is_seen and text in plain(drawn):
            is_seen, end = True, time.monotonic() + FAREWELL_S
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return plain(drawn)


if __name__ == "__main__":
    sys.stdout.write(main(float(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]), sys.argv[4:]))

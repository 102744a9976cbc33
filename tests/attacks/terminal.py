"""A terminal of one's own, and hookonce on it: each command is a fork of this process."""

import io
import os
import pty
import re
import select
import sys
import time
import traceback
from contextlib import suppress

from tests.cli.command import environment

# What a terminal obeys or hides: C0, DEL, C1, invisible characters, direction marks, line separators, tags.
OBEYED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]|\r(?!\n)")
OWN = re.compile(r"\r\x1b\[K|\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\r?(?:\x1b\[2K|\x1b\[1A)+|\r(?=╭)")  # progress, colours, the live view
_LONG = 60  # seconds that no command takes


CODE = re.compile(rb"type ([0-9a-f]{6}): $")


def shown(home, *words, cwd=None, typed=b"", env=(), own=True, agrees=False):
    """What a command shows on a terminal, and how it ends; without `own` our own sequences are left out.

    Who agrees types the code that is asked for.
    """
    pid, screen = pty.fork()
    if pid == 0:
        _become(words, cwd, environment(HOME=str(home), COLUMNS="200", TERM="xterm", **dict(env)))
    said, until = b"", time.monotonic() + _LONG
    with suppress(OSError):
        if typed:
            os.write(screen, typed)
        while time.monotonic() < until:
            if select.select([screen], [], [], 1)[0]:
                if not (chunk := os.read(screen, 1 << 16)):
                    break
                said += chunk
                if agrees and (code := CODE.search(said)):
                    os.write(screen, code[1] + b"\n")
    if time.monotonic() >= until:
        os.kill(pid, 9)
    os.close(screen)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    text = said.decode()
    return code, text if own else OWN.sub("", text)


def _become(words, cwd, world):
    code = 70
    try:
        os.chdir(cwd or "/")
        os.environ.clear()
        os.environ.update(world)
        streams = (open(fd, mode, encoding="utf-8", closefd=False) for fd, mode in enumerate("rww"))  # noqa: SIM115  for good
        sys.stdin, sys.stdout, sys.stderr = streams
        from hookonce.__main__ import main

        code = main(list(words))
    except SystemExit as ending:
        code = ending.code or 0
    except BaseException:  # noqa: BLE001  it is shown
        traceback.print_exc(file=(text := io.StringIO()))
        os.write(2, text.getvalue().encode())
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)

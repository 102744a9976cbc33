"""The C compiler of this machine, if there is one."""

import subprocess
from pathlib import Path

# Best first, as for the client itself: what needs no library starts fastest.
_COMPILERS = (("musl-gcc", "-static"), ("cc", "-static"), ("cc",))
_FLAGS = ("-Os", "-s", "-std=c11")
_PATIENCE = 60  # seconds


def compiled(source: Path, made: Path) -> str | None:
    """Make a program, and say with which compiler; None where none makes it."""
    for words in _COMPILERS:
        try:
            done = subprocess.run(  # noqa: S603  a compiler, on a source of ours
                [*words, *_FLAGS, "-o", str(made), str(source)], capture_output=True, timeout=_PATIENCE, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return " ".join(words)
    return None

"""C compiler of this machine, if there is one."""

import subprocess
from pathlib import Path

# Best first, as for the client itself: what needs no library starts fastest, and what is linked with none before that.
_COMPILERS = (("cc", "-ffreestanding", "-nostdlib", "-static"), ("musl-gcc", "-static"), ("cc", "-static"), ("cc",))
_FLAGS = ("-Os", "-s", "-std=c11")
_COMPILE_TIMEOUT_S = 60  # seconds


def compile_program(source: Path, target: Path) -> str | None:
    """Compile a program; return the compiler's command, None where none works."""
    for command in _COMPILERS:
        try:
            result = subprocess.run(
                [*command, *_FLAGS, "-o", str(target), str(source)],
                capture_output=True,
                timeout=_COMPILE_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if result.returncode == 0:
            return " ".join(command)
    return None

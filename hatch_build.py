"""Makes the client when a wheel is built: of C where a compiler is, else of its twin for a shell and Python."""

import os
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FLAGS = ("-Os", "-s", "-std=c11")
_HARDENING = ("-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-Wl,-z,relro,-z,now")
# Ways to link, best first: a client that needs no library starts fastest and runs everywhere; an address that nobody
# can guess costs it nothing that can be measured. What a compiler does not know is left out.
_STATIC = (("-static-pie", "-fPIE", *_HARDENING), ("-static", *_HARDENING), ("-static",))
_DYNAMIC = (("-pie", "-fPIE", *_HARDENING), ())
_PATIENCE = 120  # seconds for a compiler, and for a client that has nothing to do


class Hook(BuildHookInterface[Any]):
    """Puts exactly one `hookonce-on` into the package; a wheel that carries machine code names its machine."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the client before files are gathered; an editable install finds it, and schemas, in the source tree."""
        if version != "editable":
            build_data["force_include"][str(Path(self.root, "schemas"))] = "hookonce/schemas"
        folder = Path(self.root, "src", "hookonce", "client", "native")
        if _make(folder):
            machine = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data.update(pure_python=False, tag=f"py3-none-{machine}")


def _make(folder: Path) -> bool:
    """Put the client beside its sources, all of it at once; whether it is machine code."""
    with TemporaryDirectory(dir=folder, prefix=".") as place:
        made = Path(place, "hookonce-on")
        compiled = any(_compile(words, folder / "hookonce-on.c", made) for words in _compilers())
        if not compiled:
            shutil.copyfile(folder / "hookonce-on.sh", made)
        made.chmod(0o755)
        made.replace(folder / "hookonce-on")
    return compiled


def _compilers() -> list[list[str]]:
    """What to try, best first."""
    if os.environ.get("HOOKONCE_CLIENT") == "python":
        return []
    named = shlex.split(os.environ.get("CC", ""))
    ways = [(named, (*_STATIC, *_DYNAMIC))] if named else []
    ways += [(["musl-gcc"], _STATIC), (["cc"], (*_STATIC, *_DYNAMIC))]
    return [[*compiler, *flags] for compiler, links in ways for flags in links]


def _compile(words: list[str], source: Path, made: Path) -> bool:
    """Whether a compiler makes a client that runs: one that knows no agent and finds nothing says nothing."""
    made.unlink(missing_ok=True)
    _run([*words, *_FLAGS, "-o", str(made), str(source)])
    with TemporaryDirectory() as home:  # outside of the repository, which the client would not take for a home
        ran = _run([str(made), "x"], {"HOME": home})
    return ran is not None and (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def _run(words: list[str], env: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes] | None:
    try:
        return subprocess.run(  # noqa: S603  the compiler that was asked for, and what it made
            words, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None

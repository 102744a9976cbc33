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
_CANARIES = ("-fstack-protector-strong", "-Wl,-z,relro,-z,now")
_HARDENING = (*_CANARIES, "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2")
# Ways to link, best first. Without a C library a client starts in a third of the time (ADR 0053); one that needs no
# library at run time starts faster than one that does, and runs everywhere; an address that nobody can guess costs it
# nothing that can be measured. What a compiler does not know is left out.
_FREESTANDING = (
    "-DHOOKONCE_FREESTANDING",
    "-nostdlib",
    "-static-pie",
    "-fPIE",
    "-fno-builtin",  # no calls to functions that the sources do not call
    "-fno-tree-loop-distribute-patterns",  # nor from a function that copies memory to itself
    "-mstack-protector-guard=global",
    "-U_FORTIFY_SOURCE",
    "-fno-toplevel-reorder",  # what is small and used by all lies in one page
    "-ffunction-sections",
    "-fdata-sections",
    "-Wl,--gc-sections",
    "-Wl,-z,noseparate-code,--build-id=none",  # one piece, which is found at once
    "-fno-asynchronous-unwind-tables",
    *_CANARIES,
)
_STATIC = (("-static-pie", "-fPIE", *_HARDENING), ("-static", *_HARDENING), ("-static",))
_DYNAMIC = (("-pie", "-fPIE", *_HARDENING), ())
_PATIENCE = 120  # seconds for a compiler, and for a client that has nothing to do
# What a trial reads and starts: a refusal beside the client, and an interpreter that says what it was given.
_REFUSAL = b"trial|Try|3|out \\0101|err\n"
_INTERPRETER = "#!/bin/sh\ncat\nexit 104\n"


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
    """What to try, best first; HOOKONCE_CLIENT=libc wants one with a C library, =python none of machine code."""
    wanted = os.environ.get("HOOKONCE_CLIENT")
    if wanted == "python":
        return []
    named = shlex.split(os.environ.get("CC", ""))
    freestanding = () if wanted == "libc" else (_FREESTANDING,)
    ways = [(named, (*freestanding, *_STATIC, *_DYNAMIC))] if named else []
    ways += [(["cc"], freestanding), (["musl-gcc"], _STATIC), (["cc"], (*_STATIC, *_DYNAMIC))]
    return [[*compiler, *flags] for compiler, links in ways for flags in links]


def _compile(words: list[str], source: Path, made: Path) -> bool:
    """Whether a compiler makes a client that runs."""
    made.unlink(missing_ok=True)
    _run([*words, *_FLAGS, "-o", str(made), str(source)], dict(os.environ))
    return made.is_file() and _answers(made)


def _answers(made: Path) -> bool:
    """Whether a client says nothing in an empty home, reads what lies beside it, and lets an interpreter answer."""
    with TemporaryDirectory(dir=made.parent.resolve()) as home:
        folder = Path(home, ".local", "share", "hookonce", "bin")
        folder.mkdir(parents=True)
        folder.chmod(0o700)
        client, python = folder / "hookonce-on", Path(home, "python")
        shutil.copy(made, client)
        if _run([str(client), "x"]) != (0, b"", b""):
            return False
        (folder / "failmode.bin").write_bytes(_REFUSAL)
        if _run([str(client), "trial", "Try"]) != (3, b"out A", b"err"):
            return False
        python.write_text(_INTERPRETER, encoding="ascii")
        python.chmod(0o755)
        (folder / "interpreter").write_text(f"{python}\nbuild\n{home}\n", encoding="utf-8")
        code, out, err = _run([str(client), "trial", "Try"], given=b"payload")
        return (code, out[:4], b"trial\0Try\0" in out, b"payload" in out, err) == (4, b"HKO1", True, True, b"")


def _run(words: list[str], env: dict[str, str] | None = None, given: bytes = b"") -> tuple[int, bytes, bytes]:
    """Exit code and both outputs of the compiler that was asked for, or of what it made; -1 where it cannot run."""
    try:
        ran = subprocess.run(  # noqa: S603
            words, env=env or {}, input=given, capture_output=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return -1, b"", b""
    return ran.returncode, ran.stdout, ran.stderr

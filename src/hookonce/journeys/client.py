"""Our client, put where agents' configurations name it: one copy that we own, and the interpreter beside it."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from site import getusersitepackages

from hookonce.config import build, paths
from hookonce.edit.file import read_file, replace_file
from hookonce.errors import HookonceError
from hookonce.store import log

Tell = Callable[[str], None]
_MODE = 0o755
_MEND = "Next: hookonce doctor --repair puts ours back"
_PATIENCE = 20  # seconds for one call of our own client that has nothing to do
# Environments that vanish with the command that made them.
_FLEETING = ("/.cache/uv/", "/uv/archive-v", "/pipx/.cache/", "/.cache/pipx/", "/.cache/pre-commit/")
# How programs for a machine begin: on Linux, on macOS, on macOS for several machines.
_NATIVE = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


class Unfit(HookonceError):
    """This installation of hookonce cannot stand behind an agent's configuration."""


def place(tell: Tell | None = None) -> Path:
    """Put the client in place, or a newer one in the place of an older, and what it says if all else fails.

    Its path never changes. One that somebody has changed is replaced only where `tell` hears of it.
    """
    from hookonce.journeys import failmode, silent, unanswered

    if (wrong := altered()) is not None:
        if tell is None:
            raise Unfit(f"{wrong}. {_MEND}")
        log.write(f"client: {wrong}; replaced")
        tell(f"{wrong}; it was replaced")
    for path, (data, mode) in _wanted().items():
        if read_file(path) != data:
            replace_file(path, data, mode=mode)
    paths.client().chmod(_MODE)
    failmode.refresh()
    silent.refresh()
    unanswered.forget()
    return paths.client()


def refresh(*, dry: bool = False) -> str | None:
    """Replace what an older version of this installation has put there; another installation's is left alone.

    So is a client that somebody has changed: what is wrong with it is told. Where nothing was installed nothing
    happens, and nothing is said of what cannot be done now; with `dry` nothing is written at all.
    """
    with suppress(HookonceError, OSError, IndexError):
        if (wrong := altered()) is not None:
            if not dry:
                log.write(f"client: {wrong}")
            return f"{wrong}. {_MEND}"
        if dry:
            return None
        named = Path((read_file(_interpreter_file()) or b"").decode(errors="replace").splitlines()[0])
        ours = not named.exists() or named == _interpreter()
        if ours and any(read_file(path) != data for path, (data, _) in _wanted().items()):
            place()
    return None


def altered() -> str | None:
    """What to say of a client that is neither ours of today nor one that a hookonce has put there."""
    client = paths.client()
    data = read_file(client)
    if data is None or data == _made():
        return None
    noted, digest = _lines(_note_file(), 2)
    _, told = _lines(_interpreter_file(), 2)
    if sha256(data).hexdigest() == digest or told not in {noted, build.build()}:
        return None  # the files beside it were written by another version, which has put its own client there
    return f"{client} is not as hookonce has put it there: somebody has changed it"


def _lines(file: Path, count: int) -> list[str]:
    """The first lines of a file of ours, empty where there are none."""
    found = (read_file(file) or b"").decode(errors="replace").splitlines()[:count]
    return found + [""] * (count - len(found))


def _wanted() -> dict[Path, tuple[bytes, int]]:
    """The files that belong together, with content and mode; what we note of the client is written after it."""
    told = "".join(f"{line}\n" for line in (_interpreter(), build.build(), *_shelves()))
    made = _made()
    return {
        _interpreter_file(): (told.encode(), 0o644),
        paths.client(): (made, _MODE),
        _note_file(): (f"{build.build()}\n{sha256(made).hexdigest()}\n".encode(), 0o644),
    }


def _made() -> bytes:
    """The client as it was built for this machine; where nothing was built, its twin for a shell and Python."""
    kept = files("hookonce") / "client"
    built = kept / "hookonce-on"
    return (built if built.is_file() else kept / "hookonce-on.sh").read_bytes()


def kind() -> str:
    """Which client this installation has: one made for this machine, or its twin in Python."""
    return "native" if _made().startswith(_NATIVE) else "python"


def _interpreter_file() -> Path:
    return paths.client().with_name("interpreter")


def _note_file() -> Path:
    """Which client was put there: by what build, and its digest."""
    return paths.client().with_name("placed")


def _interpreter() -> Path:
    """The interpreter that will still be there tomorrow, with us in it."""
    home = Path(__file__).resolve()
    if home.is_relative_to(getusersitepackages()):
        raise Unfit("hookonce is installed in the user's site-packages; use a virtual environment or pipx install")
    program = Path(sys.executable)
    if any(word in f"{program}/" for word in _FLEETING):
        raise Unfit(f"{program} is a temporary environment; install hookonce in one that stays (pipx install hookonce)")
    return program.absolute()


def _shelves() -> list[str]:
    """Where we and what we need lie; the client starts an interpreter that looks nowhere by itself."""
    found = [find_spec(name) for name in ("hookonce", "msgspec", "re2", "yaml")]
    return list(dict.fromkeys(str(Path(spec.origin).parents[1]) for spec in found if spec and spec.origin))


def try_out(words: list[str], silence: str) -> None:
    """Run a command as an agent would; no entry is written whose command has not just worked."""
    from hookonce.journeys.on import TRIAL

    try:
        ran = subprocess.run(  # noqa: S603  our own client, which we have just written
            words, input=TRIAL, capture_output=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Unfit(f"{words[0]} does not run: {problem}") from None
    if ran.returncode or ran.stdout.decode(errors="replace").strip() != silence or ran.stderr:
        raise Unfit(f"{words[0]} does not answer as it should (exit code {ran.returncode}); nothing was installed")

"""Installed client: the copy of the client that agents' configurations name, and the interpreter's path beside it."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from site import getusersitepackages
from subprocess import TimeoutExpired

from hookonce.base import build_id, paths
from hookonce.base.files import read_file, replace_file
from hookonce.base.runtime_location import is_private_dir
from hookonce.base.spawn import run
from hookonce.errors import HookonceError
from hookonce.secrets import log

ReportFunction = Callable[[str], None]
_CLIENT_MODE = 0o755
_REPAIR_HINT = "Next: hookonce doctor --repair puts ours back"
_TRIAL_TIMEOUT_S = 20  # seconds for one call of our own client that has nothing to do
# Environments that vanish with the command that made them.
_TEMPORARY_ENV_PATHS = ("/.cache/uv/", "/uv/archive-v", "/pipx/.cache/", "/.cache/pipx/", "/.cache/pre-commit/")
# How programs for a machine begin: on Linux, on macOS, on macOS for several machines.
_EXECUTABLE_MAGIC = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


class UnusableInstallError(HookonceError):
    """This installation of hookonce cannot stand behind an agent's configuration."""


def install_client(report: ReportFunction | None = None) -> Path:
    """Install the client, or replace an older one, with the fail-mode file and the fast-path table beside it.

    Its path never changes. A client that somebody has changed is replaced only where `report` is told of it.
    """
    from hookonce.dispatch import fail_mode
    from hookonce.dispatch.fast_path import table
    from hookonce.dispatch.hook_faults import missed_calls

    if (alteration := find_alteration()) is not None:
        if report is None:
            raise UnusableInstallError(f"{alteration}. {_REPAIR_HINT}")
        log.write(f"client: {alteration}; replaced")
        report(f"{alteration}; it was replaced")
    paths.make_private_dir(paths.client_path().parent)
    for folder in (paths.data_dir(), paths.client_path().parent):  # older versions have left that to the umask
        folder.chmod(0o700)
    for path, (data, mode) in _expected_files().items():
        if read_file(path) != data:
            replace_file(path, data, mode=mode)
    paths.client_path().chmod(_CLIENT_MODE)
    fail_mode.refresh_fail_mode()
    table.refresh_table()
    missed_calls.reset_missed_calls()
    return paths.client_path()


def refresh_client(*, dry_run: bool = False, is_doctor: bool = False) -> str | None:
    """Replace what an older version of this installation has installed; another installation's is left alone.

    So is a client that somebody has changed: the alteration is returned. Where nothing was installed nothing
    happens, and errors are suppressed; with `dry_run` nothing is written at all. A folder of ours that is open to
    others is closed, unless a doctor is to see it.
    """
    with suppress(HookonceError, OSError, IndexError):
        if (alteration := find_alteration()) is not None:
            if not dry_run:
                log.write(f"client: {alteration}")
            return f"{alteration}. {_REPAIR_HINT}"
        if dry_run:
            return None
        client_dir = paths.client_path().parent
        if not is_doctor and _is_own_dir(client_dir) and (exposure := find_exposure()) is not None:
            client_dir.chmod(0o700)
            log.write(f"client: {exposure}; closed")
        interpreter = Path((read_file(_interpreter_file()) or b"").decode(errors="replace").splitlines()[0])
        is_own = not interpreter.exists() or interpreter == _stable_interpreter()
        if is_own and any(read_file(path) != data for path, (data, _) in _expected_files().items()):
            install_client()
    return None


def find_exposure() -> str | None:
    """A sentence about a folder of our client that is not ours alone, so that a client in it serves another home."""
    folder = paths.client_path().parent
    if not folder.exists() or is_private_dir(str(folder), os.getuid()):
        return None
    if _is_own_dir(folder):
        fault, remedy = "is open to others", "hookonce install closes it, or chmod 700"
    else:
        fault, remedy = "is a link or another user's", "move it away and say hookonce install"
    return f"{folder} {fault}, so calls are answered for the home of the account, whatever yours is; {remedy}"


def _is_own_dir(folder: Path) -> bool:
    return not folder.is_symlink() and folder.stat().st_uid == os.getuid()


def find_alteration() -> str | None:
    """A sentence about a client that is neither ours of today nor one that a hookonce has installed; else None."""
    client = paths.client_path()
    data = read_file(client)
    if data is None or data == _packaged_client():
        return None
    noted_build, digest = _read_lines(_digest_note_file(), 2)
    _, interpreter_build = _read_lines(_interpreter_file(), 2)
    if sha256(data).hexdigest() == digest or interpreter_build not in {noted_build, build_id.running_build_id()}:
        return None  # the files beside it were written by another version, which has put its own client there
    return f"{client} is not as hookonce has put it there: somebody has changed it"


def _read_lines(file: Path, count: int) -> list[str]:
    lines = (read_file(file) or b"").decode(errors="replace").splitlines()[:count]
    return lines + [""] * (count - len(lines))


def _expected_files() -> dict[Path, tuple[bytes, int]]:
    """Files that belong together, with content and mode; the digest note is written after the client."""
    interpreter_text = "".join(
        f"{line}\n" for line in (_stable_interpreter(), build_id.running_build_id(), *_package_roots())
    )
    client_bytes = _packaged_client()
    return {
        _interpreter_file(): (interpreter_text.encode(), 0o644),
        paths.client_path(): (client_bytes, _CLIENT_MODE),
        _digest_note_file(): (f"{build_id.running_build_id()}\n{sha256(client_bytes).hexdigest()}\n".encode(), 0o644),
    }


def _packaged_client() -> bytes:
    """The client that was built for this machine; where nothing was built, the Python client's shell script."""
    client_dir = files("hookonce") / "client" / "native"
    native_client = client_dir / "hookonce-on"
    if native_client.is_file():
        return native_client.read_bytes()
    return _harden_script((client_dir / "hookonce-on.sh").read_bytes())


def _harden_script(script: bytes, shell: str = "/bin/sh") -> bytes:
    """The script for a shell that may be bash, which takes options and functions of the caller's unless told so."""
    is_bash = not run([shell, "-p", "-c", '[ "$BASH_VERSION" ]']).returncode
    return script.replace(b"#!/bin/sh\n", f"#!{shell} -p\n".encode(), 1) if is_bash else script


def client_kind() -> str:
    """Kind of the packaged client: `native` or `python`."""
    return "native" if _packaged_client().startswith(_EXECUTABLE_MAGIC) else "python"


def _interpreter_file() -> Path:
    return paths.client_path().with_name("interpreter")


def _digest_note_file() -> Path:
    """File with the build and the digest of the installed client."""
    return paths.client_path().with_name("placed")


def _stable_interpreter() -> Path:
    """The interpreter of a lasting environment that has hookonce in it."""
    package_file = Path(__file__).resolve()
    if package_file.is_relative_to(getusersitepackages()):
        raise UnusableInstallError(
            "hookonce is installed in the user's site-packages; use a virtual environment or pipx install"
        )
    program = Path(sys.executable)
    if any(fragment in f"{program}/" for fragment in _TEMPORARY_ENV_PATHS):
        raise UnusableInstallError(
            f"{program} is a temporary environment; install hookonce in one that stays (pipx install hookonce)"
        )
    return program.absolute()


def _package_roots() -> list[str]:
    """Import paths of hookonce and its dependencies; the client starts an interpreter with -I -S."""
    specs = [find_spec(name) for name in ("hookonce", "msgspec", "re2", "yaml", "h11")]
    return list(dict.fromkeys(str(Path(spec.origin).parents[1]) for spec in specs if spec and spec.origin))


def run_trial(argv: list[str], silence: str) -> None:
    """Run a command as an agent would; no entry is written whose command has not just worked."""
    from hookonce.dispatch.dispatcher import TRIAL_PAYLOAD

    try:
        process = run(argv, TRIAL_PAYLOAD, timeout_s=_TRIAL_TIMEOUT_S)
    except (OSError, TimeoutExpired) as problem:
        raise UnusableInstallError(f"{argv[0]} does not run: {problem}") from None
    if process.returncode or process.stdout.decode(errors="replace").strip() != silence or process.stderr:
        raise UnusableInstallError(
            f"{argv[0]} does not answer as it should (exit code {process.returncode}); nothing was installed"
        )

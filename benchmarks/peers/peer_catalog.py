"""Peers: packages of the registries that judge tool calls, how each is installed and asked, and who is not here.

Each is installed once, in a folder of its own in the cache, in the version that is named here, and is called only if
its licence lets everybody run and measure it.
"""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from email.parser import HeaderParser
from json import loads
from pathlib import Path

from msgspec import Struct

HOOKS = Path(__file__).resolve().parent
ALLOWED_LICENCES = ("MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC")
PYPI, NPM = "PyPI", "npm"
_INSTALL_TIMEOUT_S = 300  # seconds for one package, or one program
_FINISHED = ".finished"  # a file in the folder of a package that is installed whole


class PeerPackage(Struct, frozen=True):
    """A package of a registry, and the words that ask it; {bin} has its programs, {hooks} our smallest hooks for it."""

    name: str
    registry: str
    package: str
    version: str
    command: list[str]
    words: str
    python: tuple[int, int] = (3, 11)  # the oldest that it takes
    variables: dict[str, str] = {}


_HAND_OVER = "hands the payload to a hook of ours, the README's guard"
PACKAGES = (
    PeerPackage("cchooks", PYPI, "cchooks", "0.1.5", ["{bin}/python", "{hooks}/cchooks_guard.py"], _HAND_OVER),
    PeerPackage("openhook", PYPI, "openhook", "0.1.0", ["{bin}/python", "{hooks}/openhook_guard.py"], _HAND_OVER),
    PeerPackage(
        "agent-hooks",
        PYPI,
        "agent-hooks",
        "0.2.0",
        # Of tool calls it knows those of Codex, which have the same shape.
        ["{bin}/agent-hooks", "run", "--provider", "codex", "--app-dir", "{hooks}", "{hooks}/agent_hooks_guard.py"],
        _HAND_OVER,
    ),
    PeerPackage("nah", PYPI, "nah", "0.11.0", ["{bin}/nah", "_claude-hook"], "rules of its own, in Python"),
    PeerPackage(
        "cc-safety-net",
        NPM,
        "cc-safety-net",
        "2.4.5",
        ["node", "{modules}/cc-safety-net/dist/bin/cc-safety-net.js", "hook", "--claude-code"],
        "rules of its own, in JavaScript",
    ),
    PeerPackage(
        "vectimus",
        PYPI,
        "vectimus",
        "0.22.2",
        ["{bin}/vectimus", "hook", "--source", "claude-code"],
        "rules of its own, in Python with a daemon",
        python=(3, 12),
    ),
)
# Who is known and is not here, with the reason.
ABSENT = {
    "agenthooks": "it is a Go module, and only packages of PyPI and npm are installed; `guard in Go` stands for it",
    "gryph": "it is a Go module, and only packages of PyPI and npm are installed; `guard in Go` stands for it",
    "nah 1 (Rust)": "it is built from its source or fetched as a binary; `guard in Rust` stands for it",
    "cupcake": "it is built from its source or fetched as a binary; `guard in Rust` stands for it",
    "failproofai": "npm does not find it",
    "dcg": "its licence has conditions on who may use and measure it; `guard in Rust` stands for it",
    "otel-hooks": "it sends traces and judges nothing",
}


class InstallationError(Exception):
    """Why a peer cannot be called, in half a sentence."""


def install_package(peer: PeerPackage, cache: Path, *, offline: bool = False) -> Path:
    """The folder of a package, installed if it is not there yet; InstallationError with the reason."""
    folder = cache / f"{peer.package.replace('/', '_')}-{peer.version}"
    if not (folder / _FINISHED).exists():
        if offline:
            raise InstallationError("it is not in the cache")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (_install_from_pypi if peer.registry == PYPI else _install_from_npm)(peer, folder)
        (folder / _FINISHED).touch()
    licence = find_licence(peer, folder)
    if licence not in ALLOWED_LICENCES:
        raise InstallationError(f"its licence is {licence or 'not told'}")
    return folder


def _install_from_pypi(peer: PeerPackage, folder: Path) -> None:
    run_installer([find_python(peer.python), "-m", "venv", str(folder)])
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run_installer([*pip, f"{peer.package}=={peer.version}"])


def find_python(oldest: tuple[int, int]) -> str:
    """Our own interpreter, or another of this machine where ours is too old."""
    if sys.version_info >= oldest:
        return sys.executable
    major, minor = oldest
    names = [f"python{major}.{newer}" for newer in range(minor, minor + 4)]
    found = [path for name in names if (path := shutil.which(name))]
    found += [str(path) for name in names for path in Path.home().glob(f".pyenv/versions/*/bin/{name}")]
    for path in found:  # one that is found may be a signpost to an interpreter that is not there
        with suppress(InstallationError):
            run_installer([path, "-c", "pass"])
            return path
    raise InstallationError(f"it needs Python {major}.{minor}")


def _install_from_npm(peer: PeerPackage, folder: Path) -> None:
    if shutil.which("npm") is None:
        raise InstallationError("it needs npm")
    # Scripts of packages do not run: what they would fetch does not come from the registry.
    options = ["--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    run_installer(["npm", "install", *options, f"{peer.package}@{peer.version}"])


def run_installer(command: list[str], **variables: str) -> None:
    """Run a program that installs or compiles; its last line is the reason where it fails."""
    try:
        done = subprocess.run(
            command,
            env=os.environ | variables,
            capture_output=True,
            timeout=_INSTALL_TIMEOUT_S,
            check=False,
            text=True,
            errors="replace",
        )
    except FileNotFoundError:
        raise InstallationError(f"it needs {command[0]}") from None
    except subprocess.TimeoutExpired:
        raise InstallationError(f"{Path(command[0]).name} takes longer than {_INSTALL_TIMEOUT_S} seconds") from None
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()]
        reason = (errors or lines or ["it fails"])[0][:120]
        raise InstallationError(f"{Path(command[0]).name} fails: {reason}")


def find_licence(peer: PeerPackage, folder: Path) -> str:
    """The licence that an installed package names, as SPDX has it where we know its other spellings; else empty."""
    if peer.registry == NPM:
        told = loads((folder / "node_modules" / peer.package / "package.json").read_text(encoding="utf-8"))
        return normalize_licence(str(told.get("license", "")))
    name = peer.package.replace("-", "_").lower()
    for file in folder.glob("lib/python*/site-packages/*.dist-info/METADATA"):
        if file.parent.name.lower().startswith(f"{name}-"):
            return read_metadata_licence(file.read_text(encoding="utf-8"))
    return ""


def read_metadata_licence(text: str) -> str:
    """The licence in the metadata of a Python package, which has three places for it."""
    metadata = HeaderParser().parsestr(text)
    classifiers = [line for line in metadata.get_all("Classifier", []) if line.startswith("License ::")]
    for told in (metadata.get("License-Expression"), *classifiers, metadata.get("License")):
        if told and (licence := normalize_licence(told.rpartition(" :: ")[2])):
            return licence
    return ""


def normalize_licence(told: str) -> str:
    """A licence by its SPDX name; a text of several lines by its first one."""
    line = told.strip().partition("\n")[0].strip().removeprefix("The ").removesuffix(" License")
    return "Apache-2.0" if line in {"Apache Software", "Apache 2.0", "Apache License 2.0"} else line

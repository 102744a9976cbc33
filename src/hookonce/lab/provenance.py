"""A capture: payloads of one agent in one version, as files in a folder, and where each of them is from."""

import re
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, convert
from msgspec.json import format as pretty

from hookonce.errors import HookonceError
from hookonce.model import Json
from hookonce.texts import dump, load

FILE = "provenance.json"
_NAME = re.compile(r"[\w.-]+\.json")  # of a file beside it, and of nothing else


class Golden(Struct, frozen=True, kw_only=True):
    """One payload: its file, the scenario that it is from, its event in both vocabularies and its canonical tool."""

    file: str
    scenario: str
    event: str
    type: str
    tool: str | None = None
    sha256: str


class Gap(Struct, frozen=True, kw_only=True):
    """A payload that was heard and not kept, and why."""

    scenario: str
    event: str
    type: str
    why: str


class Provenance(Struct, frozen=True, kw_only=True):
    """Where a capture is from. `tools` are the names that the model was offered. `order` holds the events of the tour
    that an agent waits for, in a list for each (sub-)agent. `unsteady` are events that come in some runs only, `silent`
    those that never came.
    """

    agent: str
    version: str
    origin: str
    date: str
    hookonce: str
    machine: str
    scenarios: list[str]
    tools: list[str]
    order: list[list[str]]
    unsteady: list[str]
    silent: list[str]
    files: list[Golden]
    gaps: list[Gap]


class Capture(Struct, frozen=True):
    """The payloads by the names of their files, and their provenance."""

    provenance: Provenance
    payloads: dict[str, Json]


def text_of(payload: Json) -> bytes:
    """A payload as it stands in its file."""
    return pretty(dump(payload), indent=2) + b"\n"


def digest(payload: Json) -> str:
    """The checksum of that file."""
    return sha256(text_of(payload)).hexdigest()


def save(capture: Capture, out: Path) -> Path:
    """Write a capture into its own folder there; an older one of the same version makes room."""
    told = capture.provenance
    folder = out / f"{told.agent}-{told.version}"
    _make_room(folder)
    for name, payload in capture.payloads.items():
        folder.joinpath(name).write_bytes(text_of(payload))
    folder.joinpath(FILE).write_bytes(text_of(told))
    return folder


def read(folder: Path) -> Capture:
    """The capture in a folder."""
    try:
        told = _provenance(folder)
        return Capture(told, {one.file: _document(folder / one.file) for one in told.files})
    except FileNotFoundError as problem:
        raise HookonceError(f"{folder} is no capture: there is no {Path(problem.filename).name} in it") from None
    except (ValueError, OSError) as problem:
        raise HookonceError(f"{folder} is no capture that can be read: {problem}") from None


def _make_room(folder: Path) -> None:
    """Nothing but an older capture may be there; of that, what it names is taken away."""
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        return
    try:
        names = [one.file for one in _provenance(folder).files]
    except (ValueError, OSError):
        raise HookonceError(f"{folder} holds something that is no capture, and was left alone") from None
    for name in [*names, FILE]:
        folder.joinpath(name).unlink(missing_ok=True)


def _provenance(folder: Path) -> Provenance:
    told = convert(_document(folder / FILE), Provenance)
    for one in told.files:
        if not _NAME.fullmatch(one.file):
            raise ValueError(f"{FILE} names a file that does not lie beside it: {one.file}")
    return told


def _document(path: Path) -> Json:
    return load(path.read_text(encoding="utf-8"))

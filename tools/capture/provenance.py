"""Capture on disk: payloads of one agent version as files in a folder, and provenance.json beside them."""

import re
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, convert
from msgspec.json import format as pretty

from hookonce.base.jsontext import dump, load
from hookonce.errors import HookonceError
from hookonce.model import Json

PROVENANCE_FILE = "provenance.json"
_FILE_NAME = re.compile(r"[\w.-]+\.json")  # of a file beside it, and of nothing else


class Golden(Struct, frozen=True, kw_only=True):
    """One payload: its file, the scenario that it is from, its event in both vocabularies and its canonical tool."""

    file: str
    scenario: str
    event: str
    type: str
    tool: str | None = None
    sha256: str


class CaptureGap(Struct, frozen=True, kw_only=True):
    """Payload that was captured and not kept, and why."""

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
    gaps: list[CaptureGap]


class Capture(Struct, frozen=True):
    """The payloads by the names of their files, and their provenance."""

    provenance: Provenance
    payloads: dict[str, Json]


def encode_payload(payload: Json) -> bytes:
    """Encode a payload as it stands in its file."""
    return pretty(dump(payload), indent=2) + b"\n"


def payload_digest(payload: Json) -> str:
    """Checksum of a payload's file."""
    return sha256(encode_payload(payload)).hexdigest()


def save_capture(capture: Capture, out: Path) -> Path:
    """Write a capture into its own folder; an older one of the same version is replaced."""
    provenance = capture.provenance
    folder = out / f"{provenance.agent}-{provenance.version}"
    _clear_folder(folder)
    for name, payload in capture.payloads.items():
        folder.joinpath(name).write_bytes(encode_payload(payload))
    folder.joinpath(PROVENANCE_FILE).write_bytes(encode_payload(provenance))
    return folder


def load_capture(folder: Path) -> Capture:
    """Load the capture of a folder."""
    try:
        provenance = _load_provenance(folder)
        return Capture(provenance, {golden.file: _load_document(folder / golden.file) for golden in provenance.files})
    except FileNotFoundError as problem:
        raise HookonceError(f"{folder} is no capture: there is no {Path(problem.filename).name} in it") from None
    except (ValueError, OSError) as problem:
        raise HookonceError(f"{folder} is no capture that can be read: {problem}") from None


def _clear_folder(folder: Path) -> None:
    """Nothing but an older capture may be there; of that, what it names is taken away."""
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        return
    try:
        names = [golden.file for golden in _load_provenance(folder).files]
    except (ValueError, OSError):
        raise HookonceError(f"{folder} holds something that is no capture, and was left alone") from None
    for name in [*names, PROVENANCE_FILE]:
        folder.joinpath(name).unlink(missing_ok=True)


def _load_provenance(folder: Path) -> Provenance:
    provenance = convert(_load_document(folder / PROVENANCE_FILE), Provenance)
    for golden in provenance.files:
        if not _FILE_NAME.fullmatch(golden.file):
            raise ValueError(f"{PROVENANCE_FILE} names a file that does not lie beside it: {golden.file}")
    return provenance


def _load_document(path: Path) -> Json:
    return load(path.read_text(encoding="utf-8"))

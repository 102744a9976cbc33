"""Optional reference material: captures, specifications and third-party vectors beside the repository.

Set HOOKONCE_SHARED to its folder; the default is `shared` next to the clone. Tests that need it skip with a reason
that begins with ABSENT, and every run of pytest ends with their number.
"""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("HOOKONCE_SHARED", ROOT.parent / "shared"))

ABSENT = "reference material is absent"

# The folder of captures is the agent's name, but for Copilot's second configuration.
FOLDERS = {"copilot-cli-pascal": "copilot-cli"}


def reference(*parts: str) -> Path:
    """A file or folder of the reference material; the test is skipped without it."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{ABSENT}: {'/'.join(parts)}")
    return path


def vector(path: str) -> Path:
    """A file of third-party test data."""
    return reference("vectors", *path.split("/"))


def seed_text(number: str) -> str:
    """The text of a specification, by its number."""
    for file in sorted((SHARED / "seeds").glob(f"{number}_*.txt")):
        return file.read_text(encoding="utf-8")
    pytest.skip(f"{ABSENT}: specification {number}")


def captures() -> list[tuple[str, str, Path]]:
    """Every recorded payload: the agent, the native event of its file name, the file; empty when absent."""
    return [
        (FOLDERS.get(file.parent.name, file.parent.name), native_event(file), file)
        for file in sorted((SHARED / "captures").glob("*/*.json"))
    ]


def native_event(file: Path) -> str:
    """The native event that a capture's file name tells."""
    stem = file.stem.partition("-")[0]
    if stem == "repo":  # three sources of one configuration, all recorded on the same event
        return "preToolUse"
    return stem.removeprefix("event.")

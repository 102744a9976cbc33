"""Optional reference material: captures, specifications and third-party vectors beside the repository.

Set HOOKONCE_SHARED to its folder; the default is `shared` next to the clone. Tests that need it skip
with a reason when it is absent.
"""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("HOOKONCE_SHARED", ROOT.parent / "shared"))

# The folder of captures is the agent's name, but for Copilot's second configuration.
FOLDERS = {"copilot-cli-pascal": "copilot-cli"}


def vector(path: str) -> Path:
    """A file of third-party test data."""
    found = SHARED / "vectors" / path
    if not found.exists():
        pytest.skip(f"third-party vectors are not here: {path}")
    return found


def seed_text(number: str) -> str:
    """The text of a specification, by its number."""
    for found in sorted((SHARED / "seeds").glob(f"{number}_*.txt")):
        return found.read_text(encoding="utf-8")
    pytest.skip(f"specification {number} is not here")


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

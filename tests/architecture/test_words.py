"""What is committed is finished, has names that say something, and belongs to no particular machine."""

import re

from tests.architecture.rules import EMPTY_NAMES
from tests.architecture.tree import ROOT, committed_files, display_path

# Put together here, so that this file does not contain what it looks for.
UNFINISHED = re.compile(r"\b(?:" + "|".join(["TO" + "DO", "FIX" + "ME"]) + r")\b")
MACHINE = re.compile(rf"(?<![\w.~-])/{'work'}/")

# Recorded payloads quote what agents were asked to look for; their words are not ours.
RECORDED = ROOT / "tests" / "golden"


def texts():
    for path in committed_files():
        data = path.read_bytes()
        if b"\0" not in data:
            yield path, data.decode("utf-8", errors="replace")


def matches(pattern: re.Pattern[str], *, recorded: bool) -> list[str]:
    return [
        f"{display_path(path)}:{number}: {line.strip()[:100]}"
        for path, text in texts()
        if recorded or not path.is_relative_to(RECORDED)
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_nothing_is_marked_as_unfinished():
    """
    What is left to do is an issue, not a comment.
    """
    assert [] == matches(UNFINISHED, recorded=False)


def test_no_path_of_a_particular_machine_is_committed():
    """
    Neither code nor docs nor recorded payloads name a folder of the machine they were made on.
    """
    assert [] == matches(MACHINE, recorded=True)


def test_no_file_or_folder_has_a_name_that_says_nothing():
    """
    Not in tests, docs and benchmarks either.
    """
    code = [path.relative_to(ROOT) for path in committed_files() if path.suffix == ".py"]
    words = {path.as_posix(): {part.removesuffix(".py").strip("_") for part in path.parts} for path in code}
    assert {} == {path: parts & EMPTY_NAMES for path, parts in words.items() if parts & EMPTY_NAMES}

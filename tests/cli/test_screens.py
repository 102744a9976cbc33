"""Golden screens: what commands show on terminals of 80, 100 and 140 columns, of one story and at one time.

`HOOKONCE_SCREENS=write pytest tests/cli/test_screens.py` writes them anew; then each is read by a person, in
`tests/cli/screens`.
"""

import io
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pytest
from rich.console import Console

from hookonce.__main__ import main
from hookonce.base.runtime_dir import candidate_dirs
from hookonce.cli.daemon import live_view
from hookonce.store import status
from hookonce.store.entry import build_entry
from hookonce.store.writer import Writer
from tests.cli.screens.story import CLAUDE, story
from tests.shared import ROOT

SCREENS = Path(__file__).parent / "screens"
WIDTHS, HEIGHT = (80, 100, 140), 40
HOME = "/home/dev/in-a-longer-folder-x"  # as long as the folder that it stands for
BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
NOW = 1_794_819_520.0  # 2026-11-16 09:58:40 in Berlin
PROGRESS = re.compile(r"\r\x1b\[K[^\n]*?(?=\r\x1b\[K)|\r\x1b\[K")
COMMANDS = {
    "events": ["events"],
    "events-all-utc": ["events", "--all", "--utc", "--last", "12"],
    "sessions": ["sessions"],
    "show": ["show", CLAUDE[:8]],
    "show-turns": ["show", CLAUDE[:8], "--turns"],
    "stats": ["stats"],
    "cost-by-session": ["cost", "--by", "session"],
    "why": ["why"],
    "status": ["status"],
    "doctor": ["doctor", "claude-code"],
    "install-dry-run": ["install", "--dry-run"],
    "agents": ["agents"],
}


class Terminal(io.TextIOWrapper):
    """A stream that says that it is a terminal."""

    def isatty(self):
        return True


def shown(words):
    """What a command writes to its terminal."""
    streams = sys.stdout, sys.stderr
    screen = Terminal(io.BytesIO(), encoding="utf-8", newline="\n")
    sys.stdout = sys.stderr = screen
    try:
        main(words)
        screen.flush()
    finally:
        sys.stdout, sys.stderr = streams
    return screen.buffer.getvalue().decode()


@pytest.fixture(scope="module")
def home():
    """A home with three agents, one of which calls us, and the story in its record."""
    folder = Path(tempfile.mkdtemp(prefix="hookonce-screens-", dir="/tmp"))
    patch = pytest.MonkeyPatch()
    programs = folder / "bin"
    for name, version in {"claude": "2.1.59", "codex": "0.166.0"}.items():
        programs.mkdir(exist_ok=True)
        (programs / name).write_text(f"#!/bin/sh\necho {version}\n")
        (programs / name).chmod(0o755)
    for name in (".claude", ".codex", ".gemini", "shop"):
        (folder / name).mkdir()
    (folder / ".claude/settings.json").write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n')
    for name in os.environ.keys() - {"HOOKONCE_COLD", "HOOKONCE_SCREENS", "PYTEST_CURRENT_TEST"}:
        patch.delenv(name)  # an agent that runs these tests leaves its marks there
    values = {"HOME": str(folder), "PATH": str(programs), "TZ": BERLIN, "NO_COLOR": "1", "TERM": "xterm", "LINES": str(HEIGHT)}
    for name, value in values.items():
        patch.setenv(name, value)
    patch.chdir(folder / "shop")
    patch.setattr(status, "time", lambda: NOW)
    time.tzset()
    with Writer() as writer:
        writer.append([build_entry(record) for record in story()])
    shown(["install", "claude-code"])
    yield folder
    patch.undo()
    time.tzset()
    for found in (folder, *candidate_dirs(folder, folder / ".local/share/hookonce")):
        shutil.rmtree(found, ignore_errors=True)


@pytest.fixture(autouse=True)
def at_home(home, monkeypatch):
    """Every test sees that home."""
    monkeypatch.setenv("HOME", str(home))


def screen_of(name, width, home, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    if name == "up":
        return live_screen(width, monkeypatch)
    text = shown(COMMANDS[name]).replace(str(home), HOME)
    return re.sub(r"\d+\.\d MB", "0.1 MB", PROGRESS.sub("", text))


def live_screen(width, monkeypatch):
    """The live view when all of the story has come, and after it a pause."""
    monkeypatch.setattr(live_view, "monotonic", lambda: 0.0)
    live = live_view.LiveView(Path("/nowhere"))
    for record in story():
        live.add_record(record)
    out = io.StringIO()
    console = Console(file=out, width=width, height=HEIGHT, force_terminal=False, legacy_windows=False)
    console.print(live_view.render_screen(live, "hookonce", width, HEIGHT))
    return out.getvalue()


@pytest.mark.part(2)
@pytest.mark.parametrize("name", [*COMMANDS, "up"])
def test_a_screen_is_as_it_was_looked_at(name, home, monkeypatch):
    """
    At each width the screen is the golden one, and no line of a table is wider than the terminal.
    """
    screens = {width: screen_of(name, width, home, monkeypatch) for width in WIDTHS}
    text = "".join(f"=== {width} columns ===\n{screen}" for width, screen in screens.items())
    golden = SCREENS / f"{name}.txt"
    if os.environ.get("HOOKONCE_SCREENS") == "write":
        golden.write_text(text, encoding="utf-8")

    assert golden.read_text(encoding="utf-8") == text


TERMS = ("hook", "manifest", "decision", "refused", "trusted", "installed", "session", "record", "daemon")
UNREADABLE = ("None", "vouched for by", "else the table's mark", "p50", "partly;", "nobody tells", " told of", "no door")


def test_the_terms_of_screens_are_explained():
    glossary = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")

    assert [] == [term for term in TERMS if f"| *{term}* |" not in glossary]


@pytest.mark.parametrize("name", [*COMMANDS, "up"])
def test_no_screen_has_words_that_must_be_read_twice(name):
    """
    Neither a value of Python nor a phrase over which a new user has stumbled.
    """
    text = (SCREENS / f"{name}.txt").read_text(encoding="utf-8")

    assert [] == [words for words in UNREADABLE if words in text]

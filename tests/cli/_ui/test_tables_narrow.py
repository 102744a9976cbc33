"""Tables on a terminal that is narrower than they are: nothing that they tell is cut off."""

import os
import pty
import re
import sys

import pytest

from tests.cli.command import environment, run
from tests.cli.recorded_home import FIRST, remember

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home in which something has happened."""
    return remember(tmp_path, monkeypatch)


def shown(home, *words, columns=80):
    """What a terminal of so many columns is given, line by line."""
    pid, screen = pty.fork()
    if pid == 0:
        world = environment(HOME=str(home), COLUMNS=str(columns), TERM="xterm", NO_COLOR="1")
        os.execve(sys.executable, [sys.executable, "-m", "hookonce", *words], world)  # noqa: S606  it is our own child
    said = b""
    try:
        while chunk := os.read(screen, 1 << 16):
            said += chunk
    except OSError:
        pass
    os.close(screen)
    os.waitpid(pid, 0)
    return COLOUR.sub("", said.decode()).replace("\r", "").splitlines()


def words_of(lines):
    """What they say, wherever it stands."""
    return set(" ".join(lines).split())


@pytest.mark.parametrize("words", [("stats",), ("sessions",), ("cost",), ("cost", "--by", "model"), ("agents",)], ids=" ".join)
def test_nothing_is_cut_off_at_eighty_columns(home, words):
    """
    Every word that is there without a terminal is there with a narrow one, and no table is wider than it.
    """
    lines = shown(home, *words)
    plain = run(*words, HOME=str(home)).out.splitlines()

    assert words_of(line for line in plain if "█" not in line and "─" not in line) - words_of(lines) == set()
    assert "…" not in "".join(lines)
    assert 80 >= max((len(line.rstrip()) for line in lines if "─" in line), default=0)


def test_what_has_no_room_beside_a_session_stands_below_it(home):
    lines = shown(home, "sessions")

    (first,) = [number for number, line in enumerate(lines) if FIRST in line]
    assert ["2026-11-15", "10:00:20", "19", "s", "9", "3", "1", "1,100,000", "/w"] == lines[first + 1].split()
    assert lines[first + 1].startswith("    ")
    assert all(len(line) <= 80 for line in lines)
    assert len(shown(home, "sessions", columns=200)) == 4

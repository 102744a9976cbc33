"""Tables on a terminal that is narrower than they are: nothing goes without a word."""

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


@pytest.mark.part(2)
@pytest.mark.parametrize("words", [("stats",), ("cost",), ("cost", "--by", "model"), ("agents",)], ids=" ".join)
def test_nothing_is_cut_off_at_eighty_columns(home, words):
    """
    Every word that is there without a terminal is there with a narrow one, and no table is wider than it.
    """
    lines = shown(home, *words)
    plain = run(*words, HOME=str(home)).out.splitlines()

    assert words_of(line for line in plain if "█" not in line and "─" not in line) - words_of(lines) == set()
    assert "…" not in "".join(lines)
    assert 80 >= max((len(line.rstrip()) for line in lines if "─" in line), default=0)


def test_columns_that_have_no_room_are_named(home):
    """
    The least worth go first: at 80 columns what was decided is there, at 200 everything.
    """
    lines = shown(home, "sessions")
    wide = shown(home, "sessions", columns=200)

    (first,) = [line for line in lines if FIRST[:13] in line]
    assert ["codex", "10:00:20"] == first.split()[:3:2]
    assert ["1", "0", "/w"] == first.split()[-3:]
    assert any(line.startswith("columns not shown: first (UTC)") for line in lines)
    assert all(len(line) <= 80 for line in lines[:-1])
    assert not any(line.startswith("columns not shown") for line in wide)
    assert any(FIRST in line and "1,100,000" in line for line in wide)

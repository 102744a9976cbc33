"""A client that somebody has changed: it is told of, and replaced only by those who are asked to mend it."""

import pytest

from tests.cli.command import run

STRANGE = b"#!/bin/sh\necho mine\n"


@pytest.fixture
def home(tmp_path):
    """A home in which Claude Code calls us, through a client that is not ours any more."""
    (tmp_path / ".claude").mkdir()
    run("install", "claude-code", HOME=str(tmp_path))
    client(tmp_path).write_bytes(STRANGE)
    return tmp_path


def client(home):
    return home / ".local/share/hookonce/bin/hookonce-on"


def log(home):
    found = list(home.glob(".local/state/hookonce/*.log")) + list(home.glob(".local/share/hookonce/*.log"))
    return "".join(file.read_text() for file in found)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "words",
    [("status", "claude-code"), ("agents",), ("install", "--dry-run"), ("doctor", "--repair", "--dry-run"), ("doctor",), ("daemon", "status")],
    ids=" ".join,
)
def test_it_is_told_of_and_left_alone(home, words):
    ran = run(*words, cwd=home, HOME=str(home))

    assert STRANGE == client(home).read_bytes()
    assert 1 == (ran.out + ran.err).count(f"{client(home)} is not as hookonce has put it there")
    assert "hookonce doctor --repair" in ran.out + ran.err
    assert ("--dry-run" in words) != ("is not as hookonce" in log(home))


@pytest.mark.parametrize("words", [("install", "claude-code"), ("doctor", "claude-code", "--repair")], ids=" ".join)
def test_it_is_mended_by_those_who_are_asked_to(home, words):
    ran = run(*words, cwd=home, HOME=str(home))

    assert STRANGE != client(home).read_bytes()
    assert f"{client(home)} is not as hookonce has put it there: somebody has changed it; it was replaced" in ran.complaints()
    assert "somebody has changed it; replaced" in log(home)
    assert "" == run("agents", HOME=str(home)).err
    assert 0 == run("doctor", "claude-code", cwd=home, HOME=str(home)).code


def test_nothing_else_is_built_upon_it(home):
    ran = run("up", "--for", "1s", cwd=home, HOME=str(home))

    assert (1, STRANGE) == (ran.code, client(home).read_bytes())
    assert "Next: hookonce doctor --repair puts ours back" in ran.err


def test_one_that_another_version_has_put_there_is_nobodys_doing(home):
    """
    Whoever knows no note of it writes the interpreter's file with another build; and an update may be cut short.
    """
    beside = client(home).with_name("interpreter")
    python, _, *shelves = beside.read_text().splitlines()
    beside.write_text("\n".join([python, "0.0.1-of-before", *shelves, ""]))

    ran = run("status", "claude-code", cwd=home, HOME=str(home))

    assert "" == ran.err
    assert STRANGE != client(home).read_bytes()

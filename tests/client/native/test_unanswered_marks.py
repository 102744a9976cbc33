"""Calls that nobody answers leave a mark, and nothing else."""

import os

import pytest


@pytest.fixture
def bare(world):
    """A client whose interpreter is gone."""
    (world.home / "python").unlink()
    return world


def names(world):
    """What lies beside the client, and it."""
    return {file.name for file in world.bin.iterdir()}


def test_each_call_that_nobody_answers_is_counted(bare):
    """
    In a file of ours alone, whatever the caller's umask.
    """
    file, before = bare.bin / "unanswered", names(bare)
    for _ in range(3):
        assert (0, b"", b"") == bare.run("codex", "Stop", umask=0)

    assert b"..." == file.read_bytes()
    assert 0o600 == file.stat().st_mode & 0o777
    assert before | {"unanswered"} == names(bare)


def test_a_call_that_is_answered_is_not_counted(world):
    world.run("codex", "Stop")

    assert not (world.bin / "unanswered").exists()


def test_a_call_whose_interpreter_dies_is_counted(world):
    world.interpret(cold="kill -9 $$")
    world.run("codex", "Stop")

    assert b"." == (world.bin / "unanswered").read_bytes()


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "full", "unwritable"])
def test_nothing_in_its_place_is_touched_or_waited_for(bare, kind):
    """
    Somebody's file behind a link, a pipe that nobody reads, a file that is long enough.
    """
    file, other = bare.bin / "unanswered", bare.home / "other"
    other.write_bytes(b"theirs")
    if kind == "link":
        file.symlink_to(other)
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "full":
        file.write_bytes(b"." * 9999)
    else:
        bare.bin.chmod(0o500)

    assert (0, b"{}\n", b"") == bare.run("cursor", "stop")
    assert b"theirs" == other.read_bytes()
    assert kind != "full" or 9999 == file.stat().st_size
    bare.bin.chmod(0o700)


def test_a_client_that_was_never_installed_counts_nothing(bare):
    (bare.bin / "interpreter").unlink()
    bare.run("codex", "Stop")

    assert {"hookonce-on"} == names(bare)

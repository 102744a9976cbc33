"""Which files are read: anybody may name anything as a transcript."""

import os

import pytest

from hookonce.agents.transcripts.follower import resolve_session_file
from hookonce.errors import HookonceError


@pytest.fixture
def place(tmp_path):
    """A home, and the folder of an agent elsewhere."""
    home = tmp_path / "home"
    for folder in (home / ".claude/projects/p", tmp_path / "elsewhere/sessions/2026/11/15"):
        folder.mkdir(parents=True)
    return home


def test_files_of_the_user_are_read_where_agents_keep_them(place):
    """
    Under the home, or under an agent's own one wherever that is; a link is followed to such a file.
    """
    own, moved = place / ".claude/projects/p/s.jsonl", place.parent / "elsewhere/sessions/2026/11/15/rollout-1.jsonl"
    link = place / "link.jsonl"
    for file in (own, moved):
        file.touch()
    link.symlink_to(moved)

    assert own == resolve_session_file("claude-code", str(own), place)
    assert moved == resolve_session_file("codex", str(moved), place) == resolve_session_file("codex", str(link), place)


@pytest.mark.parametrize("name", ["", "relative.jsonl", "/a\0b", "/" + "a" * 5000, "~/.claude/x.jsonl"])
def test_what_is_no_path_is_refused(place, name):
    """
    Without a look at the disk.
    """
    with pytest.raises(HookonceError, match="says nothing"):
        resolve_session_file("claude-code", name, place)


def test_what_is_no_file_of_the_user_is_refused(place, monkeypatch):
    """
    A pipe would be waited for, a device may do anything when it is opened, a stranger's file is none of our business.
    """
    pipe, folder, file = place / "pipe.jsonl", place / "folder.jsonl", place / "file.jsonl"
    os.mkfifo(pipe)
    folder.mkdir()
    file.touch()
    for one in (pipe, folder, "/dev/zero", "/dev/stdin"):
        with pytest.raises((HookonceError, OSError)):
            resolve_session_file("claude-code", str(one), place)
    monkeypatch.setattr(os, "getuid", lambda: file.stat().st_uid + 1)
    with pytest.raises(HookonceError, match="not a file of this user"):
        resolve_session_file("claude-code", str(file), place)


def test_what_lies_elsewhere_is_refused(place):
    """
    However the way there is written, and what has no ending of a session file.
    """
    other, key = place.parent / "other.jsonl", place / "id_rsa"
    for file in (other, key):
        file.touch()
    for name in (other, place / ".." / "other.jsonl", key):
        with pytest.raises(HookonceError, match="does not lie where"):
            resolve_session_file("claude-code", str(name), place)


def test_what_is_not_there_is_not_refused(place):
    """
    Agents name the file before they write it.
    """
    with pytest.raises(FileNotFoundError):
        resolve_session_file("claude-code", str(place / "soon.jsonl"), place)

"""A file of somebody else is replaced as a whole or not at all."""

import os
import signal
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from hookonce.base.files import FileEditError, backup_file, list_backups, read_file, remove_file, replace_file

OLD, NEW = b"old\n" * 1000, b"new and longer\n" * 1000
NOW = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of our own."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    return place


@pytest.fixture
def file(home):
    path = home / "settings.json"
    path.write_bytes(OLD)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def refused(call, *arguments, **more):
    with pytest.raises(FileEditError) as caught:
        call(*arguments, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755, 0o200])
def test_mode_and_owner_are_kept(file, mode):
    """
    The new file looks like the old one from outside, and nothing else is left behind.
    """
    file.chmod(mode)
    before = file.stat()
    replace_file(file, NEW)
    after = file.stat()

    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert names(file.parent) == ["settings.json"]
    file.chmod(0o600)
    assert file.read_bytes() == NEW


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file to any group")
def test_a_group_is_kept(file):
    """
    A file of another group stays in that group.
    """
    os.chown(file, -1, 12345)
    replace_file(file, NEW)
    assert file.stat().st_gid == 12345


def test_attributes_are_kept(file):
    """
    Extended attributes move over, where there are any.
    """
    try:
        os.setxattr(file, "user.note", b"mine")
    except (OSError, AttributeError):
        pytest.skip("no extended attributes here")
    replace_file(file, NEW)
    assert os.getxattr(file, "user.note") == b"mine"


def test_files_are_made_with_their_folders(home):
    """
    A missing file is made with the mode that the umask leaves.
    """
    path = home / "a" / "b" / "hooks.json"
    assert read_file(path) is None
    umask = os.umask(0o027)
    try:
        replace_file(path, NEW)
    finally:
        os.umask(umask)
    assert read_file(path) == NEW
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_links_are_followed_inside_home(home, file):
    """
    The file that a link leads to is replaced, and the link stays.
    """
    (home / "dotfiles").mkdir()
    real = file.rename(home / "dotfiles" / "settings.json")
    file.symlink_to(real)
    (home / "linked").symlink_to(home / "dotfiles")

    replace_file(file, NEW)
    assert file.is_symlink()
    assert real.read_bytes() == NEW
    replace_file(home / "linked" / "settings.json", OLD)
    assert real.read_bytes() == OLD


def test_a_home_behind_a_link_is_a_home(home, file, tmp_path, monkeypatch):
    """
    Where HOME itself is a link, files in it are reached through it.
    """
    (tmp_path / "link").symlink_to(home)
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    replace_file(tmp_path / "link" / "settings.json", NEW)
    assert file.read_bytes() == NEW


def test_a_dangling_link_inside_home_is_filled(home):
    """
    A link to a file that is not there yet stays a link.
    """
    (home / "link").symlink_to(home / "later.json")
    replace_file(home / "link", NEW)
    assert (home / "later.json").read_bytes() == NEW
    assert (home / "link").is_symlink()


def test_links_that_leave_home_are_refused(home, tmp_path):
    """
    Neither out of home nor from outside into it, by the file or by a folder on the way.
    """
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.json").write_bytes(OLD)
    (home / "x.json").write_bytes(OLD)
    (home / "link.json").symlink_to(outside / "x.json")
    (home / "folder").symlink_to(outside)
    (outside / "link.json").symlink_to(home / "x.json")

    for path in (home / "link.json", home / "folder" / "x.json", outside / "link.json"):
        assert "outside of your home directory" in refused(replace_file, path, NEW)
        assert "outside of your home directory" in refused(read_file, path)
    assert (outside / "x.json").read_bytes() == (home / "x.json").read_bytes() == OLD


def test_links_in_a_circle_are_refused(home):
    """
    A link that leads nowhere gives one sentence.
    """
    (home / "a").symlink_to(home / "b")
    (home / "b").symlink_to(home / "a")
    refused(replace_file, home / "a", NEW)
    refused(read_file, home / "a")


def test_files_outside_of_home_need_no_link(home, tmp_path):
    """
    A project may lie anywhere.
    """
    path = tmp_path / "project.json"
    replace_file(path, NEW)
    assert path.read_bytes() == NEW


def test_what_may_not_be_replaced_is_refused(home, file, monkeypatch):
    """
    Read-only files, folders, pipes and files of other users stay as they are.
    """
    os.mkfifo(home / "pipe")
    assert refused(replace_file, home, NEW) == f"{home} is a directory, not a file"
    assert refused(replace_file, home / "pipe", NEW) == f"{home / 'pipe'} is not a regular file"
    assert refused(read_file, home / "pipe") == f"{home / 'pipe'} is not a regular file"
    file.chmod(0o444)
    assert refused(replace_file, file, NEW) == f"{file} is read-only"
    assert refused(remove_file, file) == f"{file} is read-only"
    file.chmod(0o644)
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    assert refused(replace_file, file, NEW) == f"{file} belongs to another user"
    assert file.read_bytes() == OLD
    assert names(home) == ["pipe", "settings.json"]


def test_a_file_that_somebody_changed_is_left_alone(file):
    """
    With the old bytes given, a file that says something else by now is not touched.
    """
    assert "somebody else" in refused(replace_file, file, NEW, old=b"other")
    assert "somebody else" in refused(replace_file, file.with_name("missing"), NEW, old=b"other")
    assert file.read_bytes() == OLD
    replace_file(file, NEW, old=OLD)
    replace_file(file.with_name("missing"), NEW, old=b"")
    assert file.read_bytes() == NEW


@pytest.mark.parametrize("name", ["open", "write", "fchmod", "fsync", "replace", "fstat"])
def test_errors_leave_the_old_file_and_nothing_else(file, monkeypatch, name):
    """
    A full disk, a read-only file system or a forbidden call gives one sentence.
    """

    def fail(*_arguments, **_more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, name, fail)
    said = refused(replace_file, file, NEW)
    monkeypatch.undo()
    assert said == f"{file} cannot be written: No space left on device"
    assert file.read_bytes() == OLD
    assert names(file.parent) == ["settings.json"]


def test_a_folder_in_the_way_is_named(home, file):
    """
    A file where a folder should be gives one sentence.
    """
    assert "cannot be written" in refused(replace_file, file / "x", NEW)


def test_short_writes_are_continued(file, monkeypatch):
    """
    The system may write less than was asked for.
    """
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, bytes(data)[:100]))
    replace_file(file, NEW)
    assert file.read_bytes() == NEW


KILLER = """
import os, signal, sys
from pathlib import Path
from hookonce.base import files

point, calls = int(sys.argv[2]), 0

def deadly(name):
    real = getattr(os, name)
    def call(*arguments, **more):
        global calls
        calls += 2
        if calls - 1 == point:
            if name == "write":
                real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        done = real(*arguments, **more)
        if calls == point:
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    setattr(os, name, call)

for name in ("open", "write", "fstat", "fchown", "fchmod", "fsync", "replace", "unlink", "close", "lstat", "setxattr"):
    deadly(name)
files.replace_file(Path(sys.argv[1]), sys.stdin.buffer.read())
"""


def kill_at(path, point):
    run = [sys.executable, "-c", KILLER, str(path), str(point)]
    return subprocess.run(run, input=NEW, check=False, capture_output=True)


@pytest.mark.slow
def test_killed_at_any_point_the_file_is_old_or_new(file):
    """
    SIGKILL before, after and in the middle of every system call: never half a file, and the next try works.
    """
    file.chmod(0o640)
    seen, point = [], 1
    while (ran := kill_at(file, point)).returncode == -signal.SIGKILL:
        seen.append(file.read_bytes())
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
        point += 1

    assert (ran.returncode, ran.stderr) == (0, b"")
    assert point > 12
    assert seen[0] == OLD
    assert set(seen) <= {OLD, NEW}
    assert seen == sorted(seen, key=lambda text: text == NEW)
    assert file.read_bytes() == NEW


def test_drafts_of_killed_writers_are_swept(file):
    """
    What a killed writer left behind goes with the next write; a draft that is being written stays.
    """
    old, young, foreign = (
        file.with_name(name) for name in (".settings.json.00000000.hookonce", ".settings.json.1.hookonce", ".x")
    )
    for path in (old, young, foreign):
        path.write_bytes(b"")
    os.utime(old, (0, 0))
    os.utime(foreign, (0, 0))
    replace_file(file, NEW)
    assert names(file.parent) == [".settings.json.1.hookonce", ".x", "settings.json"]


def test_removing_a_file_obeys_the_same_rules(home, file, tmp_path):
    """
    A file that we made can go; one that is not there is no error.
    """
    remove_file(file)
    remove_file(file)
    assert names(home) == []


def test_backups_are_private_copies_in_order(home, file):
    """
    Each copy is named by its time, two in one moment do not clash, and files of one name do not mix.
    """
    folder = home / "data" / "backups"
    first = backup_file(file, folder, NOW)
    file.write_bytes(NEW)
    second = backup_file(file, folder, NOW)
    third = backup_file(file, folder, (NOW + timedelta(hours=1)).astimezone(timezone(timedelta(hours=-9))))
    other = home / "other" / "settings.json"
    other.parent.mkdir()
    other.write_bytes(b"other")
    backup_file(other, folder, NOW)

    assert list_backups(file, folder) == [first, second, third]
    assert first.name == "20260102T030405.000006Z"
    assert [copy.read_bytes() for copy in (first, second, third)] == [OLD, NEW, NEW]
    assert [copy.read_bytes() for copy in list_backups(other, folder)] == [b"other"]
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_nothing_gives_no_backup(home):
    """
    A file that is not there has no copy.
    """
    assert backup_file(home / "missing", home / "backups", NOW) is None
    assert list_backups(home / "missing", home / "backups") == []
    assert not (home / "backups").exists()


def test_a_backup_that_cannot_be_written_is_refused(home, file):
    """
    One sentence, before anything is changed.
    """
    (home / "backups").write_bytes(b"")
    assert "cannot be copied" in refused(backup_file, file, home / "backups", NOW)


def test_relative_paths_are_meant_from_here(file, monkeypatch):
    """
    A relative path means the same file, and the same backups.
    """
    monkeypatch.chdir(file.parent)
    replace_file(Path("settings.json"), NEW)
    copy = backup_file(Path("settings.json"), file.parent / "backups", NOW)
    assert list_backups(file, file.parent / "backups") == [copy]
    assert file.read_bytes() == NEW

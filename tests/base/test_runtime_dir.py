"""The runtime directory: ours alone, one for each home, and no half-written files in it."""

import fcntl
import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from hookonce.base import runtime_dir
from hookonce.base.runtime_dir import (
    create_exclusive,
    remove_stale_files,
    runtime_file,
    update_locked,
    write_atomic,
)
from hookonce.base.runtime_location import runtime_dir_name
from tests.base.taken_locations import taken


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_two_homes_never_meet(home, monkeypatch):
    """
    The directory is named after the home and the data directory, as FNV-1a has it.
    """
    first = runtime_dir.find_runtime_dir()
    (home / "other").mkdir()
    monkeypatch.setenv("HOME", str(home / "other"))

    assert first != runtime_dir.find_runtime_dir()
    assert first.name == runtime_dir_name(bytes(home), bytes(home / ".local/share/hookonce"))


def test_the_name_is_that_of_the_published_hash(monkeypatch):
    """
    FNV-1a with 64 bits of the bytes a, NUL, b; the client in another language finds the same place.
    """
    found = 0xCBF29CE484222325
    for byte in b"a\0b":
        found = (found ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF

    assert f"{found:016x}" == runtime_dir_name(b"a", b"b") == "e5d29919042666b2"


@pytest.mark.parametrize("name", ["XDG_RUNTIME_DIR", "TMPDIR", "HOOKONCE_RUNTIME"])
def test_no_variable_moves_the_directory(home, monkeypatch, name):
    """
    A repository can set variables, and would begin every count anew.
    """
    before = runtime_dir.find_runtime_dir()
    monkeypatch.setenv(name, str(home))

    assert before == runtime_dir.find_runtime_dir()


@pytest.mark.parametrize("kind", ["open", "link", "file"])
def test_a_place_that_others_can_reach_is_not_used(home, kind):
    """
    A directory with other rights, a link to one and a file of that name are all refused.
    """
    place = home / "place"
    if kind == "link":
        (home / "target").mkdir(mode=0o700)
        place.symlink_to(home / "target")
    elif kind == "file":
        place.write_text("")
    else:
        place.mkdir()
        place.chmod(0o755)

    assert not runtime_dir._ensure_private(str(place), os.getuid())


def test_the_directory_is_closed_to_others():
    """
    0700 for rooms, 0600 for what lies in them.
    """
    path = runtime_file("calls", "x")
    write_atomic(path, b"1")

    assert 0o700 == stat.S_IMODE(path.parent.stat().st_mode) == stat.S_IMODE(path.parent.parent.stat().st_mode)
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)


def test_only_one_of_many_makes_a_file():
    """
    And nobody who finds it sees half of it.
    """
    path, text = runtime_file("calls", "race"), b"x" * 100_000

    def attempt(_):
        first = create_exclusive(path, text)
        return first, path.read_bytes() == text

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(attempt, range(40)))

    assert 1 == sum(first for first, _ in found)
    assert all(whole for _, whole in found)
    assert ["race"] == [file.name for file in path.parent.iterdir()]


def test_changes_of_one_file_wait_for_each_other():
    """
    Nobody's change is lost, also when the file is swept away in between.
    """
    path = runtime_file("stops", "count")

    def more(data):
        return str(int(data or b"0") + 1).encode()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: update_locked(path, more), range(200)))

    assert b"200" == path.read_bytes()
    path.unlink()
    assert b"1" == update_locked(path, more)


def test_what_is_old_is_swept_away():
    """
    After ten minutes nobody asks for a call any more; a count of stops is kept for a day.
    """
    old, new, counted = runtime_file("calls", "old"), runtime_file("calls", "new"), runtime_file("stops", "old")
    for path in (old, new, counted):
        write_atomic(path, b"")
    for path in (old, counted):
        os.utime(path, (0, new.stat().st_mtime - 601))
    remove_stale_files()

    assert (False, True, True) == (old.exists(), new.exists(), counted.exists())


@pytest.mark.parametrize("max_age_s", [{}, {"calls": 60}, {"calls": 0}], ids=["by a call", "by a daemon that leaves", "whatever its age"])
def test_the_claim_of_a_hook_that_still_runs_is_never_swept_away(max_age_s):
    """
    However old it is: after a kill it says that the hook has begun. It goes when its holder has.
    """
    claim = runtime_file("calls", "call.hook.1")
    claim.write_bytes(b"/proc/1/fd/3")
    os.utime(claim, (0, 0))
    with claim.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        remove_stale_files(**max_age_s)
        assert claim.exists()
    remove_stale_files(**max_age_s)

    assert not claim.exists()


def test_what_homes_that_are_gone_have_left_is_swept_away():
    """
    A directory in which nothing was put for days; not one of somebody who is still there.
    """
    mine = runtime_dir.find_runtime_dir()
    left, used = (mine.parent / f"{mine.name}-{name}" for name in ("left", "used"))
    for place in (left, used):
        (place / "calls").mkdir(parents=True)
    days_ago = mine.stat().st_mtime - 4 * 86_400
    for path in (left / "calls", left, used):
        os.utime(path, (0, days_ago))

    assert (True, False, False) == (runtime_dir._is_abandoned(left), runtime_dir._is_abandoned(used), runtime_dir._is_abandoned(mine.parent / "none"))
    for place in (left, used):
        shutil.rmtree(place)


def test_whoever_was_faster_to_take_our_places_takes_nothing_from_us(home):
    """
    Then it lies with our own data, closed to others, though nothing of ours was there before.
    """
    with taken(home):
        found = runtime_dir.find_runtime_dir()

    assert home / ".local/share/hookonce/run" / runtime_dir_name(bytes(home), bytes(home / ".local/share/hookonce")) == found
    assert [0o700, 0o700] == [stat.S_IMODE(path.stat().st_mode) for path in (found, found.parent)]


@pytest.mark.parametrize("kind", ["open", "link"])
def test_the_last_place_has_to_be_ours_alone_too(home, kind):
    """
    Where it is a link, or others can look into it, there is none.
    """
    data = home / ".local/share/hookonce"
    data.mkdir(parents=True)
    if kind == "link":
        (home / "target").mkdir(mode=0o700)
        (data / "run").symlink_to(home / "target")
    else:
        (data / "run").mkdir()
        (data / "run").chmod(0o750)

    with taken(home), pytest.raises(runtime_dir.NoRuntimeDirError):
        runtime_dir.find_runtime_dir()


def test_without_a_safe_place_there_is_none(monkeypatch):
    """
    Rather no answer of the hooks than one that somebody else could have written.
    """
    monkeypatch.setattr(runtime_dir, "is_private_dir", lambda *_: False)

    with pytest.raises(runtime_dir.NoRuntimeDirError):
        runtime_dir.find_runtime_dir()


def test_processes_that_begin_together_find_one_directory(home):
    """
    Whoever loses the race to create it takes what the winner has created; a split would run hooks twice.
    """
    for number in range(20):
        (home / str(number)).mkdir()
        gate, opener = os.pipe()
        ears = []
        for _ in range(4):
            ear, mouth = os.pipe()
            ears.append(ear)
            if os.fork() == 0:
                os.environ["HOME"] = str(home / str(number))
                os.close(opener)
                os.read(gate, 1)  # all of them go on when the opener is closed
                os.write(mouth, os.fsencode(runtime_dir.find_runtime_dir()))
                os._exit(0)
            os.close(mouth)
        os.close(opener)
        found = {os.read(ear, 4096) for ear in ears}
        for fd in (gate, *ears):
            os.close(fd)
        for _ in ears:
            os.wait()
        for path in found:
            shutil.rmtree(os.fsdecode(path))

        assert 1 == len(found)

"""Callers who say nonsense, say nothing, or do not listen: the daemon goes on for all others, and keeps nothing."""

import json
import os
import random
import socket
from pathlib import Path

import pytest

from hookonce.base import wire
from hookonce.handlers.supervise.watchdog_pool import MIN_IDLE_COUNT
from tests.daemon.conftest import hurried
from tests.daemon.installed_home import TOOL, Home, command, payload, refused
from tests.handlers.processes import eventually

NO = command("echo no >&2; exit 2")


@pytest.fixture
def refusing(warm):
    """A home with a daemon and a hook that refuses."""
    warm.hooks(NO)
    assert refused(warm.tool(), "no")
    return warm


@pytest.fixture(scope="module")
def hasty(shelf, tmp_path_factory):
    """What has less patience with callers."""
    return hurried(shelf, tmp_path_factory, "daemon/stream.py", "IO_TIMEOUT_S = 10.0", "IO_TIMEOUT_S = 2.0")


@pytest.fixture
def impatient(hasty, tmp_path):
    """A home with a daemon that has less patience, and a hook that refuses."""
    found = Home(tmp_path, hasty)
    found.warm()
    found.hooks(NO)
    assert refused(found.tool(), "no")
    yield found
    found.end()


def descriptors(home):
    """How many files the daemon has open."""
    return len([*Path(f"/proc/{home.status()['pid']}/fd").iterdir()])


def awake(home):
    """A daemon that has opened everything that it ever opens."""
    home.tool()
    assert eventually(lambda: home.status()["store"]["kept"] > 0 and not home.status()["store"]["waiting"], 60)
    return home


def nonsense(home):
    """A hundred frames of which none is one."""
    chance = random.Random(7)  # noqa: S311
    good = home.frame(payload())
    for _ in range(20):
        yield chance.randbytes(chance.randrange(1, 400))
        yield good[: chance.randrange(len(good))]
        at = chance.randrange(8, len(good) - 4)
        yield good[:at] + b"\xff\xff\xff\xff" + good[at + 4 :]
    for name in ("../../x", "", "a/b", ".", "x\0y", "\xfc", "a" * 5000, "-" * 36, "../calls/x", "~"):
        yield home.frame(payload(), id=os.fsencode(name))
    for size in (0, 1, (1 << 32) - 1, (16 << 20) + 1, 16 << 20):
        yield wire.MAGIC + size.to_bytes(4, "little") + b"x" * 100
    for fields in ([], [b"1"], [b""] * 10, [b"1"] * 10, [b"1"] * 9, [b"status"], [b"status"] * 9, [b"2"] * 12):
        yield wire.encode_frame(fields)
    for umask in (b"x", b"-5", b"9" * 40, b"\xff", b"1 2", b"0x1"):
        yield home.frame(payload(), umask=umask)
    for words in ([], [""], ["nobody"], ["claude-code", "Nothing"], ["--via"], ["\udcff"], ["claude-code", "--timeout", "x"]):
        yield home.frame(payload(), words=words)
    for more in ({"version": b"1"}, {"build": b"other"}, {"parent": b"\xff 1"}, {"stdin": b"\xff{"}):
        yield home.frame(payload(), **more)


def test_nonsense_disturbs_nobody(refusing):
    """
    A hundred frames of which none is one: the daemon is the same afterwards, answers, and has nothing more open.
    """
    before, files = refusing.status()["pid"], sorted(refusing.home.rglob("*.py"))
    open_before = descriptors(awake(refusing))
    said = [refusing.say(frame) for frame in nonsense(refusing)]

    assert len(said) >= 100
    assert refused(refusing.tool(), "no")
    assert before == refusing.status()["pid"]
    assert files == sorted(refusing.home.rglob("*.py"))
    assert eventually(lambda: descriptors(refusing) <= open_before, 30)
    assert 0 == refusing.status()["under_way"]


def test_names_that_are_paths_make_no_files(refusing):
    """
    What names a call becomes the name of a file.
    """
    inside = {path.name for path in refusing.house.parent.iterdir()}
    for name in ("../../x", "../x", "/tmp/hookonce-x", "x/../../y"):
        assert b"" == refusing.say(refusing.frame(payload(), id=name.encode()))

    assert inside == {path.name for path in refusing.house.parent.iterdir()}
    assert refused(refusing.tool(), "no")


def test_callers_who_say_nothing_or_half_keep_nobody_waiting(impatient):
    """
    A hundred of them at once; they are hung up on in the end.
    """
    before = descriptors(awake(impatient))
    lines = [impatient.line() for _ in range(100)]
    for line in lines[50:]:
        line.sendall(impatient.frame(payload())[:40])

    assert refused(impatient.tool(), "no")
    assert eventually(lambda: descriptors(impatient) <= before + MIN_IDLE_COUNT, 60)
    for line in lines:
        line.close()
    assert refused(impatient.tool(), "no")


def test_callers_who_do_not_read_their_answer_keep_nobody_waiting(impatient):
    """
    Not even if it is a long one.
    """
    impatient.hooks(command("printf '{\"decision\":\"deny\",\"reason\":\"'; head -c 900000 /dev/zero | tr '\\0' x; echo '\"}'"))
    before = descriptors(awake(impatient))
    lines = [impatient.line() for _ in range(20)]
    for number, line in enumerate(lines):
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sendall(impatient.frame(payload(session=f"s{number}")))

    assert impatient.tool("pwd")[1].count(b"x") > 800_000
    assert eventually(lambda: descriptors(impatient) <= before + MIN_IDLE_COUNT, 60)
    for line in lines:
        line.close()


def test_a_large_payload_is_answered_like_a_small_one(refusing):
    """
    Five megabytes: the hook hears all of them, warm and cold.
    """
    refusing.hooks(command("tr -cd x | wc -c >&2; exit 2"))
    warm = refusing.tool("x" * (5 << 20))

    assert warm == refusing.tool("x" * (5 << 20), env=refusing.cold_env)
    assert int(json.loads(warm[1])["hookSpecificOutput"]["permissionDecisionReason"]) >= 5 << 20


def test_more_than_a_daemon_takes_is_answered_without_it(refusing):
    """
    Seventeen megabytes.
    """
    before = refusing.status()["answered"]

    assert refused(refusing.tool("x" * (17 << 20)), "no")
    assert before == refusing.status()["answered"]
    assert [(wire.COLD, 0, 0, b"", b"")] == wire.decode_replies(refusing.say(refusing.frame(b"x" * (17 << 20))))[0]


def test_a_directory_that_nobody_can_tell_is_not_the_daemons(refusing):
    """
    The process that answers in its place looks for itself, and refuses where a project is guarded.
    """
    assert [(wire.COLD, 0, 0, b"", b"")] == wire.decode_replies(refusing.say(refusing.frame(payload(), cwd=b"")))[0]


def test_callers_who_are_killed_leave_nothing_behind(refusing):
    """
    Their hooks are killed with them.
    """
    before = descriptors(awake(refusing))
    refusing.hooks(command('echo $$ >>"$HOME/ran"; sleep 600'))
    calls = [refusing.start(*TOOL) for _ in range(20)]
    for number, call in enumerate(calls):
        call.stdin.write(payload(session=f"s{number}"))
        call.stdin.close()
    assert eventually(lambda: len(refusing.lines("ran")) == 20, 60)
    for call in calls:
        call.kill()
        with call:
            call.wait(60)

    assert eventually(lambda: not [pid for pid in refusing.lines("ran") if Path(f"/proc/{pid}").exists()], 30)
    assert eventually(lambda: descriptors(refusing) <= before + MIN_IDLE_COUNT and not refusing.status()["under_way"], 30)
    refusing.hooks(NO)
    assert refused(refusing.tool(), "no")

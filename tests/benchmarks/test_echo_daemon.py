"""The least that a daemon can be."""

import socket
import subprocess
import sys
import time
from fcntl import LOCK_EX, LOCK_NB, lockf

import pytest
from echo_daemon import ECHO_ANSWER

from hookonce.base import wire
from hookonce.base.runtime_location import CLIENT_SUBDIR, DAEMON_FILE
from tests.shared import ROOT

PROGRAM = ROOT / "benchmarks" / "echo_daemon.py"
FRAME = wire.encode_frame([b"x" * 1000] * wire.FIELD_COUNT)


@pytest.fixture
def client_folder(tmp_path):
    """The folder of a client."""
    folder = tmp_path / CLIENT_SUBDIR
    folder.mkdir(mode=0o700, parents=True)
    (folder / "interpreter").write_text("\n".join(["python", "", *sys.path]))
    return folder


@pytest.fixture(params=[False, True], ids=["alone", "locks"])
def echo(request, tmp_path, client_folder):
    """Somebody at a socket, with the lock of a client or without."""
    place = tmp_path / "socket"
    words = [sys.executable, "-I", "-S", PROGRAM, str(place), str(ROOT / "src"), *[client_folder] * request.param]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        for _ in range(500):
            if place.exists():
                break
            time.sleep(0.01)
        yield place, process
        process.stdin.close()
        assert 0 == process.wait(timeout=30)


def heard(line):
    (only,), rest = wire.decode_replies(b"".join(iter(lambda: line.recv(1 << 16), b"")))
    assert b"" == rest
    return only


def dial(place):
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(30)
    for _ in range(100):  # the place is there a moment before somebody listens
        try:
            line.connect(str(place))
        except ConnectionRefusedError:
            time.sleep(0.01)
        else:
            return line
    raise AssertionError("nobody listens")


def test_a_frame_is_answered_with_what_is_always_said(echo):
    with dial(echo[0]) as line:
        line.sendall(FRAME)

        assert (wire.ANSWER, 0, 0, ECHO_ANSWER, b"") == heard(line)


def test_a_frame_in_pieces_is_answered_once_it_is_whole_and_others_do_not_wait_for_it(echo):
    with dial(echo[0]) as slow, dial(echo[0]) as quick:
        slow.sendall(FRAME[:5])
        quick.sendall(FRAME)
        assert ECHO_ANSWER == heard(quick)[3]
        slow.sendall(FRAME[5:3000])
        time.sleep(0.05)
        slow.sendall(FRAME[3000:])

        assert ECHO_ANSWER == heard(slow)[3]


def test_who_hangs_up_is_forgotten(echo):
    for sent in (b"", FRAME[:9]):
        with dial(echo[0]) as line:
            line.sendall(sent)
    with dial(echo[0]) as line:
        line.sendall(FRAME)

        assert ECHO_ANSWER == heard(line)[3]


@pytest.mark.parametrize("echo", [True], indirect=True)
def test_the_lock_by_which_a_client_knows_its_daemon_is_held_as_ours_holds_it(echo, client_folder):
    with (client_folder / DAEMON_FILE).open("r+") as file, pytest.raises(BlockingIOError):
        lockf(file, LOCK_EX | LOCK_NB)

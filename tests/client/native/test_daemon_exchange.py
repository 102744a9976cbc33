"""The conversation with the daemon: whatever the other side does, the agent is answered once."""

import json
import os
from time import sleep

import pytest

from hookonce.base.wire import ACK, ANSWER, BEGIN, encode_reply
from hookonce.base.wire import COLD as GO_COLD
from tests.client.native.client_env import BUILD, COLD, hear, in_seconds
from tests.handlers.processes import eventually

BIG = b'{"a": "' + b"x" * 5_000_000 + b'"}'
WARM = (3, b"out\n\0\xff", b"err")
SAID = encode_reply(ANSWER, 0, *WARM)
BEGAN = encode_reply(BEGIN, 0)


def ack(seconds, *said):
    """An ACK: until when to wait, and what to say then."""
    return encode_reply(ACK, in_seconds(seconds), *(said or (9, b"late", b"too late")))


def test_the_answer_is_the_daemons_to_the_byte(world, daemon):
    """
    Exit code, stdout and stderr; nobody else runs.
    """
    heard = []

    def act(line):
        heard.append(hear(line))
        line.sendall(SAID)

    daemon.act = act
    assert WARM == world.ask("claude-code", "Stop", given=b"[]")
    assert [b"2", BUILD.encode()] == heard[-1][:2]
    assert (b"claude-code\0Stop\0", b"[]") == (heard[-1][3], heard[-1][7])
    assert not (world.told / "words").exists()


@pytest.mark.native("without Python nobody there can ask")
def test_a_daemon_answers_also_when_python_is_gone(world, daemon):
    """
    Its interpreter may have been replaced while it runs.
    """
    (world.home / "python").unlink()
    daemon.act = lambda line: (hear(line), line.sendall(SAID))

    assert WARM == world.ask("x")


GOOD = {
    "an ACK before it": lambda line: (hear(line), line.sendall(ack(30)), line.sendall(SAID)),
    "an ACK in the same write": lambda line: (hear(line), line.sendall(ack(30) + SAID)),
    "an ACK and that hooks have begun": lambda line: (hear(line), line.sendall(ack(30) + BEGAN), line.sendall(SAID)),
    "an ACK whose deadline is over": lambda line: (hear(line), line.sendall(ack(-5) + SAID)),
    "single bytes": lambda line: (hear(line), line.sendall(ack(30)), [line.send(bytes([one])) for one in SAID]),
    "the frame never read": lambda line: line.sendall(SAID),
}


@pytest.mark.part(2)
@pytest.mark.parametrize("given", [b"{}", BIG], ids=["small", "big"])
@pytest.mark.parametrize("act", GOOD.values(), ids=GOOD)
def test_an_answer_may_come_in_any_way(world, daemon, act, given):
    """
    In pieces, in one piece, with or without an ACK, and before anybody has listened.
    """
    daemon.act = act

    assert WARM == world.ask("x", given=given)


@pytest.mark.parametrize(("words", "is_heard"), [(["x"], True), (["x", "--timeout", "0.6"], False)])
def test_a_busy_daemon_is_waited_for_as_long_as_time_allows(world, daemon, words, is_heard):
    """
    Half a second, or a tenth of the time for an answer: an interpreter takes longer to start in a crowd.
    """
    daemon.act = lambda line: (hear(line), sleep(0.2), line.sendall(SAID))
    with world.start(*words) as process:
        said, _ = process.communicate(b"{}", timeout=30)

    assert is_heard is (WARM[1] == said)


def test_a_large_answer_is_whole(world, daemon):
    """
    Both texts, beyond every buffer.
    """
    out, err = b"o" * 3_000_000, b"e" * 2_000_001

    def act(line):
        hear(line)
        line.sendall(ack(30) + encode_reply(ANSWER, 0, 0, out, err))

    daemon.act = act
    assert (0, out, err) == world.ask("x")


def test_an_answer_is_whole_also_where_outputs_do_not_block(world, daemon):
    """
    Nothing is cut off because an agent reads slowly.
    """
    daemon.act = lambda line: (hear(line), line.sendall(encode_reply(ANSWER, 0, 0, b"o" * 1_000_000, b"")))
    answers = (heard_slowly(world) for _ in range(20))  # as `ask` does: the daemon may be late

    assert 1_000_000 == len(next(said for said in answers if said != b"cold"))


def heard_slowly(world):
    """What the client says on a pipe that does not block."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    with world.start("x", stdout=write) as process:
        os.close(write)
        process.stdin.close()
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read()
        process.wait(30)
    return said


def test_whoever_kills_us_hangs_up_on_the_daemon(world, daemon):
    """
    So that it ends what runs for a call that nobody waits for.
    """
    heard = []

    def act(line):
        hear(line)
        line.sendall(ack(30))
        heard.append("frame")
        line.settimeout(30)
        try:
            heard.append(line.recv(1))
        except ConnectionError:  # we were too slow, and what we have said was not read
            heard.append(b"")

    daemon.act = act
    with world.start("x") as process:
        process.stdin.close()
        assert eventually(lambda: heard, 10)
        process.kill()
        assert eventually(lambda: heard[1:], 10)

    assert ["frame", b""] == heard


def test_at_the_deadline_the_ack_speaks(world, daemon):
    """
    With its own bytes and exit code.
    """
    daemon.act = lambda line: (hear(line), line.sendall(ack(0.2)), line.recv(1))

    assert (9, b"late", b"too late") == world.ask("x")


def test_at_the_deadline_half_an_answer_is_none(world, daemon):
    """
    The ACK speaks then too.
    """
    daemon.act = lambda line: (hear(line), line.sendall(ack(0.2) + SAID[:-1]), line.recv(1))

    assert (9, b"late", b"too late") == world.ask("x")


BAD = {
    "closes at once": b"",
    "closes after half a header": SAID[:9],
    "closes after half an answer": SAID[:-2],
    "says kind 0": encode_reply(0, 0) + SAID,
    "says kind 9": encode_reply(9, 0) + SAID,
    "says kind 255": encode_reply(255, 0) + SAID,
    "says one wrong byte": b"\x09",
    "names a huge stdout": SAID[:10] + b"\xff\xff\xff\xff" + SAID[14:],
    "names a huge stderr": SAID[:14] + b"\xff\xff\xff\x7f" + SAID[18:],
    "says go cold": encode_reply(GO_COLD, 0),
    "says go cold after an ACK": b"ACK" + encode_reply(GO_COLD, 0),
    "says ACK twice": b"ACKACK" + SAID,
    "says ACK and closes": b"ACK",
    "says ACK and nonsense": b"ACK" + b"\x09" * 30,
    "says that hooks have begun, and no ACK": BEGAN + SAID,
    "closes while it says that hooks have begun": b"ACK" + BEGAN[:-1],
}


@pytest.mark.part(3)
@pytest.mark.parametrize("stays", [False, True], ids=["and is gone", "and stays"])
@pytest.mark.parametrize("said", BAD.values(), ids=BAD)
def test_a_daemon_that_talks_nonsense_is_left_for_python(world, daemon, said, stays):
    """
    Once, and nobody starts another daemon for that.
    """
    patient = stays and said not in {b"ACK", b"ACK" + BEGAN[:-1]}  # who has taken a call and is there may think about it

    def act(line):
        hear(line)
        line.sendall(said.replace(b"ACK", ack(30)))
        _ = patient and daemon.over.wait(30)

    daemon.act = act
    assert COLD == world.run("x")
    assert (1, 0) == (daemon.calls, world.starts())


AFTER_BEGIN = {
    "closes": b"",
    "closes in the middle of its answer": SAID[:-1],
    "says so twice": BEGAN,
    "says go cold": encode_reply(GO_COLD, 0),
    "says nonsense": b"\x09" * 30,
}


@pytest.mark.parametrize("said", AFTER_BEGIN.values(), ids=AFTER_BEGIN)
def test_hooks_that_have_begun_are_claimed_for_the_daemon_before_python_answers(world, daemon, said):
    """
    So that Python does not run them once more; the daemon may yet save their answer there.
    """
    daemon.act = lambda line: (hear(line), line.sendall(ack(30) + BEGAN + said))

    assert COLD == world.run("x")
    claim = world.house() / "calls" / world.fields()[2].decode()
    assert {"done": False, "pid": os.getpid(), "keeps_results": True} == json.loads(claim.read_text())
    assert 0o600 == claim.stat().st_mode & 0o777


def test_an_answer_that_was_saved_under_the_claim_stays(world, daemon):
    """
    The daemon has written it just before it was killed.
    """
    calls = world.house() / "calls"
    calls.mkdir()

    def act(line):
        (calls / hear(line)[2].decode()).write_text("saved")
        line.sendall(ack(30) + BEGAN)

    daemon.act = act
    assert COLD == world.run("x")
    assert ["saved"] == [file.read_text() for file in calls.iterdir()]


def test_where_nothing_can_be_claimed_the_ack_answers(world, daemon):
    """
    Rather than that hooks run twice.
    """
    (world.house() / "calls").touch()
    daemon.act = lambda line: (hear(line), line.sendall(ack(30) + BEGAN))

    assert (9, b"late", b"too late") == world.ask("x")


def test_a_daemon_that_is_given_up_cannot_say_any_more_that_hooks_have_begun(world, daemon):
    """
    It is told that nobody listens, however late it wakes up; and what it said before was heard.
    """
    world.interpret("until [ -e TOLD/late ]; do sleep 0.05; done; printf cold; printf aside >&3; exit 107".replace("TOLD", str(world.told)))
    refusals = []

    def act(line):
        hear(line)
        eventually((world.told / "frame").exists, 30)
        try:
            line.sendall(ack(30) + BEGAN)
        except OSError as problem:
            refusals.append(problem)
        (world.told / "late").touch()

    daemon.act = act
    assert COLD == world.run("x")
    assert [BrokenPipeError] == list(map(type, refusals))
    assert not (world.house() / "calls").exists()


@pytest.mark.parametrize("given", [b"{}", BIG], ids=["small", "big"])
def test_a_daemon_that_does_nothing_does_not_hold_us(world, daemon, given):
    """
    It neither reads nor writes, however large the frame is.
    """
    daemon.act = lambda _: daemon.over.wait(30)

    assert COLD == world.run("x", given=given)
    assert given == world.fields()[7]
    assert 0 == world.starts()


def test_a_frame_over_16_megabytes_is_not_sent(world, daemon):
    """
    Python gets it instead.
    """
    assert COLD == world.run("x", given=b" " * (16 << 20))
    assert 0 == daemon.calls


@pytest.mark.parametrize("mode", [0o755, 0o701, 0o770])
def test_a_directory_that_others_may_enter_is_not_ours(world, daemon, mode):
    """
    Nobody is asked there, and no slot is taken there.
    """
    world.house().chmod(mode)

    assert COLD == world.run("x")
    assert (0, "-") == (daemon.calls, world.words()[-1])


def test_a_link_is_not_our_directory(world, daemon):
    """
    Wherever it leads.
    """
    real = world.house()
    moved = real.rename(world.home / "moved")
    real.symlink_to(moved)
    try:
        assert COLD == world.run("x")
        assert (0, "-") == (daemon.calls, world.words()[-1])
    finally:
        real.unlink()

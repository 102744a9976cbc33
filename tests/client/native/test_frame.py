"""The frame: all that is known of a call, field by field."""

import os
import subprocess
import time
from pathlib import Path
from uuid import UUID

import pytest

from tests.client.native.client_env import BUILD, COLD, World
from tests.handlers.processes import eventually, running

VERSION, BUILT, ID, WORDS, ENVIRONMENT, CWD, UMASK, STDIN, PARENT = range(9)


def test_it_has_nine_fields_that_say_who_calls_from_where(world):
    """
    The caller is this process: its directory, umask and number.
    """
    before = time.time_ns() // 1_000_000
    assert COLD == world.run("claude-code", "PreToolUse", given=b'{"a": 1}\n', cwd=world.home, umask=0o027)
    fields = world.fields()
    call = UUID(fields[ID].decode())

    assert 9 == len(fields)
    assert (b"2", BUILD.encode()) == (fields[VERSION], fields[BUILT])
    assert (7, "specified in RFC 4122") == (call.version, call.variant)
    assert before <= call.int >> 80 <= time.time_ns() // 1_000_000
    assert (bytes(world.home), b"23") == (fields[CWD], fields[UMASK])
    assert b'{"a": 1}\n' == fields[STDIN]
    assert b"%d" % os.getpid() == fields[PARENT]


def test_words_and_environment_are_carried_byte_for_byte(world):
    """
    Empty words, line breaks, and bytes that are no text.
    """
    words = [b"claude-code", b"", b"a\nb", b"\xff\xfe", b"", b"--run", b"x 'y' \"z\""]
    environment = {**{key.encode(): value.encode() for key, value in world.env.items()}, b"ODD": b"\xff\n=", b"NONE": b""}
    world.run(*words, env=environment)

    assert words == world.fields()[WORDS].split(b"\0")[:-1]
    assert sorted(b"=".join(pair) for pair in environment.items()) == sorted(world.fields()[ENVIRONMENT].split(b"\0")[:-1])


def test_no_word_at_all_is_no_word(world):
    """
    Not even an empty one.
    """
    world.run()

    assert b"" == world.fields()[WORDS]


def test_a_directory_that_is_gone_keeps_its_name(world):
    """
    Whoever goes into a folder and removes it is still in the project around it.
    """
    gone = world.home / "gone"
    gone.mkdir()
    done = subprocess.run(["/bin/sh", "-c", f'rmdir "{gone}"; exec "{world.client}" x'], cwd=gone, env=world.env, input=b"{}", capture_output=True, check=False)

    told = done.stderr if world.is_native else done.stderr.rpartition(b"\n")[2]  # a shell complains before it reads a line
    assert COLD == (done.returncode, done.stdout, told)
    assert bytes(gone) == world.fields()[CWD]


def test_a_directory_whose_path_is_too_long_is_one_above_it(world):
    """
    Whoever makes folders until nobody can name them is still in the project around them.
    """
    folder = os.open(world.home, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("x" * 200, dir_fd=folder)
        last, folder = folder, os.open("x" * 200, os.O_RDONLY, dir_fd=folder)
        os.close(last)
    world.run("x", preexec_fn=lambda: os.fchdir(folder))
    os.close(folder)

    assert world.fields()[CWD].startswith(bytes(world.home / ("x" * 200)))


def test_no_two_calls_have_one_name(world):
    """
    Not even in one millisecond.
    """
    found = set()
    for _ in range(30):
        world.run("x")
        found.add(world.fields()[ID])

    assert 30 == len(found)


@pytest.mark.part(2)
@pytest.mark.parametrize("size", [0, 1, 65_535, 131_072, 1_000_001, 20_000_000])
def test_stdin_of_any_size_is_whole(world, size):
    """
    Also what is larger than any buffer that we begin with.
    """
    given = os.urandom(size)
    assert COLD == world.run("x", given=given)

    assert given == world.fields()[STDIN]


@pytest.mark.part(2)
@pytest.mark.parametrize("how", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "</", "0>/dev/null", "</etc/passwd"])
def test_standard_descriptors_may_be_closed_or_odd(world, how):
    """
    Closed, a directory, one that cannot be read, a file: the call goes on, and no file of ours takes their place.
    """
    done = subprocess.run(["/bin/sh", "-c", f'exec "{world.client}" x {how}'], env=world.env, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    given = Path("/etc/passwd").read_bytes() if how == "</etc/passwd" else b""

    assert 7 == done.returncode
    assert b"cold" == done.stdout or " >&-" in f" {how}"
    assert b"aside" == done.stderr or "2>&-" in how
    assert given == world.fields()[STDIN]


def test_whoever_kills_us_does_so_while_we_listen_too(world):
    """
    Nothing waits for the rest of a payload that nobody wants an answer to.
    """
    with world.start("x") as process:
        process.stdin.write(b"{")
        process.stdin.flush()
        assert eventually(lambda: len(running(str(world.client))) == (1 if world.is_native else 2), 10)
        process.kill()
        assert eventually(lambda: not running(str(world.client)), 10)


WHOLE = ['{"a": "}\\"]", "b": [1, {}]}\n', " [] ", '"x"', "17", "\n{}\n{}"]
HALF = [('{"a": "}', '"}'), ("[1, [2]", "]"), ('{"a": "\\', '""}'), (" \n", "{}"), ("", "{}")]


@pytest.fixture
def worlds(client, tmp_path):
    """Homes with that client in them, for calls that are waited for together."""

    def made(number):
        home = tmp_path / str(number)
        home.mkdir()
        return World(client, home)

    return made


def said(world, text):
    """A call that has been told this, and whose stdin stays open."""
    process = world.start("x")
    process.stdin.write(text.encode())
    process.stdin.flush()
    return process


@pytest.mark.slow
def test_a_whole_document_and_then_silence_is_the_end(worlds):
    """
    Some agents never close our stdin.
    """
    calls = [(world := worlds(number), said(world, text)) for number, text in enumerate(WHOLE)]
    for _, process in calls:
        with process:
            assert 7 == process.wait(30)

    assert WHOLE == [world.fields()[STDIN].decode() for world, _ in calls]


@pytest.mark.slow
def test_half_a_document_is_waited_for(worlds):
    """
    However long it takes: an open bracket, an open string, or nothing yet.
    """
    calls = [(world := worlds(number), said(world, first)) for number, (first, _) in enumerate(HALF)]
    time.sleep(2.5)
    assert [None] * len(HALF) == [process.poll() for _, process in calls]
    for (_, process), (_, then) in zip(calls, HALF, strict=True):
        with process:
            process.stdin.write(then.encode())
            process.stdin.close()
            assert 7 == process.wait(30)

    assert ["".join(parts) for parts in HALF] == [world.fields()[STDIN].decode() for world, _ in calls]

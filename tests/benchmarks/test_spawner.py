"""Both spawners start a command, give it a payload, and tell how long it took and whether it said the right thing."""

import subprocess
import sys
from pathlib import Path

import pytest
import spawner
from cases import SOURCES
from compiler import compile_program


@pytest.fixture(params=["C", "Python"], scope="module")
def program(request, tmp_path_factory):
    """The words that a spawner is started with."""
    if request.param == "Python":
        return [sys.executable, "-I", "-S", str(Path(spawner.__file__))]
    made = tmp_path_factory.mktemp("spawner") / "spawner"
    if compile_program(SOURCES / "spawner.c", made) is None:
        pytest.skip("there is no C compiler here")
    return [str(made)]


@pytest.fixture
def spawn(program, tmp_path):
    """Make calls; nanoseconds of all, errors, wrong answers, heavy ones, and nanoseconds of each."""

    def run(*command, callers=1, calls=3, pause=0, first=0, faults=400, code=0, given=b"", expected=b""):
        (tmp_path / "given").write_bytes(given)
        (tmp_path / "expected").write_bytes(expected or b"")
        numbers = map(str, (callers, calls, pause, first, faults, code))
        answer = "-" if expected is None else tmp_path / "expected"
        words = [*program, *numbers, tmp_path / "given", answer, *command]
        done = subprocess.run(words, capture_output=True, check=True)
        wall, errors, wrong, heavy, *took = map(int, done.stdout.split())
        return wall, errors, wrong, heavy, took

    return run


def test_each_call_takes_some_time_and_all_calls_together_at_least_as_long_as_each(spawn):
    wall, errors, wrong, _, took = spawn("/bin/true", calls=5)

    assert (0, 0, 5) == (errors, wrong, len(took))
    assert 0 < min(took) <= max(took) <= wall


def test_a_call_that_fails_is_an_error(spawn):
    assert [3, 0] == [*spawn("/bin/sh", "-c", "exit 1")[1:3]]


def test_a_call_that_is_to_end_with_a_code_fails_with_any_other(spawn):
    assert [0, 0] == [*spawn("/bin/sh", "-c", "exit 2", code=2)[1:3]]
    assert [3, 0] == [*spawn("/bin/sh", "-c", "exit 0", code=2)[1:3]]
    assert [3, 0] == [*spawn("/bin/sh", "-c", "kill -2 $$", code=2)[1:3]]


def test_where_anything_may_be_said_no_answer_is_wrong(spawn):
    assert [0, 0] == [*spawn("/bin/echo", "anything", expected=None)[1:3]]


def test_a_call_that_ends_by_a_signal_is_an_error(spawn):
    assert [3, 0] == [*spawn("/bin/sh", "-c", "kill -9 $$")[1:3]]


@pytest.mark.part(2)
@pytest.mark.parametrize("said", [b"", b"ye", b"yes!", b"no\n"])
def test_a_call_that_says_something_else_is_wrong(spawn, said):
    assert [0, 3] == [*spawn("/bin/cat", given=said, expected=b"yes")[1:3]]


def test_what_is_said_on_stderr_counts_too(spawn):
    assert [0, 3] == [*spawn("/bin/sh", "-c", "echo oh >&2")[1:3]]


def test_each_call_has_its_number_in_the_payload_and_in_what_is_expected(spawn):
    seen = "read -r line; case $line in 0000000[0-9]*) echo got $line ;; esac"
    given, expected = b"##########\n", b"got ##########\n"

    assert [0, 0] == [*spawn("/bin/sh", "-c", seen, first=40, calls=7, given=given, expected=expected)[1:3]]
    assert [0, 7] == [*spawn("/bin/sh", "-c", seen, first=40, calls=7, given=given, expected=b"got 0\n")[1:3]]


def test_many_callers_share_the_calls(spawn):
    _, errors, wrong, _, took = spawn("/bin/cat", callers=8, calls=30, given=b"{##########}", expected=b"{##########}")

    assert (0, 0, 30) == (errors, wrong, len(took))
    assert min(took) > 0


def test_a_large_payload_arrives_whole(spawn):
    assert [0, 0] == [*spawn("/bin/cat", calls=1, given=b"x" * 60_000, expected=b"x" * 60_000)[1:3]]
    assert [0, 0] == [*spawn("/usr/bin/wc", "-c", calls=1, given=b"x" * 5_000_000, expected=b"5000000\n")[1:3]]


def test_a_command_that_does_not_listen_is_no_error(spawn):
    assert [0, 0] == [*spawn("/bin/true", given=b"x" * 1_000_000)[1:3]]


def test_calls_that_start_an_interpreter_are_known_even_behind_a_shell(spawn):
    python = [sys.executable, "-I", "-S", "-c", "pass"]

    assert 3 == spawn(*python)[3]
    assert 3 == spawn("/bin/sh", "-c", f"{python[0]} -I -S -c pass; true")[3]
    assert 0 == spawn("/bin/sh", "-c", "true")[3]

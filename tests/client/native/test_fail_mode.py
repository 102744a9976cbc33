"""The last word: what an agent hears when there is neither a daemon nor an interpreter."""

import os
import resource
import shutil
import signal
import subprocess
import sys

import pytest

from hookonce import agents
from hookonce.agents import canonical_event_of, config_events
from hookonce.dispatch import fail_mode


@pytest.fixture
def bare(world):
    """A client whose interpreter is gone."""
    (world.home / "python").unlink()
    return world


@pytest.mark.parametrize("name", agents.AGENTS)
def test_silence_is_as_the_agent_wants_it(bare, name):
    """
    The client knows by itself who wants to read something; the agents' tables say the same.
    """
    silence = agents.load(name).config.silence

    assert (0, f"{silence}\n".encode() if silence else b"", b"") == bare.run(name, "Whatever")


def refusals(name):
    """The prepared lines of one agent, as if every event had a hook that must be asked."""
    agent = agents.load(name)
    kinds = {canonical_event_of(agent, native) for native in config_events(agent)}
    found = (line.split("|") for line in fail_mode._iter_lines(kinds))
    return [words for words in found if words[0] == name]


@pytest.mark.part(2)
@pytest.mark.parametrize("name", agents.AGENTS)
def test_a_prepared_refusal_is_said_to_the_byte(bare, name):
    """
    As printf says it, with its exit code, for each event of the agent that has one.
    """
    lines = refusals(name)
    text = "".join(f"{'|'.join(line)}\n" for line in [["hookonce", "x", "y"], *lines])
    (bare.bin / "failmode.bin").write_text(text)
    for _, event, code, *said in lines:
        printed = [subprocess.run(["printf", "%b", one], capture_output=True, check=True).stdout for one in said]
        assert (int(code), *printed) == bare.run(name, event)


def test_a_closed_wrapper_has_the_last_word_too(bare):
    """
    The refusal for entries that run something which must answer; nobody else hears it, whatever their command says.
    """
    lines = [line for line in fail_mode._iter_lines(None) if line.startswith("claude-code|PreToolUse|")]
    (bare.bin / "failmode.bin").write_text("".join(f"wrapper:{line}\n" for line in lines))
    words = ["claude-code", "PreToolUse", "--run", "x --on-failure closed"]

    refused = bare.run(*words, "--on-failure", "closed")
    assert (0, True, b"") == (refused[0], b'"deny"' in refused[1], refused[2])
    assert [(0, b"", b"")] * 2 == [bare.run(*words), bare.run(*words, "--on-failure", "open")]


def test_every_byte_can_be_said(bare):
    """
    Also those that a line or a shell would trip over.
    """
    data = bytes(range(256)) * 300
    (bare.bin / "failmode.bin").write_text(f"x||4|{fail_mode._escape_printf(data)}|{fail_mode._escape_printf(data[::-1])}\n")

    assert (4, data, data[::-1]) == bare.run("x")


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "amp|E", "amp|E|\n", "amp|E|12|no|no\n", "amp|E|x|no|no\n", "amp|E|2|no|no", "amp|F|2|no|no\n", "\0\n", "ampE|2|no|no\n"],
)
def test_a_file_that_says_nothing_sensible_is_no_file(bare, text):
    """
    No such line, no exit code, half a line: the agent's silence.
    """
    (bare.bin / "failmode.bin").write_text(text)

    assert (0, b"{}\n", b"") == bare.run("amp", "E")


UNREADABLE = {
    "a loop of links": lambda file: file.symlink_to(file.name),
    "a directory": lambda file: file.mkdir(),
    "a pipe": os.mkfifo,
}


def is_blocked(ending):
    """Whether an agent is refused something, and told why."""
    code, out, err = ending
    return (code, out) == (2, b"") and b"cannot read" in err and b"hookonce doctor" in err


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_cannot_be_read_may_have_said_no(bare, make):
    """
    Only where there is none was nothing to be refused.
    """
    make(bare.bin / "failmode.bin")

    assert is_blocked(bare.run("amp", "E"))


@pytest.mark.native("a shell reads line by line")
def test_a_file_for_which_there_is_no_memory_may_have_said_no(bare):
    """
    Whatever the reason is, and whatever is called afterwards.
    """
    with (bare.bin / "failmode.bin").open("wb") as file:
        file.truncate(1 << 32)

    assert is_blocked(bare.run("amp", "E", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))))


def test_an_option_is_no_event(bare):
    """
    Where the event is missing, the line without one counts.
    """
    (bare.bin / "failmode.bin").write_text("x||2||no\n")

    assert [(2, b"", b"no")] * 2 == [bare.run("x"), bare.run("x", "--via", "a/user")]
    assert (0, b"", b"") == bare.run("x", "E")


BROKEN = {
    "no file that names it": lambda world: (world.bin / "interpreter").unlink(),
    "an empty file": lambda world: (world.bin / "interpreter").write_text(""),
    "one line": lambda world: (world.bin / "interpreter").write_text(f"{sys.executable}\n"),
    "a relative path": lambda world: (world.bin / "interpreter").write_text("python\nb\n/lib\n"),
    "a directory": lambda world: (world.bin / "interpreter").write_text("/tmp\nb\n/lib\n"),
    "no program": lambda world: (world.home / "python").chmod(0o644),
    "nonsense": lambda world: (world.home / "python").write_bytes(b"\x7fELF"),
    "a path without an end": lambda world: (world.bin / "interpreter").write_text("/" + "x" * 9000),
}


@pytest.mark.parametrize("how", BROKEN.values(), ids=BROKEN)
def test_an_interpreter_that_is_none_is_no_decision(world, how):
    """
    Missing, not a file, not executable, not even a program.
    """
    how(world)

    assert (0, b"{}\n", b"") == world.run("cursor", "stop")


def test_it_is_found_through_a_link_and_by_its_name_alone(bare):
    """
    What lies beside the client lies beside the real one.
    """
    (bare.bin / "failmode.bin").write_text("x||5|said|\n")
    (bare.home / "link").symlink_to(bare.client)
    env = {**bare.env, "PATH": f"{bare.bin}:{bare.env['PATH']}"}
    named = subprocess.run(["/bin/sh", "-c", "hookonce-on x"], env=env, input=b"", capture_output=True, check=False)
    linked = subprocess.run([bare.home / "link", "x"], env=env, input=b"", capture_output=True, check=False)

    assert [(5, b"said")] * 2 == [(done.returncode, done.stdout) for done in (named, linked)]


def test_who_can_only_fail_does_not_wait_for_the_payload(bare):
    """
    The answer is there before the agent has written anything, and all that it writes is taken.
    """
    with bare.start("amp") as process:
        assert (0, b"{}\n", b"") == (process.wait(30), process.stdout.read(), process.stderr.read())
        process.stdin.write(b"x" * 1_000_000)


@pytest.mark.slow
def test_an_agent_that_still_writes_meets_no_closed_pipe(world):
    """
    After a whole document and two seconds we have answered; what comes later is read and thrown away.
    """
    world.interpret(cold="exit 1")
    with world.start("amp") as process:
        process.stdin.write(b"{}")
        process.stdin.flush()
        assert (0, b"{}\n", b"") == (process.wait(30), process.stdout.read(), process.stderr.read())
        process.stdin.write(b"x" * 1_000_000)  # more than a pipe holds, so somebody reads


def test_who_has_hung_up_is_no_trouble(bare):
    """
    A closed pipe on our side is no signal and no other exit code.
    """
    (bare.bin / "failmode.bin").write_text(f"x||2|{'a' * 100_000}|{'b' * 100_000}\n")
    with bare.start("x", preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL)) as process:
        process.stdout.close()
        process.stderr.close()
        process.stdin.close()
        assert 2 == process.wait(30)


@pytest.mark.native("a shell cannot wait until its output takes more")
def test_outputs_that_do_not_block_are_waited_for(bare):
    """
    Nothing is cut off because an agent reads slowly.
    """
    (bare.bin / "failmode.bin").write_text(f"x||2|{'a' * 1_000_000}|\n")
    read, write = os.pipe()
    os.set_blocking(write, False)
    with bare.start("x", stdout=write) as process:
        os.close(write)
        process.stdin.close()
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read()
        assert 2 == process.wait(30)

    assert 1_000_000 == len(said)


def test_a_client_that_was_replaced_while_it_ran_still_finds_its_files(bare):
    """
    Its own file is gone; its directory is not.
    """
    (bare.bin / "failmode.bin").write_text("x||5|said|\n")
    with bare.start("x") as process:
        shutil.copy(bare.client, bare.home / "new")
        (bare.home / "new").rename(bare.client)
        out, _ = process.communicate(b"{}", timeout=30)

    assert (5, b"said") == (process.returncode, out)


def test_a_call_without_arguments_is_refused_where_a_hook_must_be_asked(bare):
    """
    Nobody knows by whom or about what: no to everything, with what to do; without such hooks nothing is said.
    """
    assert (0, b"", b"") == bare.run()
    lines = [*fail_mode._iter_lines({"before_tool_execute"})]
    (bare.bin / "failmode.bin").write_text("".join(f"{line}\n" for line in lines))

    assert (2, b"", fail_mode.UNKNOWN_CALLER_REASON.encode()) == bare.run()
    assert b"hookonce doctor" in bare.run()[2]
    assert (0, b"", b"") == bare.run("claude-code", "Notification")


def test_a_call_without_arguments_is_refused_in_a_project_whose_hooks_must_be_asked(bare):
    """
    There, and nowhere else.
    """
    refusal = next(fail_mode._iter_lines({"before_tool_execute"}))
    (bare.bin / "failmode.bin").write_text(f"{bare.home}/guarded||before_tool_execute\nbefore_tool_execute:{refusal}\n")
    (bare.home / "guarded").mkdir()

    assert [0, 2] == [bare.run(cwd=folder)[0] for folder in (bare.home, bare.home / "guarded")]

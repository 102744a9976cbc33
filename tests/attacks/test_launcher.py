"""Attacks on the launcher in a project's files: neither HOME nor PATH of a call chooses another program."""

import pytest

from hookonce import agents
from tests.convert.test_launcher import command_for, put_client, run


@pytest.fixture
def guard():
    """The command of a closed hook, for an agent that takes exit code 2 for a refusal or reads one."""
    return command_for(agents.load("claude-code"), on_failure="closed")


def is_refusal(result):
    """Whether the answer is the refusal for a machine without hookonce."""
    return b"hookonce is not installed here" in result[1] + result[2]


def test_the_account_comes_before_home(guard, tmp_path):
    """
    Whoever has a client in the account's home is asked there, whatever HOME says.
    """
    account, planted = put_client(tmp_path / "account"), put_client(tmp_path / "planted")

    assert b"account\n" == run(guard, planted, account=account)[1].splitlines(keepends=True)[0]


HOMES = {
    "a repository": lambda folder: folder / "repository" / "home",
    "a link to one": lambda folder: folder / "link",
    "the folder of the process": lambda _: "/proc/self/cwd",
    "no path": lambda _: "home",
    "nothing": lambda _: "",
    "nowhere": lambda _: "/nonexistent",
}


@pytest.mark.parametrize("value", HOMES.values(), ids=HOMES)
@pytest.mark.parametrize("mark", [".git", ".jj"])
def test_a_home_in_a_repository_is_none(guard, tmp_path, value, mark):
    """
    What a repository holds is not run: the guard refuses as on a machine without hookonce.
    """
    folder = tmp_path / "repository"
    (folder / mark).mkdir(parents=True)
    put_client(folder / "home")
    (tmp_path / "link").symlink_to(folder / "home")

    assert is_refusal(run(guard, folder / "home", HOME=str(value(tmp_path))))


def test_a_folder_that_is_named_like_an_account_is_none(guard, tmp_path):
    """
    A user of whom the password database knows no home leaves the word as it is, which is a path into the project.
    """
    put_client(tmp_path / "~nobody-has-this-name")

    assert is_refusal(run(guard, tmp_path, account="~nobody-has-this-name"))


@pytest.mark.parametrize("name", ["id", "cat", "sh", "hookonce-on", "printf"])
def test_nothing_is_looked_up(guard, tmp_path, name):
    """
    Programs in PATH, and functions that a caller exports to a shell, have no say.
    """
    program = tmp_path / "bin" / name
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\necho '{{}}'\n")
    program.chmod(0o755)
    functions = {f"BASH_FUNC_{name}%%": f"() {{ /usr/bin/touch {tmp_path}/ran; }}" for name in ("[", "printf", "cd")}

    for command in (guard, guard.replace("/bin/sh -c", "/bin/bash -c", 1)):
        assert is_refusal(run(command, tmp_path, PATH=str(program.parent), CDPATH="/", ENV=str(program), **functions))
    assert not (tmp_path / "ran").exists()

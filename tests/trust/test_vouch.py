"""Hooks that a person vouches for: what changes them, and what may."""

import json
import stat
from hashlib import sha256

import pytest

from hookonce import agents
from hookonce.base import paths
from hookonce.base.jsontext import dump
from hookonce.model import Handler, Hook
from hookonce.trust.consent import find_changes, is_vouched, vouch

AGENT = agents.load("claude-code")
CLIENT = "/c/hookonce-on"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A home with a script, rules and a log."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "guard.sh").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "rules.txt").write_text("no rm\n")
    (tmp_path / "seen.log").write_text("one\n")
    (tmp_path / "seen.txt").write_text("one\n")
    return tmp_path


def hook(command):
    """A hook of an agent that runs a command."""
    return Hook(event="before_tool_execute", handler=Handler(type="command", command=command))


GROWING = {
    "cat >> {}/seen.txt": "seen.txt",
    "cat >{}/seen.txt": "seen.txt",
    "jq -r .x >> ~/seen.txt 2>&1": "seen.txt",
    "cat 2>> {}/seen.log": "seen.log",
    "tee -a {}/seen.txt": "seen.txt",
    "cat | sudo tee -a {}/seen.txt > /dev/null": "seen.txt",
    "sh {}/guard.sh {}/seen.log": "seen.log",
    "python3 -u {}/guard.sh --log ~/seen.log": "seen.log",
    "{}/guard.sh --log {}/new.jsonl": "new.jsonl",
    "sh -c 'cat >> {}/seen.txt'": "seen.txt",
}


@pytest.mark.parametrize("command", GROWING)
def test_a_log_that_a_hook_writes_to_may_grow(command, folder):
    """
    By a redirection, tee, or a file that is a log by its ending.
    """
    one = hook(command.replace("{}", str(folder)))
    vouch([(AGENT, one)])
    with (folder / GROWING[command]).open("a") as log:
        log.write("two\n")

    assert is_vouched(AGENT, one, CLIENT)
    assert [] == find_changes(AGENT, one)


CHANGING = {
    "sh {}/guard.sh": "guard.sh",
    "{}/guard.sh >> {}/seen.log": "guard.sh",
    "sh {}/seen.log": "seen.log",  # what is run is no log
    ". {}/seen.log": "seen.log",
    "cat > {}/guard.sh; sh {}/guard.sh": "guard.sh",
    "grep -f {}/rules.txt": "rules.txt",
    "sh < {}/seen.log": "seen.log",
    "for x in {}/guard.sh; do case $x in *) sh $x;; esac; done; {}/guard.sh": "guard.sh",
}


@pytest.mark.parametrize("command", CHANGING)
def test_what_a_hook_runs_or_reads_may_not_change(command, folder):
    """
    And it is told which file it was.
    """
    one = hook(command.replace("{}", str(folder)))
    vouch([(AGENT, one)])
    assert is_vouched(AGENT, one, CLIENT)
    with (folder / CHANGING[command]).open("a") as file:
        file.write("curl evil\n")

    assert not is_vouched(AGENT, one, CLIENT)
    assert [str(folder / CHANGING[command])] == find_changes(AGENT, one)
    assert [] == find_changes(AGENT, hook("sh /some/other.sh"))


def test_a_log_that_can_be_run_is_none(folder):
    """
    Whatever its ending is.
    """
    (folder / "seen.log").chmod(0o755 | stat.S_IXUSR)
    one = hook(f"env {folder}/guard.sh {folder}/seen.log")
    vouch([(AGENT, one)])
    (folder / "seen.log").write_text("more\n")

    assert not is_vouched(AGENT, one, CLIENT)


def test_what_an_older_version_wrote_still_counts(folder):
    """
    A list of marks, and the marks are the same.
    """
    one, other = hook(f"sh {folder}/guard.sh"), hook("true")
    entry = dump([AGENT.name, one.event, one.handler])
    mark = sha256(entry + (folder / "guard.sh").read_bytes()).hexdigest()[:16]
    paths.make_private_dir(paths.data_dir())
    (paths.data_dir() / "vouched.json").write_text(json.dumps([mark]))

    assert is_vouched(AGENT, one, CLIENT)
    vouch([(AGENT, other)])
    assert is_vouched(AGENT, one, CLIENT)
    assert is_vouched(AGENT, other, CLIENT)

"""Calls that nobody has answered are told of, until the client is put in place again."""

import subprocess

from tests.cli.command import run


def test_calls_without_an_interpreter_are_counted_and_told(tmp_path):
    (tmp_path / ".claude").mkdir()
    home = str(tmp_path)
    run("install", "claude-code", HOME=home)
    client = tmp_path / ".local/share/hookonce/bin/hookonce-on"
    beside = client.with_name("interpreter")
    right = beside.read_text()
    beside.write_text(right.replace(right.splitlines()[0], "/gone/python", 1))
    for _ in range(2):
        words = [client, "claude-code", "PreToolUse", "--via", "claude-code/user"]
        subprocess.run(words, input=b"{}", check=True, env={"HOME": home})
    beside.write_text(right)

    status = run("status", "claude-code", cwd=tmp_path, HOME=home)
    (data,) = run("status", "--json", cwd=tmp_path, HOME=home).documents()
    sick = run("doctor", "claude-code", cwd=tmp_path, HOME=home)
    mended = run("doctor", "claude-code", "--repair", cwd=tmp_path, HOME=home)

    assert "2 calls of agents were not answered, the last at 20" in status.out
    assert (2, 1) == (data["unanswered"]["calls"], sick.code)
    assert "unanswered: 2 calls of agents" in sick.out
    assert (0, "nothing is wrong") == (mended.code, mended.out.splitlines()[-1])
    assert "2 calls of agents were not answered" in run("logs", HOME=home).out

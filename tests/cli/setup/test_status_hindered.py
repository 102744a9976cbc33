"""Entries of ours that an agent does not run: status says so, and install says what is left to do."""

import json

import pytest

from tests.cli.command import PAYLOAD, run


def put(file, text):
    """A file with its folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def status(home, *words):
    """What status says, as a text and as JSON."""
    told = run("status", *words, cwd=home, HOME=str(home))
    (data,) = run("status", *words, "--json", cwd=home, HOME=str(home)).documents()
    return told.out, data["agents"][0]


@pytest.mark.parametrize(
    ("agent", "file", "text", "key"),
    [
        ("claude-code", ".claude/settings.json", {"disableAllHooks": True}, "disableAllHooks"),
        ("gemini-cli", ".gemini/settings.json", {"hooksConfig": {"enabled": False}}, "hooksConfig.enabled"),
    ],
)
def test_hooks_that_are_switched_off_are_not_called_installed(tmp_path, agent, file, text, key):
    put(tmp_path / file, json.dumps(text))
    put(tmp_path / ".gemini/trustedFolders.json", json.dumps({str(tmp_path): "TRUST_FOLDER"}))
    run("install", agent, HOME=str(tmp_path))

    told, data = status(tmp_path, agent)

    (row,) = [line.split() for line in told.splitlines() if line.split()[:1] == [agent]]
    assert "off" == row[2]
    assert f"{key} in {tmp_path / file} turns them off" in told
    assert [("user", "off")] == [(one["scope"], one["state"]) for one in data["hindered"]]
    assert "installed" == data["scopes"][0]["state"]


def test_entries_that_nobody_has_reviewed_are_untrusted_until_they_are(tmp_path):
    (tmp_path / ".codex").mkdir()
    first = run("install", "codex", HOME=str(tmp_path))
    again = run("install", "codex", HOME=str(tmp_path))
    before, data = status(tmp_path, "codex")
    trusted = run("install", "codex", "--trust", HOME=str(tmp_path))
    after, later = status(tmp_path, "codex")

    for ran in (first, again):
        assert "codex: Review the hooks with /hooks in Codex" in ran.out
        assert "Next: hookonce install codex --trust, if you trust" in ran.out
    assert "Review" not in trusted.out
    assert "codex: hookonce's entries are marked as reviewed" in trusted.out
    assert "  untrusted  " in before
    assert "until you have reviewed them, in the agent or with hookonce install --trust" in before
    assert [["user", "untrusted"], []] == [[data["hindered"][0][name] for name in ("scope", "state")], later["hindered"]]
    assert "Review" not in after
    assert "  installed  " in after


def test_a_folder_that_is_not_trusted_makes_entries_untrusted(tmp_path):
    (tmp_path / ".gemini").mkdir()
    run("install", "gemini-cli", HOME=str(tmp_path))

    told, data = status(tmp_path, "gemini-cli")

    assert "  untrusted  " in told
    assert 1 == told.count("until you trust the folder")
    assert data["no_hooks_because"] in data["hindered"][0]["why"]


def test_advice_that_was_followed_is_not_given_again(tmp_path):
    """
    Claude Code runs no hook in a folder before it is trusted: a call from there shows that it is.
    """
    (tmp_path / ".claude").mkdir()
    run("install", "claude-code", HOME=str(tmp_path))
    before, _ = status(tmp_path, "claude-code")
    payload = PAYLOAD | {"cwd": str(tmp_path / "elsewhere")}
    run("on", "claude-code", given=json.dumps(payload).encode(), HOME=str(tmp_path), cwd=tmp_path)
    elsewhere, _ = status(tmp_path, "claude-code")
    run("on", "claude-code", given=json.dumps(PAYLOAD | {"cwd": str(tmp_path), "session_id": "s2"}).encode(), HOME=str(tmp_path), cwd=tmp_path)
    after, _ = status(tmp_path, "claude-code")

    assert ["Trust a folder when Claude Code asks" in told for told in (before, elsewhere, after)] == [True, True, False]
    assert "no agent has called hookonce in the last 24 hours" in before
    (row,) = [line.split() for line in after.splitlines() if line.startswith("claude-code ") and "installed" not in line]
    assert ["claude-code", "2", "0", "0"] == row[:4]

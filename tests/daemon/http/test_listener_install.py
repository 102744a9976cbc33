"""install --http: agents post to a door that answers, and everything can be had back."""

import json
import subprocess
import sys

import pytest

from hookonce.client import daemon_endpoints
from tests.cli.setup.test_install import SETTINGS
from tests.daemon.http_client import Poster
from tests.daemon.installed_home import command, payload, refused
from tests.handlers.processes import eventually

# A person who agrees to everything.
PROGRAM = """
import sys
from hookonce.cli.setup import install, uninstall
from hookonce.configure import http_probe
if sys.argv[1] == "yes":
    install.require_consent = uninstall.require_consent = lambda *_: None
http_probe._START_TIMEOUT_S = float(sys.argv[2])
del sys.argv[1:3]
from hookonce.__main__ import main
sys.exit(main())
"""


class User:
    """Somebody with Claude Code and Qwen Code."""

    def __init__(self, home, shelf):
        self.home, self.shelf = home, shelf
        self.settings = home.home / ".claude" / "settings.json"
        for file in (self.settings, home.home / ".qwen" / "settings.json"):
            file.parent.mkdir()
            file.write_bytes(SETTINGS if file is self.settings else b"{}\n")
            file.chmod(0o600)

    def run(self, *words, yes=True, patience=60):
        """Run hookonce; its exit code, and what it says."""
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM, "yes" if yes else "no", str(patience), *words],
            env={**self.home.env, "PYTHONPATH": str(self.shelf)},
            cwd=self.home.where,
            capture_output=True,
            check=False,
            start_new_session=True,
        )
        return ran.returncode, (ran.stdout + ran.stderr).decode()

    def entries(self, agent=".claude"):
        """The first entry of each event that is ours."""
        found = json.loads("\n".join(line.partition(" // ")[0] for line in (self.home.home / agent / "settings.json").read_text().splitlines()))
        return {event: groups[-1]["hooks"][0] for event, groups in found["hooks"].items()}

    def findings(self):
        """What doctor says about the door."""
        _, said = self.run("doctor", "--json", "claude-code")
        return [one["message"] for one in json.loads(said)["findings"] if one["kind"] == "http"]

    def state(self):
        """What status says of Claude Code."""
        _, said = self.run("status", "--json", "claude-code")
        return json.loads(said)["agents"][0]["scopes"][0]

    def address(self):
        with self.home.inside():
            return daemon_endpoints.load_http_address()


@pytest.fixture
def user(home, shelf):
    return User(home, shelf)


def test_agents_post_to_a_door_that_answers_and_leave_with_the_same_bytes(user):
    """
    Installed twice, asked, examined, and taken out again.
    """
    user.home.hooks(command("echo no >&2; exit 2"))
    assert 0 == user.run("install", "--http", "claude-code", "qwen-code")[0]
    known = user.address()
    entry = user.entries()["PreToolUse"]

    assert {"type": "http", "url": f"{known.base}/on/claude-code/PreToolUse?via=claude-code/user", "headers": known.headers, "timeout": 60} == entry
    assert {"SessionStart", "UserPromptSubmit"} <= {event for event, one in user.entries().items() if one["type"] == "command"}
    assert {**entry, "url": entry["url"].replace("claude", "qwen")} == user.entries(".qwen")["PreToolUse"]
    assert 0o600 == (user.home.home / ".local/share/hookonce/http.json").stat().st_mode & 0o777
    assert refused((0, Poster(user.home).post(payload())[1]), "no")
    assert "nothing to do" in user.run("install", "claude-code")[1]
    assert ("installed", None) == (user.state()["state"], user.state()["problem"])
    assert [] == user.findings()

    assert 0 == user.run("uninstall", "claude-code")[0]
    assert SETTINGS == user.settings.read_bytes()
    assert known == user.address()  # Qwen Code still posts there
    assert 0 == user.run("uninstall", "qwen-code")[0]
    assert b"{}\n" == (user.home.home / ".qwen" / "settings.json").read_bytes()
    assert user.address() is None
    assert eventually(lambda: not user.home.status()["http"]["open"], 60)


def test_entries_become_commands_again(user):
    """
    Without the door, which is then shut.
    """
    user.run("install", "claude-code")
    before = user.settings.read_bytes()
    assert 0 == user.run("install", "--http", "claude-code")[0]
    assert before != user.settings.read_bytes()
    assert 0 == user.run("install", "--no-http", "claude-code")[0]

    assert before == user.settings.read_bytes()
    assert user.address() is None
    assert 0 == user.run("uninstall", "claude-code")[0]
    assert SETTINGS == user.settings.read_bytes()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["gemini-cli"], "cannot send its events"),
        (["opencode"], "cannot send its events"),
        (["claude-code", "--scope", "project"], "the HTTP token is private"),
    ],
)
def test_who_cannot_have_a_door_is_told(user, words, why):
    """
    And nothing is written.
    """
    code, said = user.run("install", "--http", *words)
    assert (1, True) == (code, why in said), said
    assert user.address() is None


def test_a_closed_hook_and_a_door_exclude_each_other(user):
    """
    Whichever was there first: install refuses, or status and doctor say what is wrong, and doctor mends it.
    """
    user.home.hooks(command("true", on_failure="closed"))
    code, said = user.run("install", "--http", "claude-code")
    assert (1, True) == (code, "has `on_failure: closed`" in said)
    assert (SETTINGS, None) == (user.settings.read_bytes(), user.address())

    user.home.hooks()
    assert 0 == user.run("install", "--http", "claude-code")[0]
    user.home.hooks(command("true", on_failure="closed"))
    assert "has `on_failure: closed`" in user.state()["problem"]
    assert "no hook runs for them" in user.findings()[0]
    user.run("doctor", "--repair", "claude-code")
    assert [] == user.findings()
    assert "command" == user.entries()["PreToolUse"]["type"]


def test_a_file_that_others_can_read_gets_no_token(user):
    """
    And one that they can read later is told.
    """
    user.settings.chmod(0o644)
    code, said = user.run("install", "--http", "claude-code")
    assert (1, True) == (code, f"chmod 600 {user.settings} first" in said)

    user.settings.chmod(0o600)
    assert 0 == user.run("install", "--http", "claude-code")[0]
    user.settings.chmod(0o644)
    assert [f"{user.settings} holds the HTTP token, and other users can read the file: chmod 600 {user.settings}"] == user.findings()


def test_only_a_person_chooses_a_door_that_lets_pass_when_we_are_away(user):
    """
    Without a terminal nothing happens.
    """
    code, said = user.run("install", "--http", "claude-code", yes=False)
    assert (1, True) == (code, "needs a person at a terminal" in said)
    assert (SETTINGS, None) == (user.settings.read_bytes(), user.address())


def test_doctor_says_when_nobody_answers(user):
    """
    No daemon, a list that leaves us out, and somebody else at our port; install moves the door then.
    """
    assert 0 == user.run("install", "--http", "claude-code")[0]
    before = user.address()
    (user.home.house / "daemon.failed").write_bytes(b"")
    assert eventually(lambda: not user.home.kill(), 60)
    assert "nothing listens" in user.findings()[0]

    squatter = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(before.port)]
    with subprocess.Popen(squatter, cwd=user.home.where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as other:
        assert eventually(lambda: "another program" in user.findings()[0], 60)
        (user.home.house / "daemon.failed").unlink()
        assert 0 == user.run("install", "--http", "claude-code")[0]
        other.terminate()
    assert before.port != user.address().port
    assert str(user.address().port) in user.entries()["PreToolUse"]["url"]
    assert [] == user.findings()

    listed = user.settings.read_text().replace('"model"', '"allowedHttpHookUrls": ["https://example.com/*"], "model"')
    user.settings.write_text(listed)
    assert "allowedHttpHookUrls" in user.findings()[0]


def test_install_writes_nothing_when_the_door_does_not_answer(user):
    """
    Such as where no daemon may be started.
    """
    user.home.env["HOOKONCE_COLD"] = "1"
    code, said = user.run("install", "--http", "claude-code", patience=0.5)

    assert (1, True) == (code, "does not answer, and nothing was installed" in said)
    assert (SETTINGS, None) == (user.settings.read_bytes(), user.address())



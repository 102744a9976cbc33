"""Hooks that ask a server or a model, as the commands for people see them."""

import json

import pytest

from tests.cli.command import run
from tests.handlers.servers import WAYS, model, server
from tests.manifest.projects import manifest, put

NO = '{"ok": false, "reason": "not on a Friday"}'
PAYLOAD = {"session_id": "s", "transcript_path": "/h/.claude/x", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push"}, "tool_use_id": "t1"}


@pytest.fixture(scope="module")
def there():
    """A server, and a model's."""
    with server(WAYS | {"/v1/chat/completions": model(NO, {"prompt_tokens": 200, "completion_tokens": 10}, "priced")}) as one:
        yield one


@pytest.fixture
def home(tmp_path, there):
    """A home with a hook of each kind, and a model with a price."""
    folder = tmp_path / ".config" / "hookonce"
    kinds = {"at-server": {"type": "http", "url": there.url("/deny")}, "by-model": {"type": "prompt", "prompt": "No pushes on Fridays: $ARGUMENTS"}, "by-agent": {"type": "agent", "prompt": "Look first."}}
    put(folder / "hooks.json", manifest(*({"name": name, "event": "before_tool_execute", "blocking": True, "handler": handler} for name, handler in kinds.items())))
    put(folder / "config.toml", f'[models]\nendpoint = "{there.url("/v1")}"\nmodel = "priced"\n')
    put(folder / "prices.toml", "[priced]\ninput = 1\noutput = 10\n")
    return tmp_path


@pytest.mark.parametrize(("name", "reason"), [("at-server", "the server says no"), ("by-model", "not on a Friday"), ("by-agent", "not on a Friday")])
def test_such_a_hook_is_tried_like_any_other(home, name, reason):
    """
    What was sent is shown, of a model with the question.
    """
    (found,) = run("try", name, "--agent", "codex", "--json", HOME=str(home)).documents()

    assert ("deny", reason, []) == (found["told"]["decision"]["outcome"], found["told"]["decision"]["reason"], found["unknown"])
    assert "rm -rf /" in found["stdin"]
    if name != "at-server":
        assert ("priced", 300) == (found["told"]["run"]["model"], found["told"]["run"]["cost_micros"])
        assert "Answer with one JSON object" in found["stdin"]
    assert (name == "by-agent") == any("runs as a prompt" in gap["note"] for gap in found["gaps"])


def test_why_names_the_model_and_its_price(home):
    """
    Of the call that was refused.
    """
    run("on", "claude-code", "PreToolUse", given=json.dumps(PAYLOAD).encode(), HOME=str(home))

    told = run("why", HOME=str(home)).out

    assert "by-model (user): deny, exit code 0" in told
    assert "asked priced, 210 tokens, $0.000300" in told


def test_doctor_says_what_stands_in_the_way(home, there):
    """
    A server that must not be called, a model that nobody has configured, a program that is not there.
    """
    folder = home / ".config" / "hookonce"
    assert "cannot run" not in run("doctor", HOME=str(home)).out

    put(folder / "config.toml", 'model = "x"\n')
    told = run("doctor", HOME=str(home)).out
    assert 2 == told.count("cannot run: no language model is configured")
    assert "there is no setting model; it is ignored; did you mean models?" in told
    put(folder / "config.toml", '[models]\ncommand = "no-such-program --json"\n')
    assert "cannot run: there is no program no-such-program on the path" in run("doctor", HOME=str(home)).out
    put(folder / "hooks.json", manifest({"event": "before_prompt", "handler": {"type": "http", "url": "http://example.com/"}}))
    assert "http://example.com/ is not called: only https" in run("doctor", HOME=str(home)).out


def test_check_knows_them(home):
    """
    The manifest is sound, and an address that will not be called is told.
    """
    assert 0 == run("check", "--strict", str(home / ".config/hookonce/hooks.json"), HOME=str(home)).code
    other = put(home / "hooks.json", manifest({"event": "before_prompt", "handler": {"type": "http", "url": "http://example.com/"}}))
    assert "will not be called: only https" in (done := run("check", str(other), HOME=str(home))).out + done.err

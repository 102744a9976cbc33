"""Servers and models that are asked by the daemon, and by a process for one call; nobody waits for another."""

import json

import pytest

from tests.daemon.installed_home import HOOK, SILENT, payload, refused
from tests.dispatch.dialect_scripts import SCRIPTS
from tests.handlers.servers import WAYS, model, server

LATE = "the hook guard did not answer in time"
NO = '{"ok": false, "reason": "not on a Friday"}'
CLOSED = {
    "/500": "the server answered with 500",
    "/html": "the answer is text/html, not JSON",
    "/garbage": "its output is not a valid answer",
    "/elsewhere": "the server redirects to another host, http://example.com, which is not called",
    "/floods": "the answer is longer than 1,048,576 bytes",
    "/hangs": None,
    "/drips": None,
}


@pytest.fixture(scope="module")
def there():
    """A server with all its ways, some of them those of a model."""
    more = {"/model/chat/completions": model(NO, {"prompt_tokens": 9, "completion_tokens": 1}), "/down/chat/completions": WAYS["/hangs"]}
    with server(WAYS | more) as one:
        yield one


@pytest.fixture(params=["warm", "cold"])
def asked(request, home):
    """A home, and how its client is called there: with a daemon that answers, or without any."""
    if request.param == "warm":
        home.warm()
        return home, home.tool
    return home, lambda **options: home.tool(env=home.cold_env, **options)


def hook(handler, **more):
    """A hook that has to be asked."""
    return {**HOOK, "on_failure": "closed", "handler": {"timeout": 20} | handler, **more}


def test_a_server_and_a_model_decide(asked, there):
    """
    With headers and the key from the environment of whoever calls.
    """
    home, call = asked
    home.env["NPM_TOKEN"] = home.cold_env["NPM_TOKEN"] = "t-1"  # also of those that no program gets
    home.hooks(hook({"type": "http", "url": there.url("/deny"), "headers": {"X-Token": "$NPM_TOKEN"}, "allowed_env": ["NPM_TOKEN"]}))
    assert refused(call(), "the server says no")
    assert "t-1" == there.heard[-1][2]["x-token"]

    config = home.home / ".config" / "hookonce" / "config.toml"
    config.write_text(f'[models]\nendpoint = "{there.url("/model")}"\nmodel = "small"\nkey_env = "KEY"\n', encoding="utf-8")
    home.env["KEY"] = home.cold_env["KEY"] = "k-1"
    home.hooks(hook({"type": "prompt", "prompt": "No pushes on Fridays. $ARGUMENTS"}))
    assert refused(call(command="git push"), "not on a Friday")
    assert "Bearer k-1" == there.heard[-1][2]["authorization"]
    assert "git push" in json.loads(there.heard[-1][3])["messages"][1]["content"]


def test_whatever_goes_wrong_ends_by_fail_mode(asked, there):
    """
    A closed hook refuses with the reason, an open one is as if it were not there.
    """
    home, call = asked
    for path, failure in CLOSED.items() if call == home.tool else [*CLOSED.items()][::3]:
        handler = {"type": "http", "url": there.url(path), "timeout": 20 if failure else 0.5}
        home.hooks(hook(handler))
        assert refused(call(), f"the hook guard failed ({failure}), and on_failure is closed" if failure else LATE)
    home.hooks(hook({"type": "http", "url": there.url("/500")}, on_failure="open"))
    assert SILENT == call()

    config = home.home / ".config" / "hookonce" / "config.toml"
    config.write_text(f'[models]\nendpoint = "{there.url("/down")}"\nmodel = "small"\n', encoding="utf-8")
    home.hooks(hook({"type": "prompt", "prompt": "p", "timeout": 0.5}))
    assert refused(call(), LATE)


@pytest.mark.part(2)
@pytest.mark.parametrize("dialect", ["gemini-cli", "codex", "cursor"])
def test_a_script_written_for_another_agent_runs_behind_claude_code(asked, dialect):
    """
    As a wrapper in its configuration names it.
    """
    home, call = asked
    file, text = SCRIPTS[dialect]
    script = home.where / file
    script.write_text(text, encoding="utf-8")
    script.chmod(0o755)
    words = ["claude-code", "PreToolUse", "--dialect", dialect, "--run", f"./{file}", "--scope", "project", "--timeout", "30"]

    assert refused(call(command="git push", words=words), "pushes are for people")
    assert SILENT == call(command="git status", words=words)


def test_the_daemon_answers_others_while_servers_hang(home, there):
    """
    Sixteen wait for one that never answers; who comes then is answered before them.
    """
    home.warm()
    home.hooks(hook({"type": "http", "url": there.url("/hangs")}), hook({"type": "http", "url": there.url("/deny")}, event="before_prompt"))
    waiting = [home.start("claude-code", "PreToolUse", "--via", "claude-code/user") for _ in range(16)]
    for number, one in enumerate(waiting):
        one.stdin.write(payload(session=f"s{number}"))
        one.stdin.close()
    words = ["claude-code", "UserPromptSubmit", "--via", "claude-code/user"]
    given = json.dumps({"session_id": "t", "transcript_path": "/t.jsonl", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "hello"}).encode()

    _, said, _ = home.call(*words, given=given)

    assert "the server says no" in said.decode()
    assert [None] * 16 == [one.poll() for one in waiting]
    for one in waiting:
        with one:
            one.kill()

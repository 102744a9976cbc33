"""What a new user meets: a client that is kept fresh, slips of the finger, and hooks that are tried."""

import json

import pytest

from tests.cli.command import run
from tests.cli.setup.test_install import at_a_terminal
from tests.manifest.projects import command, manifest, put


@pytest.fixture
def home(tmp_path):
    """A home with a hook that looks at shell commands only."""
    hook = command("echo watch out >&2; echo '{\"reson\": \"x\", \"context\": \"y\"}'", name="watcher", matcher="shell")
    after = command("cat", event="after_tool_execute", name="later")
    put(tmp_path / ".config/hookonce/hooks.json", manifest(hook, after))
    return tmp_path


def ours(home, *words, **more):
    return run(*words, HOME=str(home), **more)


def client(home):
    return home / ".local/share/hookonce/bin/hookonce-on"


def test_any_command_replaces_a_client_that_is_outdated(home):
    """
    The agents' configurations name one file; it is as new as the hookonce that was run last.
    """
    ours(home, "install", "claude-code")
    fresh = client(home).read_bytes()
    beside = client(home).with_name("interpreter")
    python, _, *shelves = beside.read_text().splitlines()
    beside.write_text("\n".join([python, "0.0.1-of-before", *shelves, ""]))
    client(home).write_bytes(b"#!/bin/sh\n# an older one\n")

    seen = ours(home, "status")

    assert (0, "") == (seen.code, seen.err)
    assert fresh == client(home).read_bytes()


def test_a_client_that_cannot_be_replaced_keeps_no_command_from_running(home):
    """
    Nor is anything said of it; and where nothing was installed nothing appears.
    """
    before = ours(home, "agents")
    assert not client(home).parent.exists()
    client(home).mkdir(parents=True)

    assert before == ours(home, "agents")


def test_completion_looks_after_nothing_else(home):
    """
    A shell that starts waits for it.
    """
    ours(home, "install", "claude-code")
    client(home).write_bytes(b"older")

    ours(home, "completion", "bash")

    assert b"older" == client(home).read_bytes()


def test_a_dry_run_ends_with_what_it_comes_to(home):
    """
    One line, below however long a difference.
    """
    seen = ours(home, "install", "claude-code", "codex", "--dry-run")

    assert "dry run: 2 files of claude-code, codex would be changed; nothing was written" == seen.out.splitlines()[-1]
    code, said = at_a_terminal(home, "uninstall", "claude-code", "--dry-run")
    assert (0, "nothing to do") == (code, said.strip())


SLIPS = {
    "command": (("instal",), "no command is called 'instal'; did you mean install?"),
    "agent": (("status", "claude-cod"), "no agent is called 'claude-cod'; did you mean claude-code?"),
    "agent to adopt": (("adopt", "Gemini-CLI"), "no agent is called 'Gemini-CLI'; did you mean gemini-cli?"),
    "agent of a configuration": (("convert", "--from", "codx", "--to", "hif"), "did you mean codex?"),
    "format": (("translate", "--to", "opnhook"), "no format or agent is called 'opnhook'; did you mean openhook?"),
    "source": (("check", "--from", "openhok"), "did you mean openhook?"),
    "event": (("agents", "--event", "before_tool_exec"), "did you mean before_tool_execute?"),
    "event to try": (("try", "true", "--event", "sesion_start"), "did you mean session_start?"),
    "dialect": (("try", "true", "--dialect", "claud-code"), "did you mean claude-code?"),
    "hook": (("try", "wacher"), "no hook or program is called 'wacher'; did you mean watcher?"),
}


@pytest.mark.parametrize(("words", "told"), SLIPS.values(), ids=SLIPS)
def test_a_slip_of_the_finger_is_answered_with_what_was_meant(home, words, told):
    """
    Whatever is named: exit 64, and the nearest name.
    """
    seen = ours(home, *words)

    assert (64, "") == (seen.code, seen.out)
    assert told in seen.err


def test_trying_shows_what_the_hook_wrote_and_what_nobody_understands(home):
    """
    stderr is not lost, and a slip in the answer is named.
    """
    seen = ours(home, "try", "watcher")
    (told,) = ours(home, "try", "watcher", "--json").documents()

    assert "it wrote on stderr: watch out\n" in seen.out
    assert "its answer has fields that are not known: reson\n" in seen.out
    assert "would run this hook" not in seen.out
    assert ("watch out\n", ["reson"], None) == (told["stderr"], told["unknown"], told["skipped"])


def test_trying_says_when_no_agent_would_ask_the_hook(home):
    """
    The tool does not fit, or the event; without an event it is the hook's own.
    """
    tool = ours(home, "try", "watcher", "--tool", "file_read", "--input", '{"path": "x"}')
    event = ours(home, "try", "watcher", "--event", "after_tool_execute")
    own = ours(home, "try", "later")

    assert 'no agent would run this hook for this event: its matcher "shell" does not match file_read (Read)' in tool.out
    assert "it is for before_tool_execute, and this is after_tool_execute" in event.out
    assert 0 == own.code
    assert '"type":"after_tool_execute"' in own.out
    assert "would run this hook" not in own.out


def test_every_word_that_an_answer_may_have_is_understood():
    """
    What `try` takes for known is what the hook's answer is read for.
    """
    from hookonce.dispatch.dialect import ANSWER_KEYS, parse_hif_output

    samples = {"decision": "deny", "updated_input": {"a": 1}, "continue": False, "suppress_output": True}
    silent = parse_hif_output("{}")

    assert all(silent != parse_hif_output(json.dumps({word: samples.get(word, "x")})) for word in ANSWER_KEYS)


def test_slips_in_a_manifest_are_warnings(home, tmp_path):
    """
    Keys that nobody reads and dialects that nobody speaks, each with its place; somebody's own keys are left alone.
    """
    hook = command("true", name="x", dialect="claude-cod", blokking=True, handler={"timout": 3, "x-mine": 1})
    file = put(tmp_path / "hooks.json", manifest(hook) | {"$schema": "…", "hoks": []})

    (verdict,) = ours(home, "check", file, "--json").documents()

    told = {one["path"]: one["message"] for one in verdict["warnings"]}
    assert verdict["ok"]
    assert {"$.hoks", "$.hooks[0].blokking", "$.hooks[0].handler.timout", "$.hooks[0].dialect"} == set(told)
    assert "did you mean timeout?" in told["$.hooks[0].handler.timout"]
    assert "did you mean claude-code?" in told["$.hooks[0].dialect"]


def test_doctor_names_settings_that_cannot_be_read(home):
    """
    A slip in config.toml is no silent return to the defaults.
    """
    file = put(home / ".config/hookonce/config.toml", "untrusted = deny\n")

    seen = ours(home, "doctor")

    assert 1 == seen.code
    assert f"settings: {file} cannot be read: " in seen.out

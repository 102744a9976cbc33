"""hookonce convert, as a user runs it."""

import json

import pytest

from tests.cli.command import run

SETTINGS = b"""{
  // my own settings
  "model": "opus",
  "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh", "timeout": 10}]}],
            "Notification": [{"hooks": [{"type": "command", "command": "./tell.sh"}]}],
            "CwdChanged": [{"hooks": [{"type": "command", "command": "./cd.sh"}]}],},
}
"""


def test_settings_with_comments_for_another_agent(tmp_path):
    """
    Hooks arrive in the other agent's words, what cannot is named on stderr and in the report.
    """
    report = tmp_path / "gaps.json"
    ran = run("convert", "--from", "claude-code", "--to", "gemini-cli", "--report", report, given=SETTINGS)

    made = json.loads(ran.out)["hooks"]
    assert (0, "run_shell_command", 10_000) == (
        ran.code,
        made["BeforeTool"][0]["matcher"],
        made["BeforeTool"][0]["hooks"][0]["timeout"],
    )
    assert "lost: cwd_changed ./cd.sh: Gemini CLI has no event for cwd_changed" in ran.err
    told = json.loads(report.read_bytes())
    assert (True, 2, "lost") == (told["verified"], told["gaps"][0]["hook"], told["gaps"][0]["effect"])


def test_there_and_back_through_a_manifest():
    """
    A configuration becomes a manifest that check accepts, and the same configuration again.
    """
    manifest = run("convert", "--from", "claude-code", "--to", "hif", given=SETTINGS).out.encode()

    assert 0 == run("check", given=manifest).code
    again = json.loads(run("convert", "--from", "hif", "--to", "claude-code", given=manifest).out)["hooks"]
    assert ["./guard.sh", "./tell.sh", "./cd.sh"] == [group[0]["hooks"][0]["command"] for group in again.values()]


def test_strict_makes_a_loss_an_exit_code():
    """
    Under --strict any gap is exit 3.
    """
    assert 3 == run("convert", "--strict", "--from", "claude-code", "--to", "codex", given=SETTINGS).code


@pytest.mark.parametrize(
    ("words", "given", "code"),
    [
        (("--from", "claude-code", "--to", "codex"), b"{", 1),
        (("--from", "claude-code", "--to", "codex"), b"[1]", 1),
        (("--from", "hif", "--to", "codex"), b'{"spec": "hooks/1.0", "hooks": []}', 1),
        (("--from", "hif", "--to", "codex"), b"\xff", 1),
        (("--from", "hif", "--to", "nobody"), b"{}", 64),
        (("--from", "nobody", "--to", "codex"), b"{}", 64),
    ],
)
def test_what_cannot_be_converted_is_one_sentence(words, given, code):
    """
    Broken files and unknown names end in one sentence and print nothing.
    """
    ran = run("convert", *words, given=given)

    assert (code, "", 1) == (ran.code, ran.out, len(ran.err.strip().splitlines()))


@pytest.mark.parametrize("groups", [5, None, {"a": 1}, [1], [{"hooks": 1}], [{"hooks": [1]}], [{"matcher": 1, "hooks": [{"type": 7}]}], [{"hooks": [{"type": "magic", "x": 1}]}]])
def test_strange_entries_are_named_and_break_nothing(groups):
    """
    An entry of a shape that nobody knows is lost by name or carried, never a crash.
    """
    given = json.dumps({"hooks": {"PreToolUse": groups}}).encode()

    ran = run("convert", "--from", "claude-code", "--to", "claude-code", given=given)

    assert ran.code in {0, 1}
    assert ran.code == 0 or len(ran.err.strip().splitlines()) == 1


def test_a_gap_of_the_source_is_about_no_hook_of_the_report(tmp_path):
    """
    What is wrong in the source's file has a path there and no index.
    """
    report = tmp_path / "gaps.json"
    given = json.dumps({"version": "v1", "hooks": [7]}).encode()

    run("convert", "--from", "kiro", "--to", "codex", "--report", report, given=given)

    assert [(None, "$source.hooks[0]")] == [(gap["hook"], gap["where"]) for gap in json.loads(report.read_bytes())["gaps"]]


def test_a_folder_is_nothing_that_is_kept_beside_a_file(tmp_path):
    """
    --side with a folder is one sentence, not a fault of ours.
    """
    ran = run("convert", "--from", "claude-code", "--to", "codex", "--side", tmp_path, given=SETTINGS)

    assert (1, "", 1) == (ran.code, ran.out, len(ran.err.strip().splitlines()))


def test_a_closed_hook_that_is_opened_is_a_loss_under_strict(tmp_path):
    """
    Nobody who wants no loss takes a guard that an agent may skip for a closed one.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "on_failure": "closed", "handler": {"type": "command", "command": "/nonexistent/guard.sh"}}
    given = json.dumps({"spec": "hooks/0.1", "hooks": [hook]}).encode()

    closed, opened = (run("convert", "--strict", "--from", "hif", "--to", name, given=given) for name in ("claude-code", "codex"))

    assert (0, 3) == (closed.code, opened.code)
    assert "WARNING: observes: before_tool_execute /nonexistent/guard.sh: our wrapper" in opened.err


def test_wrapped_hooks_of_a_project_are_known(tmp_path):
    """
    No home stands in the file; `status` counts such hooks, and `uninstall --all` would leave the bare command.
    """
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    run("convert", "--from", "claude-code", "--to", "codex", "--output", ".codex", given=SETTINGS, HOME=str(home), cwd=project)
    text = (project / ".codex" / "hooks.json").read_text()

    assert "--run ./guard.sh" in text
    assert str(tmp_path) not in text
    (found,) = json.loads(run("status", "codex", "--json", HOME=str(home), cwd=project).out)["agents"][0]["foreign"]
    assert ("./guard.sh", "project", True) == (found["what"], found["scope"], found["has_wrapper"])
    assert "1 hook of" in run("status", "codex", HOME=str(home), cwd=project).out
    shown = run("uninstall", "codex", "--all", "--scope", "project", "--dry-run", "--json", HOME=str(home), cwd=project).out
    assert ["codex"] == [change["agent"] for change in json.loads(shown)["changes"]]


def test_what_uninstall_leaves_in_our_wrapper_is_named(tmp_path):
    """
    A question to a model, which nothing else can ask on that agent: the exit code and a sentence say so.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "handler": {"type": "prompt", "prompt": "Is it safe?"}}
    given = json.dumps({"spec": "hooks/1.0", "hooks": [hook]}).encode()
    project = tmp_path / "project"
    project.mkdir()
    run("convert", "--from", "hif", "--to", "codex", "--output", ".codex", given=given, HOME=str(tmp_path), cwd=project)

    left = run("uninstall", "codex", "--all", "--scope", "project", "--dry-run", HOME=str(tmp_path), cwd=project)
    assert (1, True) == (left.code, "PreToolUse Is it safe? still runs through hookonce" in " ".join(left.err.split()))

"""Trusted and closed means closed: what must be asked is asked, or the call is refused, whoever keeps it from that."""

import json
import os

import pytest

from hookonce.diagnose.document_check import DOCUMENT_CHECKS
from hookonce.dispatch import dispatcher
from tests.daemon.installed_home import TOOL, payload

SCRIPT = "#!/bin/sh\nif grep -q 'rm -rf'; then echo no >&2; exit 2; fi\n"
HOOK = {
    "name": "guard",
    "event": "before_tool_execute",
    "blocking": True,
    "on_failure": "closed",
    "handler": {"type": "command", "command": "./.hookonce/a.sh"},
}


def write_manifest(file, *hooks):
    """A manifest with these hooks."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"spec": "hooks/1.0", "hooks": list(hooks)}), encoding="utf-8")


def write_script(file, text=SCRIPT):
    """A script that can be run."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)


def answer(cwd, command="rm -rf /", **more):
    """What the agent is answered in this process: the decision and its reason; None for no opinion."""
    reply = dispatcher.answer_call(TOOL, payload(command, cwd=str(cwd), **more), {"PATH": os.environ["PATH"]})
    return read_answer(reply.code, reply.stdout, reply.stderr)


def read_answer(code, out, err):
    if code == 2:
        return "deny", err.decode() if isinstance(err, bytes) else err
    assert 0 == code
    said = json.loads(out)["hookSpecificOutput"] if out else {}
    return (said["permissionDecision"], said["permissionDecisionReason"]) if said.get("permissionDecision") else None


@pytest.fixture
def user_hook(tmp_path, monkeypatch):
    """Writes a hook of a user who has no project."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return lambda **more: write_manifest(tmp_path / ".config" / "hookonce" / "hooks.json", {**HOOK, **more})


@pytest.mark.parametrize(
    "output", ["garbage", '{"decision": "blo', '{"hookSpecificOutput": {"permissionDec', "[]", "{} {}"]
)
@pytest.mark.parametrize("dialect", ["claude-code", "gemini-cli", "codex", "cursor", "canonical"])
def test_a_closed_hook_of_any_dialect_that_answers_garbage_refuses(user_hook, tmp_path, output, dialect):
    """
    Its own agent would go on; who said closed wanted an answer.
    """
    write_script(tmp_path / "answer", f"#!/bin/sh\ncat >/dev/null\nprintf '%s' '{output}'\n")
    user_hook(dialect=dialect, handler={"type": "command", "command": str(tmp_path / "answer")})
    assert "deny" == answer(tmp_path, "ls")[0]
    write_script(tmp_path / "answer", "#!/bin/sh\ncat >/dev/null\n")
    assert None is answer(tmp_path, "ls")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"handler": {**HOOK["handler"], "async": True}}, "handler.async"),
        ({"handler": {**HOOK["handler"], "timeout_action": "warn"}}, "handler.timeout_action"),
        ({"event": "session_end"}, "event"),
        ({"matcher": []}, "matcher"),
    ],
)
def test_what_can_never_refuse_is_no_closed_hook(change, place):
    """
    `check` says so.
    """
    check = DOCUMENT_CHECKS["manifest"]
    problems, _ = check({"spec": "hooks/1.0", "hooks": [{**HOOK, **change}]}, False)
    assert [f"$.hooks[0].{place}"] == [path for path, _ in problems]
    assert [] == check({"spec": "hooks/1.0", "hooks": [{**HOOK, **change, "on_failure": "open"}]}, False)[0]

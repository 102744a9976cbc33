"""Whose hooks have to be asked is judged from where the caller is, and not from where we are."""

import json

import pytest

from hookonce.dispatch import context, dispatcher
from hookonce.handlers.operation import run_blocking
from hookonce.trust.consent import list_proposals, trust_proposals

HOOK = {
    "event": "before_tool_execute",
    "blocking": True,
    "on_failure": "closed",
    "handler": {"type": "command", "command": "true"},
}
WORDS = ["claude-code", "PreToolUse", "--via", "claude-code/user"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a hook that has to be asked, while we are somewhere else."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir("/")
    found = tmp_path / "work"
    (found / ".hookonce").mkdir(parents=True)
    (found / ".hookonce" / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [HOOK]}))
    trust_proposals(found, list_proposals(found))
    return found


@pytest.mark.parametrize("raw", [b'{"hook_event_name":"Pre', b"", b"[]"], ids=["half", "nothing", "a list"])
def test_a_call_that_cannot_be_understood_is_refused_there(project, raw):
    where = context.CallContext(**{**as_dict(context.oneshot_context({})), "cwd": str(project)})

    call = dispatcher.receive_call(WORDS, raw, where, "an-id")
    other = dispatcher.receive_call(WORDS, raw, context.oneshot_context({}), "another-id")

    assert "deny" in run_blocking(dispatcher.answer_incoming(call)).stdout
    assert "deny" in dispatcher.late_reply(call).stdout
    assert "" == run_blocking(dispatcher.answer_incoming(other)).stdout


def as_dict(where):
    return {name: getattr(where, name) for name in where.__struct_fields__}

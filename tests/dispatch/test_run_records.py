"""What is kept of every hook that ran: enough to say afterwards who decided what, and when."""

import json
from datetime import datetime

import pytest

from hookonce.base import paths
from hookonce.store.spool import files
from tests.cli.command import PAYLOAD, lines, run

SAYS = {"pass": "true", "refuse": "echo no >&2; exit 2", "break": "exit 7"}


@pytest.mark.covers("HIF-107")
def test_the_audit_trail_has_time_hook_event_exit_code_and_whether_it_blocked(tmp_path, monkeypatch):
    """
    Three hooks of one call: each with its own line, in the order in which they ran.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    listed = [{"name": name, "event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": command}} for name, command in SAYS.items()]
    paths.config_dir().mkdir(parents=True)
    (paths.config_dir() / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": listed}))

    run("on", "claude-code", "PreToolUse", given=lines(PAYLOAD), HOME=str(tmp_path))

    (record,) = (one for one in files.load_records() if one.runs)
    assert "before_tool_execute" == record.event.type
    assert [("pass", "user", 0, None), ("refuse", "user", 2, "deny"), ("break", "user", 7, None)] == [(one.hook, one.scope, one.exit, one.outcome) for one in record.runs]
    assert 3 == len({one.digest for one in record.runs})
    started = [datetime.fromisoformat(one.started) for one in record.runs]
    assert sorted(started) == started
    assert all(moment.tzinfo is not None for moment in started)

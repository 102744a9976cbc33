"""Checks of the daemon and the record by doctor."""

import pytest

from hookonce.diagnose.checks import record
from hookonce.diagnose.diagnosis import NOTE_KINDS


@pytest.mark.parametrize(("count", "told"), [(0, []), (1, ["1 call came"]), (12, ["12 calls came"])])
def test_calls_from_sandboxes_are_told(monkeypatch, count, told):
    monkeypatch.setattr(record, "query_status", lambda: {"sandboxed": count})

    findings = [*record.check_daemon()]
    starts = [finding.message.partition(" from a sandbox")[0] for finding in findings]
    assert [f"since the daemon was started, {text}" for text in told] == starts
    assert all(finding.kind in NOTE_KINDS for finding in findings)

"""Real agents run commands, a fifth of which fail: what is recorded of each is what the shell and the model saw."""

import os
from collections import Counter

import pytest
from msgspec import convert

from hookonce.lab.drivers import DRIVER_MODULES
from hookonce.lab.fakes.scenarios import SCENARIOS, Scenario, build_step
from hookonce.model import Record
from hookonce.sessions.derive.summary import summarize_session
from tests.integration.test_record import Recorded

pytestmark = pytest.mark.integration
CALLS = int(os.environ.get("HOOKONCE_RESULT_CALLS", "5"))
EXIT_CODES = {f"echo {number} >> seen.txt; exit {3 * (number % 5 == 3)}": 3 * (number % 5 == 3) for number in range(CALLS)}
TOKENS = {  # in and out, of each answer of the scripted model, as its API tells them
    "claude-code": (100, 10),
    "codex": (100, 10),
    "gemini-cli": (100, 10),
}


@pytest.mark.parametrize("name", DRIVER_MODULES)
def test_each_call_is_recorded_with_what_it_came_to(name, tmp_path, monkeypatch):
    """
    Result and exit code of every command, and the tokens of every answer. HOOKONCE_RESULT_CALLS=200 makes it a long run.
    """
    steps = [[build_step("shell", command=command)] for command in EXIT_CODES]
    monkeypatch.setitem(SCENARIOS, "results", Scenario(turns=steps))
    recorded = Recorded(name, "results", tmp_path)
    documents = recorded.asked("events", "--json").documents()
    records = [convert(one, Record) for one in documents]
    events = {record.event.id: record.event for record in records}
    _, calls = summarize_session(record for record in records if record.event.session)
    results = [(events[call.id].tool.input.get("command"), call.ok, events[call.end].tool.result.exit_code) for call in calls if call.tool == "shell" and call.end]

    assert "".join(f"{number}\n" for number in range(CALLS)) == recorded.run.files["seen.txt"]
    assert Counter((command, code == 0, code) for command, code in EXIT_CODES.items()) == Counter(results)
    assert all(call.duration_ms is not None for call in calls)
    asked = len(recorded.requests(tools=True))
    used = [record.event.usage for record in records if record.event.type == "after_model" and record.event.usage is not None]
    per_answer = (sum(usage.input_tokens for usage in used) / asked, sum(usage.output_tokens for usage in used) / asked)
    assert TOKENS.get(name, (5000, 10)) == per_answer

"""Real agents run commands, a fifth of which fail: what is recorded of each is what the shell and the model saw."""

import json
import os
import sqlite3
from contextlib import closing
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest
from msgspec import convert

from hookonce.lab.drivers import DRIVER_MODULES
from hookonce.lab.fakes.scenarios import SCENARIOS, Scenario, build_step
from hookonce.model import Record
from hookonce.sessions.derive.summary import summarize_session
from hookonce.vocabulary.events import TOOL_END_EVENTS
from tests.integration.test_record import Recorded

pytestmark = pytest.mark.integration
CALLS = int(os.environ.get("HOOKONCE_RESULT_CALLS", "5"))
MAX_DIFFERENCE_MS = 20
TIMEOUT_S = 90 + 6 * CALLS  # on a machine that others use too
EXIT_CODES = {f"echo {number} >> seen.txt; exit {3 * (number % 5 == 3)}": 3 * (number % 5 == 3) for number in range(CALLS) if number % 5 != 4}
FILES = {f"written-{number}.txt" for number in range(CALLS) if number % 5 == 4}
TOKENS = {  # in and out, of each answer of the scripted model, as its API tells them
    "claude-code": (100, 10),
    "codex": (100, 10),
    "gemini-cli": (100, 10),
}


def told_in_payloads(*keys):
    """How long each command took by the payload of its end."""

    def figures(recorded):
        ends = [event for event in recorded.run.hook_events if event["type"] in TOOL_END_EVENTS]
        return {event["tool"]["input"]["command"]: reduce(getitem, keys, event["native"]) for event in ends if event["tool"]["name"] == "shell"}

    return figures


def told_in_rollout(recorded):
    """How long each command of Codex took by its session file."""
    lines = [json.loads(line)["payload"] for path in recorded.home.glob(".codex/sessions/**/*.jsonl") for line in path.read_text().splitlines()]
    items = [line["item"] for line in lines if line.get("type") == "item_completed" and line["item"]["type"] == "CommandExecution"]
    return {item["command"][-1]: item["duration"]["secs"] * 1000 + item["duration"]["nanos"] / 1_000_000 for item in items}


def told_in_database(recorded):
    """How long each command of OpenCode took by its database, with the time of its hooks."""
    with closing(sqlite3.connect(recorded.home / ".local/share/opencode/opencode.db")) as connection:
        parts = [json.loads(data) for (data,) in connection.execute("SELECT data FROM part")]
    states = [part["state"] for part in parts if part["type"] == "tool" and part["tool"] == "bash"]
    return {state["input"]["command"]: state["time"]["end"] - state["time"]["start"] for state in states}


OWN_FIGURES = {
    "claude-code": told_in_payloads("duration_ms"),
    "codex": told_in_rollout,
    "qwen-code": told_in_payloads("duration_ms"),
    "cline": told_in_payloads("tool_result", "durationMs"),
}
FIGURES_WITH_HOOKS = {"opencode": told_in_database}  # no more than an upper limit
# Gemini CLI, Copilot CLI and Factory Droid tell none: what is recorded is our own.


def steps():
    """Four of five calls are commands, of which one fails; the fifth writes a file."""
    commands, names = iter(EXIT_CODES), iter(sorted(FILES))
    for number in range(CALLS):
        is_write = number % 5 == 4
        yield [build_step("file_write", path=f"{{dir}}/{next(names)}", content="a\n") if is_write else build_step("shell", command=next(commands))]


def duration_differences(name, recorded, durations):
    """By how many ms our durations differ from the agent's own, and the kind of its figure."""
    kind = "own" if name in OWN_FIGURES else "with hooks" if name in FIGURES_WITH_HOOKS else "none"
    figures = {**OWN_FIGURES, **FIGURES_WITH_HOOKS}.get(name, lambda _: durations)(recorded)
    assert set(EXIT_CODES) == durations.keys() & figures.keys()
    return kind, [durations[command] - figures[command] for command in EXIT_CODES]


@pytest.mark.parametrize("name", DRIVER_MODULES)
def test_each_call_is_recorded_with_what_it_came_to(name, tmp_path, monkeypatch, record_property):
    """
    Result, exit code and duration of every command, written files, and the tokens of every answer.

    HOOKONCE_RESULT_CALLS=200 makes it a long run; `-rP` shows by how much durations differ, and from what.
    """
    monkeypatch.setitem(SCENARIOS, "results", Scenario(turns=list(steps())))
    recorded = Recorded(name, "results", tmp_path, timeout_s=TIMEOUT_S)
    records = [convert(one, Record) for one in recorded.asked("events", "--json").documents()]
    events = {record.event.id: record.event for record in records}
    session, calls = summarize_session(record for record in records if record.event.session)
    commands = {command: call for call in calls if call.end and (command := events[call.id].tool.input.get("command")) in EXIT_CODES}
    results = {command: (call.ok, events[call.end].tool.result.exit_code) for command, call in commands.items()}
    kind, differences = duration_differences(name, recorded, {command: call.duration_ms for command, call in commands.items()})
    asked = len(recorded.requests(tools=True))
    used = [record.event.usage for record in records if record.event.type == "after_model" and record.event.usage is not None]
    per_answer = (sum(usage.input_tokens for usage in used) / asked, sum(usage.output_tokens for usage in used) / asked)
    written = {Path(path).name for path in session.files} & FILES

    report = {
        "calls": len(calls),
        "ok": sum(results[command][0] is (code == 0) for command, code in EXIT_CODES.items()),
        "exit codes": sum(results[command][1] == code for command, code in EXIT_CODES.items()),
        "duration": kind,
        "min and max difference in ms": (round(min(differences), 1), round(max(differences), 1)),
        "files": len(written),
        "tokens per answer": per_answer,
    }
    record_property("report", report)
    print(name, report)  # noqa: T201  shown by -rP
    assert "".join(f"{command.split()[1]}\n" for command in EXIT_CODES) == recorded.run.files["seen.txt"]
    assert {command: (code == 0, code) for command, code in EXIT_CODES.items()} == results
    assert CALLS == len(calls)
    assert MAX_DIFFERENCE_MS >= max(differences)
    assert kind == "with hooks" or min(differences) >= -MAX_DIFFERENCE_MS
    assert all(call.duration_ms is not None for call in calls)
    assert FILES == written == recorded.run.files.keys() & FILES
    assert TOKENS.get(name, (5000, 10)) == per_answer

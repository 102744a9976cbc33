"""When an agent compacts its context, as far as anybody knows."""

import pytest

from hookonce import agents
from hookonce.agents import reports_session_start
from hookonce.agents.compaction import compaction_threshold, describe_rule
from hookonce.model import Origin, Usage
from hookonce.sessions.recorder import Recorder
from hookonce.store.entry import build_entry
from hookonce.store.query import RecordFilter, find_records
from hookonce.store.usage.prices import window_of
from hookonce.store.writer import Writer
from tests.cli.command import run
from tests.store.rows import stored

KNOWN = {"claude-code", "codex", "gemini-cli", "qwen-code"}


@pytest.mark.parametrize(
    ("agent", "model", "window", "limit"),
    [
        ("qwen-code", "qwen-x", 200_000, 167_000),
        ("qwen-code", "qwen-x", 1_000_000, 850_000),
        ("qwen-code", "qwen-x", 30_000, 25_500),
        ("qwen-code", "qwen-x", None, None),
        ("gemini-cli", "gemini-2.5-pro", 1_048_576, 524_288),
        ("gemini-cli", None, None, 524_288),
        ("gemini-cli", "gemma-4-31b-it", None, 128_000),
        ("codex", "gpt-5.6-sol", 1_050_000, 244_800),
        ("codex", "gpt-6.1-terra", None, 450_000),
        ("codex", "gpt-somebodys", None, None),
        ("claude-code", "claude-sonnet-4-5", 200_000, 167_000),
        ("claude-code", "claude-opus-5", 1_000_000, None),
        *((name, "gpt-5", 400_000, None) for name in agents.AGENTS if name not in KNOWN),
    ],
)
def test_the_threshold_is_the_agents_and_not_the_window(agent, model, window, limit):
    """
    Qwen Code was seen to compact between 160,000 and 170,000 tokens of 200,000.
    """
    assert limit == compaction_threshold(agents.load(agent), model, window)


def test_every_rule_has_a_source_and_who_has_none_is_told():
    rules = {name: agents.load(name).compaction for name in agents.AGENTS}

    assert {name for name, rule in rules.items() if rule} == KNOWN
    assert all(rule.source and rule.date for rule in rules.values() if rule)
    assert "unknown" == describe_rule(None)
    assert "85% of the window or 33,000 tokens before its end, whichever is first" == describe_rule(rules["qwen-code"])


@pytest.mark.part(2)
@pytest.mark.covers("AH-39", "AH-49")
@pytest.mark.parametrize(
    ("agent", "model", "data", "told"),
    [
        ("claude-code", "claude-sonnet-4-5", {}, (83_500, 167_000, 50.0, 83_500)),
        ("qwen-code", "qwen3-max", {"context_limit": 200_000}, (83_500, 167_000, 50.0, 83_500)),
        ("codex", "gpt-5.6-sol", {}, (83_500, 244_800, 34.1, 161_300)),
        ("gemini-cli", "gemini-2.5-pro", {}, (83_500, 524_288, 15.9, 440_788)),
        ("copilot-cli", "gpt-5", {}, None),
        ("claude-code", "claude-opus-5", {}, None),
    ],
)
def test_the_record_says_how_full_the_context_is_until_the_agent_compacts(tmp_path, monkeypatch, agent, model, data, told):
    """
    After each call of the model; where nobody knows when it compacts there is no event, and show says so.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    usage = Usage(total_tokens=83_500)
    call = stored(1, type="after_model", agent=agent, session="s", tool=None, model=model, usage=usage, data=data, origin=Origin(via=["transcript"]))
    with Writer() as writer:
        Recorder(writer, reports_session_start).record([build_entry(call)])
        found = [one.event.data for one in find_records(writer.connection, RecordFilter(type="context_until_compaction"))]
    names = ("tokens_used", "tokens_limit", "percentage_used", "tokens_remaining")
    shown = run("show", "s", HOME=str(tmp_path)).out

    assert ([told] if told else []) == [tuple(one[name] for name in names) for one in found]
    assert (f"compacts at {told[1]:,} tokens" if told else "compaction size not known") in shown
    assert window_of("claude-opus-5") == 1_000_000

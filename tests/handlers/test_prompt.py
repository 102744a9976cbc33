"""What a language model is asked, and what of its answer counts."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.base import settings
from hookonce.dispatch.prepare import model_cost_micros
from hookonce.errors import HookonceError
from hookonce.handlers import prompt
from hookonce.handlers.command import ProcessContext
from hookonce.handlers.operation import OperationResult
from hookonce.handlers.prompt import MAX_EVENT_CHARS, build_question, load_model_settings, parse_decision, select_model
from hookonce.model import Decision, Handler, Usage
from tests.manifest.projects import house, put

EVENT = {"type": "before_tool_execute", "tool": {"name": "shell", "input": {"command": "rm -rf /"}, "native_input": {"command": "rm -rf /"}}, "native": {"raw": 1}, "user": {"id": "me"}}
WORLD = ProcessContext(cwd="/", env={"KEY": "k-123"})
HANDLER = Handler(type="prompt", prompt="Is this safe? $ARGUMENTS Think.", model=None)
AGENT_HANDLER = Handler(type="agent", prompt=HANDLER.prompt, model=None)


@pytest.fixture
def configured(monkeypatch, tmp_path):
    """Settings of a user."""
    home = house(monkeypatch, tmp_path)
    return lambda text: put(home / ".config" / "hookonce" / "config.toml", text)


def test_the_event_stands_between_marks_that_nobody_knows_beforehand():
    """
    In the place that the prompt has for it, else behind the prompt; the payload and who somebody is stay here.
    """
    rules, asked, gaps = build_question("Is this safe? $ARGUMENTS Think.", json.dumps(EVENT).encode())
    mark = re.search(r"<(event-[0-9a-f]{16})>", rules)[1]

    begin, text, end = asked.partition(f"<{mark}>\n")[0], asked, asked.partition(f"</{mark}>")[2]
    told = json.loads(text.partition(f"<{mark}>\n")[2].partition(f"\n</{mark}>")[0])
    assert ("Is this safe? ", " Think.", []) == (begin, end, gaps)
    assert {"type": "before_tool_execute", "tool": {"name": "shell", "input": {"command": "rm -rf /"}}} == told
    assert build_question("p", b"{}")[0] != build_question("p", b"{}")[0]
    assert build_question("p", b"{}")[1].startswith("p\n\n<event-")


def test_nobody_is_named_by_fields_of_the_event():
    """
    A human's name as the actor of a prompt, and data that says who somebody is, stay here.
    """
    told = EVENT | {"actor": {"type": "user", "id": "dev@example.com", "name": "Dev"}, "data": {"user_email": "dev@example.com", "user_id": "Dev", "mode": "x"}}
    _, asked, _ = build_question("p", json.dumps(told).encode())
    assert "ev@" not in asked
    assert "Dev" not in asked
    assert '"actor":{"type":"user"},"data":{"mode":"x"}' in asked


def test_no_secret_is_sent():
    """
    Wherever it stands; a gap says which and where.
    """
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    told = EVENT | {"tool": {"name": "shell", "input": {"command": f"git push https://x:{secret}@github.com/a/b"}}}

    _, asked, gaps = build_question("p", json.dumps(told).encode())

    assert secret not in asked
    assert "git push" in asked
    assert [("$.tool.input.command", "masked")] == [(one.where, one.strategy) for one in gaps]


def test_half_an_event_is_never_judged():
    """
    What is too long to be sent is a failure, or whoever wants to hide something would make it long.
    """
    with pytest.raises(HookonceError, match="longer than"):
        build_question("p", json.dumps({"prompt": "x" * MAX_EVENT_CHARS}).encode())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"ok": true}', (None, None)),
        ('{"ok": true, "reason": "fine"}', (None, None)),
        ('{"ok": false, "reason": "no"}', ("deny", "no")),
        ('{"ok": false}', ("deny", "the model that was asked has given no reason")),
        ('```json\n{"ok": false, "reason": "no"}\n```', ("deny", "no")),
        ('{"decision": "ask", "reason": "look"}', ("ask", "look")),
        ('{"decision": "deny", "reason": "no"}', ("deny", "no")),
        ('{"decision": "allow"}', ("allow", None)),
    ],
)
def test_an_answer_says_whether_and_why(text, expected):
    """
    That nothing is wrong is no opinion, and no permission.
    """
    decision, gaps = parse_decision(text)

    assert (expected, []) == ((decision.outcome, decision.reason), gaps)


@pytest.mark.parametrize(
    "text",
    ["", "yes", "{}", "[]", "null", '{"ok": "false"}', '{"ok": 0}', '{"ok": null}', '{"decision": "block"}', '{"decision": 1}', '{"ok": true, "decision": "deny"}', '{"ok": false} and more', 'I think {"ok": true}', '{"ok": true', "```\n```", "[" * 100_000],
)
def test_anything_else_is_no_answer(text):
    """
    It is not guessed what a model might have meant.
    """
    assert (None, []) == parse_decision(text)


@given(st.text() | st.recursive(st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["ok", "decision", "reason", "updated_input", "context", "continue"]), inner)).map(json.dumps))
def test_whatever_a_model_says_it_rewrites_nothing_and_tells_the_agent_nothing(text):
    """
    Somebody else's text may have led it: a decision and its reason, and no more.
    """
    decision, _ = parse_decision(text)

    assert decision is None or decision == Decision(outcome=decision.outcome, reason=decision.reason)


def test_what_it_says_besides_is_named():
    """
    New input from a model does not count.
    """
    decision, gaps = parse_decision('{"decision": "deny", "reason": "r", "updated_input": {"command": "x"}, "context": "c"}')

    assert Decision(outcome="deny", reason="r") == decision
    assert ["other parts of the model's answer are ignored: context, updated_input"] == [one.note for one in gaps]


def test_a_command_of_the_user_s_is_asked(configured):
    """
    The rules and the question on its stdin; the model's name where it has a place for it.
    """
    configured('[models]\ncommand = "ask --model {model}"\nmodel = "small-1"\n')

    made = prompt.prepare_query(HANDLER, b"{}", WORLD)
    other = prompt.prepare_query(Handler(type="prompt", prompt="p", model="big/2:latest"), b"{}", WORLD)

    assert ("ask --model small-1", "small-1", WORLD) == (made.operation.command, made.model, made.operation.process_context)
    assert b"Is this safe? <event-" in made.operation.payload
    assert b"Answer with one JSON object" in made.operation.payload
    assert "ask --model big/2:latest" == other.operation.command
    with pytest.raises(HookonceError, match="no name of a model"):
        prompt.prepare_query(Handler(type="prompt", prompt="p", model="; rm -rf /"), b"{}", WORLD)
    with pytest.raises(HookonceError, match="no name of a model"):
        prompt.prepare_query(Handler(type="prompt", prompt="p", model="--dangerous"), b"{}", WORLD)


def test_a_command_that_chooses_the_model_itself_is_named(configured):
    """
    The hook's wish is not heard, and the record says so.
    """
    configured('[models]\ncommand = "ask"\n')

    made = prompt.prepare_query(Handler(type="prompt", prompt="p", model="big"), b"{}", WORLD)

    assert ("ask", None) == (made.operation.command, made.model)
    assert ["the configured command chooses the model; the hook would have big"] == [one.note for one in made.gaps]


def test_a_server_is_asked_in_openai_s_words(configured):
    """
    With the key from the agent's environment, which stands in no other place.
    """
    configured('[models]\nendpoint = "https://models.example/v1/"\nmodel = "small-1"\nkey_env = "KEY"\n')

    made = prompt.prepare_query(HANDLER, b"{}", WORLD).operation.request

    assert ("https", "models.example", 443, "/v1/chat/completions") == (*made.address, made.target)
    assert "Bearer k-123" == made.headers["Authorization"]
    told = json.loads(made.body)
    assert ("small-1", False, ["system", "user"]) == (told["model"], told["stream"], [one["role"] for one in told["messages"]])
    assert b"k-123" not in made.body
    with pytest.raises(HookonceError, match=r"KEY \(models.key_env\) is not set"):
        prompt.prepare_query(HANDLER, b"{}", ProcessContext(cwd="/", env={}))


def test_an_agent_is_a_command_with_tools_or_says_that_it_is_none(configured):
    """
    Its own command, else the one for models; at a server it runs as a prompt.
    """
    configured('[models]\nendpoint = "https://models.example/v1"\nmodel = "m"\nagent = "look"\n')
    assert "look" == prompt.prepare_query(AGENT_HANDLER, b"{}", WORLD).operation.command
    assert b"use the tools that you have" in prompt.prepare_query(AGENT_HANDLER, b"{}", WORLD).operation.payload
    configured('[models]\ncommand = "ask"\n')
    assert "ask" == prompt.prepare_query(AGENT_HANDLER, b"{}", WORLD).operation.command
    configured('[models]\nendpoint = "https://models.example/v1"\nmodel = "m"\n')
    (gap,) = prompt.prepare_query(AGENT_HANDLER, b"{}", WORLD).gaps
    assert "this agent runs as a prompt" in gap.note


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no language model is configured: config.toml needs"),
        ("[models]\n", "no language model is configured"),
        ('[models]\nmodel = "m"\n', "no language model is configured"),
        ('models = "gpt"\n', "a table of texts"),
        ("[models]\ncommand = 1\n", "a table of texts"),
        ('[models]\ncomand = "x"\n', "there is no setting models.comand"),
        ('[models]\ncommand = "x"\nendpoint = "https://e/v1"\n', "only one can be asked"),
        ('[models]\nendpoint = "https://e/v1"\nkey_env = "a b"\n', "the name of an environment variable"),
        ('[models]\nendpoint = "https://e/v1"\n', "neither the hook nor the setting models.model tells it"),
        ('[models]\nendpoint = "http://e/v1"\nmodel = "m"\n', "only https, or http to this machine itself"),
        ('[models]\ncommand = "ask {model}"\n', "neither the hook nor the setting models.model tells it"),
        ('[models]\nagent = "look"\n', "only hooks of type agent have a language model here"),
    ],
)
def test_what_is_missing_or_wrong_is_said(configured, text, why):
    """
    So that it can be put right.
    """
    configured(text)

    with pytest.raises(HookonceError, match=re.escape(why)):
        prompt.prepare_query(HANDLER, b"{}", WORLD)


def test_the_user_s_models_count_before_the_system_s(configured, tmp_path):
    """
    And a hook's own model before both.
    """
    put(tmp_path / "etc" / "config.toml", '[models]\ncommand = "theirs"\n')
    assert tmp_path / "etc" == settings.SYSTEM
    assert "theirs" == load_model_settings().command
    configured('[models]\ncommand = "mine"\nmodel = "m"\n')

    assert ("mine", "m", "other") == (load_model_settings().command, select_model(None, load_model_settings()), select_model("other", load_model_settings()))


def test_what_a_model_has_taken_is_known(configured, tmp_path):
    """
    Its name, its tokens and, where there is a price, what that has cost.
    """
    configured('[models]\nendpoint = "https://models.example/v1"\nmodel = "priced"\n')
    put(tmp_path / "home" / ".config" / "hookonce" / "prices.toml", "[priced]\ninput = 1\noutput = 10\n")
    asked = prompt.prepare_query(HANDLER, b"{}", WORLD)
    told = {"model": "priced", "choices": [{"message": {"content": '{"ok": true}'}}], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}}

    found = prompt.parse_model_result(asked, OperationResult(code=0, stdout=json.dumps(told).encode()))

    assert (Decision(), "priced", 300) == (found.decision, found.model, model_cost_micros(found))
    assert Usage(input_tokens=100, output_tokens=20, total_tokens=120) == found.usage


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": {"content": null}}]}', b"<html>", b'{"error": {"message": "quota"}}'])
def test_a_server_without_a_message_has_failed(configured, body):
    """
    Whatever else it says.
    """
    configured('[models]\nendpoint = "https://models.example/v1"\nmodel = "m"\n')

    found = prompt.parse_model_result(prompt.prepare_query(HANDLER, b"{}", WORLD), OperationResult(code=0, stdout=body))

    assert (None, "the model's server answered without a message") == (found.decision, found.result.failure)


@pytest.mark.parametrize("code", [1, 2, 127])
def test_a_command_that_ends_badly_refuses_nothing(configured, code):
    """
    2 is a refusal of a hook; of a program that asks models it is a mistake.
    """
    configured('[models]\ncommand = "ask"\n')

    found = prompt.parse_model_result(prompt.prepare_query(HANDLER, b"{}", WORLD), OperationResult(code=code, stdout=b'{"ok": false}'))

    assert (None, None, f"the command for models ended with exit code {code}") == (found.decision, found.result.code, found.result.failure)

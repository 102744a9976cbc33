"""Hooks that are asked elsewhere: at a server, and of a language model."""

import json
import shlex
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookonce.dispatch.prepare import digest_content
from hookonce.dispatch.run import CallerContext, run_hooks
from hookonce.dispatch.select import SelectedHook
from hookonce.inspect.summary import find_hook_source
from hookonce.model import Decision, Gap, Handler, Hook
from hookonce.secrets import log
from tests.dispatch.pipeline_cases import PLAIN, ask, asked
from tests.handlers.processes import eventually
from tests.handlers.servers import DENY, WAYS, answer, model, server
from tests.manifest.projects import house, put
from tests.shared import ROOT

CLAUDE = {"session_id": "s", "transcript_path": "/h/.claude/x", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push"}, "tool_use_id": "t1"}
NO = '{"ok": false, "reason": "not on a Friday"}'
USAGE = {"prompt_tokens": 200, "completion_tokens": 10, "total_tokens": 210}


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """A home that nobody has used."""
    return house(monkeypatch, tmp_path)


@pytest.fixture
def configured(home):
    """Settings of a user."""
    return lambda text: put(home / ".config" / "hookonce" / "config.toml", f"[models]\n{text}\n")


@pytest.fixture(scope="module")
def there():
    """A server with all its ways."""
    with server(WAYS | {"/allow": answer({"decision": "allow"}), "/claude": answer({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "r"}}), "/rewrite": answer({"updated_input": {"command": "ls"}})}) as one:
        yield one


def hook(may_allow=False, **handler):
    """A hook that is no command."""
    more = {key: handler.pop(key) for key in ("on_failure", "dialect", "blocking", "event") if key in handler}
    kept = {"name": "guard", "event": "before_tool_execute", "blocking": True} | more
    return SelectedHook(hook=Hook(handler=Handler(**{"type": "http", "timeout": 5} | handler), **kept), scope="user", folder="/", may_allow=may_allow)


def told(one, seconds=30, **options):
    """What is heard of one such hook, and the record of it."""
    heard, record = ask(asked("claude-code", "PreToolUse", CLAUDE), [hook(**options) if one is None else one], seconds=seconds)
    return heard, record


@pytest.mark.covers("HIF-10")
def test_a_server_s_answer_is_a_decision_like_any_other(there):
    """
    Refusals and new input count, an allow only with the right to it; the event is what a command would get.
    """
    heard, record = told(None, url=there.url("/deny"))
    assert ("deny", "the server says no") == (heard.outcome, heard.reason)
    assert ("guard", 0, None) == (record.runs[0].hook, record.runs[0].exit, record.runs[0].failure)
    sent = json.loads(there.heard[-1][3])
    assert ("before_tool_execute", "git push", "guard") == (sent["type"], sent["tool"]["input"]["command"], sent["hook"]["name"])

    assert {"command": "ls"} == told(None, url=there.url("/rewrite"))[0].updated_input
    assert None is told(None, url=there.url("/allow"))[0].outcome
    assert "allow" == told(None, url=there.url("/allow"), may_allow=True)[0].outcome
    assert Decision() == told(None, url=there.url("/none"))[0]


def test_a_server_may_speak_an_agent_s_words(there):
    """
    It gets that agent's payload, and answers as that agent's hooks do.
    """
    heard, _ = told(None, url=there.url("/claude"), dialect="claude-code")

    assert ("deny", "r", CLAUDE) == (heard.outcome, heard.reason, json.loads(there.heard[-1][3]))


def test_a_server_that_only_looks_on_may_answer_what_it_likes(there):
    """
    It is told in an open format, and decides nothing.
    """
    heard, record = told(None, url=there.url("/html"), dialect="openhook")

    assert (Decision(), None) == (heard, record.runs[0].failure)
    assert "source" in json.loads(there.heard[-1][3])


@pytest.mark.part(4)
@pytest.mark.parametrize("path", [*(path for path in WAYS if path not in {"/deny", "/chunked", "/plain-end", "/continue", "/here", "/none", "/empty", "/floods-in-chunks", "/hangs-behind-headers", "/drips-headers"})])
def test_a_server_that_misbehaves_ends_by_the_hook_s_fail_mode(there, path):
    """
    Open: as if it were not there. Closed: refused.
    """
    hangs = path in {"/hangs", "/drips"}
    once = hook(url=there.url(path), timeout=0.3 if hangs else 5)
    closed = replace(once, hook=replace(once.hook, on_failure="closed"))

    heard, record = ask(asked("claude-code", "PreToolUse", CLAUDE), [once])
    refused, other = ask(asked("claude-code", "PreToolUse", CLAUDE), [closed])

    assert (Decision(), None) == (heard, record.runs[0].outcome)
    assert "deny" == refused.outcome
    assert record.runs[0].failure == other.runs[0].failure
    assert (record.runs[0].failure == "timeout") == hangs
    assert record.runs[0].failure in log.paths.log_path().read_text(encoding="utf-8")


def test_no_time_is_left_for_a_server_whose_turn_never_came(there):
    """
    The budget is that of all hooks together.
    """
    before = len(there.heard)
    heard, record = told(None, seconds=-1, url=there.url("/deny"), on_failure="closed")

    assert ("deny", "timeout", before) == (heard.outcome, record.runs[0].failure, len(there.heard))


@pytest.mark.covers("HIF-106")
def test_a_server_that_must_not_be_called_is_not():
    """
    The reason stands in the record.
    """
    _, record = told(None, url="http://example.com/")

    assert "http://example.com/ is not called: only https" in record.runs[0].failure


def test_a_hook_whose_server_nobody_waits_for_is_sent_all_the_same():
    """
    Its answer changes nothing.
    """
    with server({"/": answer(DENY)}) as one:
        heard, record = told(None, url=one.url(), background=True)
        assert (Decision(), None) == (heard, record.runs[0].failure)
        assert eventually(lambda: one.heard)
        assert eventually(lambda: "async hook ended (exit code 0)" in log.paths.log_path().read_text(encoding="utf-8"))


def test_what_ran_is_known_again_by_everything_that_it_says(there, home):
    """
    Another header is another hook; the record holds a digest only.
    """
    once = hook(url=there.url("/deny"), headers={"X-Team": "a"})
    put(home / ".config/hookonce/hooks.json", {"spec": "hooks/1.0", "hooks": [{"name": "guard", "event": "before_tool_execute", "blocking": True, "handler": {"type": "http", "timeout": 5, "url": there.url("/deny"), "headers": {"X-Team": "a"}}}]})
    _, record = told(once)

    assert sha256(digest_content(once)).hexdigest() == record.runs[0].digest
    assert f"POST {there.url('/deny')}" == find_hook_source(record.runs[0], Path("/")).command
    other = told(None, url=there.url("/deny"), headers={"X-Team": "b"})[1]
    assert None is find_hook_source(other.runs[0], Path("/"))


@pytest.mark.covers("HIF-10")
@pytest.mark.parametrize("kind", ["prompt", "agent"])
def test_a_model_at_a_server_judges_an_event(configured, kind):
    """
    The record holds the model, its tokens and the cost; an agent without a command is a prompt, and says so.
    """
    with server({"/v1/chat/completions": model(NO, USAGE, "gpt-4.1-mini")}) as one:
        configured(f'endpoint = "{one.url("/v1")}"\nmodel = "gpt-4.1-mini"')
        heard, record = told(None, type=kind, prompt="Refuse pushes on Fridays.")

    run = record.runs[0]
    assert ("deny", "not on a Friday", None) == (heard.outcome, heard.reason, run.failure)
    assert ("gpt-4.1-mini", 200, 10) == (run.model, run.usage.input_tokens, run.usage.output_tokens)
    assert run.cost_micros is None or run.cost_micros > 0
    asked_of = json.loads(one.heard[0][3])["messages"]
    assert "Refuse pushes on Fridays." in asked_of[1]["content"]
    assert "git push" in asked_of[1]["content"]
    assert (kind == "agent") == any("runs as a prompt" in gap.note for gap in record.gaps)


@pytest.mark.parametrize("kind", ["prompt", "agent"])
def test_a_model_behind_a_command_judges_an_event(configured, tmp_path, kind):
    """
    The question is on its stdin, and its answer on its stdout.
    """
    put(tmp_path / "ask.py", f"import sys\nopen({str(tmp_path / 'asked')!r}, 'w').write(sys.stdin.read())\nprint({NO!r})\n")
    configured(f"command = '{sys.executable} -I -S {tmp_path}/ask.py {{model}}'\nmodel = \"small\"")

    heard, record = told(None, type=kind, prompt="Refuse pushes on Fridays.")

    assert ("deny", "not on a Friday", "small") == (heard.outcome, heard.reason, record.runs[0].model)
    assert "Refuse pushes on Fridays." in (tmp_path / "asked").read_text()


@pytest.mark.parametrize("dialect", [None, "cursor", "openhook"])
@pytest.mark.parametrize("kind", ["prompt", "agent"])
def test_a_model_is_not_told_who_somebody_is(configured, monkeypatch, tmp_path, kind, dialect):
    """
    Neither by the question, in whatever dialect the hook is, nor by variables of the call; its key stays.
    """
    configured(f"command = 'cat > {tmp_path}/asked; env > {tmp_path}/env; echo {{}}'\nkey_env = \"MODEL_EMAIL\"")
    variables = {"CURSOR_USER_EMAIL": "dev@example.com", "USER_PROMPT": "secretly", "CLAUDE_TOOL_INPUT": "{}", "TEAM": "x", "MODEL_EMAIL": "k-1"}
    monkeypatch.setattr("tests.dispatch.pipeline_cases.PLAIN", PLAIN | variables)
    payload = json.loads((ROOT / "tests/golden/cursor/beforeShellExecution.json").read_text())["payload"]
    ask(asked("cursor", "beforeShellExecution", payload), [hook(type=kind, prompt="is this safe?", dialect=dialect)])

    question, env = (tmp_path / "asked").read_text(), (tmp_path / "env").read_text()
    assert payload["command"] in question
    assert payload["user_email"] == "dev@example.com"
    assert "dev@example.com" not in question + env
    assert "secretly" not in env
    assert {"TEAM=x", "MODEL_EMAIL=k-1"} <= {*env.splitlines()}
    assert not {"CLAUDE_TOOL_INPUT", "USER_PROMPT"} & {line.partition("=")[0] for line in env.splitlines()}


def test_a_model_that_has_nothing_against_it_allows_nothing(configured):
    """
    An explicit allow counts with the right to it only.
    """
    for text, may, expected in [('{"ok": true}', True, None), ('{"decision": "allow"}', False, None), ('{"decision": "allow"}', True, "allow"), ('{"decision": "ask", "reason": "r"}', False, "ask")]:
        configured(f"command = {json.dumps('cat > /dev/null; echo ' + shlex.quote(text))}")
        heard, record = told(None, type="prompt", prompt="p", may_allow=may)
        assert (expected, None) == (heard.outcome, record.runs[0].failure)


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("settings", "failure"),
    [
        ("command = 'cat > /dev/null; echo maybe'", "the model's answer is not a decision"),
        ("command = 'exit 2'", "the command for models ended with exit code 2"),
        ("command = 'sleep 600'", "timeout"),
        ("command = 'yes'", "timeout"),
        ("model = 'm'", "not started: no language model is configured"),
        ("endpoint = '{url}/500'\nmodel = 'm'", "the server answered with 500"),
        ("endpoint = '{url}/hangs'\nmodel = 'm'", "timeout"),
        ("endpoint = '{url}/floods'\nmodel = 'm'", "the answer is longer than 1,048,576 bytes"),
        ("endpoint = '{url}/elsewhere'\nmodel = 'm'", "the server redirects to another host"),
        ("endpoint = '{url}/garbage'\nmodel = 'm'", "the model's server answered without a message"),
        ("endpoint = '{url}/prose'\nmodel = 'm'", "the model's answer is not a decision"),
        ("endpoint = 'http://127.0.0.1:1/v1'\nmodel = 'm'", "127.0.0.1 cannot be reached at port 1"),
        ("endpoint = '{url}/500'\nmodel = 'm'\nkey_env = 'NO_SUCH_KEY'", "not started: NO_SUCH_KEY (models.key_env) is not set"),
    ],
)
def test_a_model_that_cannot_be_asked_ends_by_the_hook_s_fail_mode(configured, settings, failure):
    """
    Whatever it is that stands in the way, in time, and by name.
    """
    ways = {f"{path}/chat/completions": way for path, way in WAYS.items()} | {"/prose/chat/completions": model("I would rather not.")}
    with server(ways) as one:
        configured(settings.replace("{url}", one.url("")))
        patience = 0.4 if failure == "timeout" else 20
        heard, record = told(None, type="prompt", prompt="p", timeout=patience)
        refused, _ = told(None, type="prompt", prompt="p", timeout=patience, on_failure="closed")

    assert (Decision(), "deny") == (heard, refused.outcome)
    assert record.runs[0].failure.startswith(failure)


def test_below_another_hook_no_model_is_asked(configured):
    """
    An agent that judges would be judged by an agent.
    """
    configured("command = 'exit 1'")
    caller = CallerContext(environment=PLAIN, cwd="/", depth=1)

    (one,) = run_hooks([hook(type="prompt", prompt="p")], asked("claude-code", "PreToolUse", CLAUDE).event, caller, 1e18)

    assert (Decision(), None) == (one.decision, one.run.failure)
    assert [Gap(where="$.runs", capability="handler", strategy="exclude", effect="observes", note="guard has a handler that does not run inside another hook")] == one.gaps

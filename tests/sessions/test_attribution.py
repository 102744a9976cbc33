"""Attribution of live events: a setting, what the agent tells, or a pseudonym of the account; never an address by itself."""

import json
import re

import pytest

from hookonce.base import settings
from hookonce.base.jsontext import dump
from hookonce.dispatch.dispatcher import answer_call
from hookonce.formats import load
from hookonce.model import Record, User
from hookonce.sessions.attribution import user_of
from hookonce.sessions.stored_records import redact_record
from hookonce.store.integrity import keys
from hookonce.store.spool.files import load_records
from tests.cli.command import PAYLOAD, lines, run
from tests.dispatch.event_factory import event
from tests.dispatch.pipeline_cases import PLAIN, ask, asked, hook, said
from tests.manifest.projects import command, house, manifest, put

CLAUDE = {"session_id": "s", "transcript_path": "/h/.claude/x", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "p"}
CURSOR = {"conversation_id": "c", "generation_id": "g", "cursor_version": "1.7", "hook_event_name": "beforeSubmitPrompt", "prompt": "p", "user_email": "bob@example.com", "workspace_roots": ["/w"]}
CLINE = {"hookName": "TaskStart", "clineVersion": "3", "taskId": "t", "userId": "bob", "timestamp": "1", "taskStart": {"taskMetadata": {}}}
PSEUDONYM = re.compile(r"user:[0-9a-f]{16}")


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """A home that nobody has used."""
    return house(monkeypatch, tmp_path)


def configure(folder, text):
    """Settings of a user, or of the machine."""
    put(folder / "config.toml", text)
    settings._cache.clear()


def recorded(agent, native, payload):
    """The user in the record of a live call."""
    answer_call([agent, native], json.dumps(payload).encode(), dict(PLAIN))
    (record,) = [one for one in load_records() if one.event.agent == agent]
    return record.event.user


@pytest.mark.covers("AH-9", "AH-X11")
@pytest.mark.parametrize(("agent", "native", "payload"), [("claude-code", "UserPromptSubmit", CLAUDE), ("cursor", "beforeSubmitPrompt", CURSOR), ("cline", "TaskStart", CLINE)])
def test_a_live_event_has_a_pseudonym(agent, native, payload):
    """
    Of the account, or of whom the agent names: keyed, the same each time, and without an address.
    """
    user = recorded(agent, native, payload)

    assert PSEUDONYM.fullmatch(user.id)
    assert user == recorded_again(agent, native, payload)
    account = user_of(event(), "minimal", keys.load_digest_key(), None)
    assert (agent == "claude-code") == (user == account)


def recorded_again(agent, native, payload):
    return redact_record(Record(event=asked(agent, native, payload).event)).event.user


def test_another_machine_gives_another_pseudonym():
    one, other = (user_of(event(), "minimal", bytes([number]) * 32, None) for number in (1, 2))

    assert one != other


def test_agents_that_know_nobody_name_nobody():
    """
    Cline says `unknown`, Cursor null: the account counts.
    """
    account = user_of(event(), "minimal", keys.load_digest_key(), None)

    assert account == recorded_again("cline", "TaskStart", CLINE | {"userId": "unknown"})
    assert account == recorded_again("cursor", "beforeSubmitPrompt", CURSOR | {"user_email": None})


@pytest.mark.covers("AH-9")
@pytest.mark.parametrize("name", ["u-4711", "alice@corp.example"])
def test_a_setting_names_whom_it_likes(name, home):
    """
    Also an address: it is the user who says so. It wins over what an agent tells.
    """
    configure(home / ".config" / "hookonce", f'user = "{name}"')

    assert User(id=name) == recorded_again("claude-code", "UserPromptSubmit", CLAUDE)
    assert User(id=name) == recorded_again("cursor", "beforeSubmitPrompt", CURSOR)
    assert name in told("agent-hooks")


def test_the_machine_s_owner_may_name_somebody_and_the_user_s_own_word_counts_first(home):
    configure(settings.SYSTEM, 'user = "of the machine"')
    assert "of the machine" == recorded_again("claude-code", "UserPromptSubmit", CLAUDE).id
    configure(home / ".config" / "hookonce", 'user = "mine"')
    assert "mine" == recorded_again("claude-code", "UserPromptSubmit", CLAUDE).id


@pytest.mark.parametrize("value", ['""', "7", "[]"])
def test_a_setting_that_names_nobody_is_told(value, home):
    """
    The pseudonym counts, and doctor has something to say.
    """
    configure(home / ".config" / "hookonce", f"user = {value}")

    assert PSEUDONYM.fullmatch(recorded_again("claude-code", "UserPromptSubmit", CLAUDE).id)
    with pytest.raises(Exception, match="a text that names you"):
        settings.load().require("user")


def told(dialect, **more):
    """What a hook is told."""
    heard = []
    ask(asked("cursor", "beforeSubmitPrompt", CURSOR), [hook(event="before_prompt", dialect=dialect, **more)], lambda _, stdin, *__: heard.append(stdin.decode()) or said())
    return heard[0]


@pytest.mark.covers("AH-9", "AH-53")
@pytest.mark.parametrize("privacy", [None, "standard", "full"])
def test_hooks_are_told_who_it_was_in_each_format_that_has_a_place(privacy):
    pseudonym = user_of(asked("cursor", "beforeSubmitPrompt", CURSOR).event, "minimal", keys.load_digest_key(), None).id

    assert pseudonym == json.loads(told("agent-hooks", privacy=privacy))["user"]["id"]
    assert pseudonym == json.loads(told("cloudevents", privacy=privacy))["data"]["event"]["user"]["id"]
    (log,) = json.loads(told("otel", privacy=privacy))["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    assert {"key": "user.id", "value": {"stringValue": pseudonym}} in log["attributes"]
    assert pseudonym == json.loads(told("ocsf", privacy=privacy))["actor"]["user"]["uid"]
    for dialect in ("openhook", "amplifier"):
        assert pseudonym not in told(dialect, privacy=privacy)


def test_a_hook_that_judges_is_told_too():
    assert PSEUDONYM.fullmatch(json.loads(told(None))["user"]["id"])


@pytest.mark.parametrize(("name", "kept"), [("user:0123456789abcdef", True), ("bob@example.com", False), ("bob", False)])
def test_of_somebody_else_s_event_a_pseudonym_stays_and_a_name_becomes_one(name, kept):
    """
    At full the event is as it was.
    """
    one = event(agent="mine", user=User(id=name))

    assert kept == (user_of(one, "minimal", b"k" * 32, None) == one.user)
    assert PSEUDONYM.fullmatch(user_of(one, "minimal", b"k" * 32, None).id)
    assert one.user == user_of(one, "full", b"k" * 32, None)


@pytest.mark.covers("AH-X11")
def test_translate_names_nobody_by_itself(home):
    """
    Neither the account, the setting nor what the payload tells; --user does.
    """
    configure(home / ".config" / "hookonce", 'user = "u-4711"')
    nobody = run("translate", "--to", "agent-hooks", given=lines(PAYLOAD, CURSOR), HOME=str(home))
    somebody = run("translate", "--to", "agent-hooks", "--user", "u-1", given=lines(PAYLOAD), HOME=str(home))

    assert "user" not in nobody.documents()[0] | nobody.documents()[1]
    assert {"id": "u-1"} == somebody.documents()[0]["user"]


def test_the_answer_to_an_agent_is_the_same(home):
    """
    Whoever is named, an agent hears no other byte.
    """
    put(home / ".config" / "hookonce" / "hooks.json", manifest(command("echo '{}'", "before_prompt")))
    answers = [answer_call(["cursor", "beforeSubmitPrompt"], json.dumps(CURSOR).encode(), dict(PLAIN))]
    configure(home / ".config" / "hookonce", 'user = "u-4711"')
    answers.append(answer_call(["cursor", "beforeSubmitPrompt"], json.dumps(CURSOR).encode(), dict(PLAIN)))

    assert answers[0] == answers[1]


@pytest.mark.covers("AH-9", "AH-51")
def test_what_is_taken_out_of_the_record_says_who_it_was(home, tmp_path):
    """
    Signed or not, at minimal; another machine that imports it keeps the pseudonym, and no name.
    """
    answer_call(["cursor", "beforeSubmitPrompt"], json.dumps(CURSOR).encode(), dict(PLAIN))
    done = run("events", "--format", "agent-hooks", "--type", "before_prompt", "--sign", HOME=str(home))
    (document,) = done.documents()
    assert PSEUDONYM.fullmatch(document["user"]["id"])
    assert "1 document signed by this machine" in run("check", given=done.out.encode(), HOME=str(home)).out

    stranger = document | {"event_id": "0198f3a0-0000-7000-8000-000000000001", "user": {"id": "bob@example.com"}, "metadata": {}}
    (tmp_path / "other").mkdir()
    run("events", "import", given=done.out.encode() + json.dumps(stranger).encode(), HOME=str(tmp_path / "other"))
    records = run("events", "--json", HOME=str(tmp_path / "other")).documents()
    assert [document["user"], None] == [record["event"].get("user") for record in records]


def test_only_documents_of_a_format_are_signed(home):
    assert (64, 64) == (run("events", "--sign", HOME=str(home)).code, run("events", "--sign", "--format", "canonical", HOME=str(home)).code)


@pytest.mark.covers("AH-63")
def test_an_event_of_a_file_write_names_its_trace_record():
    """
    The id is that of the Agent Trace record that is written of the same event.
    """
    payload = {"session_id": "s", "transcript_path": "/h/.claude/x", "cwd": "/w", "hook_event_name": "PostToolUse", "tool_use_id": "t", "tool_name": "Write", "tool_input": {"file_path": "/w/a.py", "content": "x\n"}, "tool_response": {"type": "create"}}
    record = redact_record(Record(event=asked("claude-code", "PostToolUse", payload).event))
    (trace,), (document, *_) = load("agent-trace").write(record), load("agent-hooks").write(record)

    assert trace["id"] == document["metadata"]["trace_record_id"]
    read = load("agent-hooks").read(json.loads(dump(document)))
    assert trace["id"] == load("agent-hooks").write(read)[0]["metadata"]["trace_record_id"]
    shell = redact_record(Record(event=asked("claude-code", "PreToolUse", CLAUDE | {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}).event))
    assert "trace_record_id" not in load("agent-hooks").write(shell)[0]["metadata"]


def test_the_account_is_looked_up_once(monkeypatch):
    """
    A pseudonym costs a call the look into a table.
    """
    key = keys.load_digest_key()
    first = user_of(event(), "minimal", key, None)
    monkeypatch.setattr("hookonce.sessions.attribution.hmac", None)

    assert first is user_of(event(), "minimal", key, None)

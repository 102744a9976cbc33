"""The legacy profile of OpenHook guesses as the makers' libraries do; nobody gets it without asking."""

import json

import pytest
from msgspec import to_builtins

from hookonce.base.json_stream import StreamLine
from hookonce.dispatch.identification import identify
from hookonce.translation.pipeline import LineFault, Translation, TranslationPlan
from tests.formats.openhook.material import END, ID, OPENHOOK, found, run
from tests.shared import ABSENT, captures

LEGACY = OPENHOOK.readers["legacy"]
CLAUDE = {"sessionId": "s-1", "transcriptPath": "/h/.claude/t.jsonl", "cwd": "/p q", "tool_name": "Bash"}


def read(received=None, **payload):
    return LEGACY(payload, ID, received)


@pytest.mark.covers("OH-52")
def test_a_legacy_payload_is_kept_whole():
    """
    The payload stays in native to the last key, and is written whole when privacy allows it.
    """
    payload = CLAUDE | {"nested": {"list": [1, None, "ü"]}, "": 0}
    record = LEGACY(payload, ID, None)
    made = run("translate", "--from", "openhook@legacy", "--to", "openhook", "--privacy", "full", given=json.dumps(payload))

    assert payload == record.event.native
    assert payload == json.loads(made.stdout)["extensions"]["dev.hookonce"]["native"]
    assert record.event == OPENHOOK.read(to_builtins(OPENHOOK.write(record))[0]).event


@pytest.mark.covers("OH-52")
@pytest.mark.parametrize(
    ("cwd", "context"),
    [
        ("/home/dev/p", "file:///home/dev/p"),
        ("/a b", "file:///a%20b"),
        ("C:\\w", "file:///C:/w"),
        ("file:///home/dev/p", "file:///home/dev/p"),
        ("vscode-remote://host/p", "vscode-remote://host/p"),
        (None, None),
        (5, None),
    ],
)
def test_a_legacy_cwd_becomes_a_uri(cwd, context):
    """
    The working directory is written as a context URI; what is a URI already stays one.
    """
    (document,) = OPENHOOK.write(read(sessionId="s", cwd=cwd))

    assert context == document.get("context")
    assert ([], []) == found(to_builtins(document), strict=True)


@pytest.mark.covers("OH-53")
def test_session_keys_have_an_order():
    """
    The first of six session keys that is there wins, the nested one last; none of them is no session.
    """
    keys = ["sessionId", "session_id", "conversation_id", "taskId", "thread-id"]
    values = {key: f"by {key}" for key in keys} | {"session": {"id": "by session.id"}}
    for key in keys:
        assert f"by {key}" == read(**values).event.session
        del values[key]

    assert "by session.id" == read(**values).event.session
    assert [None, None, "7"] == [read(**given).event.session for given in ({}, {"session": "x"}, {"taskId": 7})]


@pytest.mark.covers("OH-53")
def test_transcript_keys_have_an_order():
    """
    The first of three transcript keys that is there wins, the nested one last.
    """
    values = {"transcriptPath": "/1", "transcript_path": "/2", "transcript": {"path": "/3"}}
    for expected, key in (("/1", "transcriptPath"), ("/2", "transcript_path"), ("/3", "transcript")):
        record = read(**values)
        assert expected == record.event.data["transcript_path"]
        assert expected == OPENHOOK.write(record)[0]["data"]["transcript_path"]
        del values[key]

    assert {} == read(**values).event.data


@pytest.mark.covers("OH-54")
def test_sources_are_guessed_in_an_order():
    """
    source_tool names the source; else the first telling key decides; else it is unknown.
    """
    keys = {
        "source_tool": "opencode",
        "conversation_id": "cursor",
        "taskId": "cline",
        "thread-id": "codex",
        "hook_event_name": "copilot-cli",
        "sessionId": "claude-code",
        "transcriptPath": "claude-code",
    }
    payload = dict.fromkeys(keys, "opencode")
    for key, agent in keys.items():
        assert agent == read(**payload).event.agent
        del payload[key]

    assert "unknown" == read(**payload).event.agent
    assert "claude-code" == read(transcriptPath="/t").event.agent


@pytest.mark.covers("OH-55")
@pytest.mark.parametrize(
    ("named", "kind", "guessed"),
    [
        ("userPromptSubmitted", "prompt.submit", False),
        ("userPromptSubmit", "prompt.submit", False),
        ("preToolUse", "tool.start", False),
        ("postToolUse", "tool.end", False),
        ("sessionEnd", "session.end", False),
        ("stop", "session.end", False),
        ("PreToolUse", "session.end", True),
        ("Notification", "session.end", True),
        (None, "session.end", True),
        (7, "session.end", True),
    ],
)
def test_anything_else_ends_the_session(named, kind, guessed):
    """
    Six names have a type, every other event is a session.end, and that guess is named.
    """
    record = read(source_tool="x", hook_event_name=named, tool_name="Bash")
    (document,) = OPENHOOK.write(record)

    assert (kind, "x") == (document["type"], document["source"])
    assert guessed == any("was taken for session.end" in gap.note for gap in record.gaps)
    assert kind.startswith("tool.") == (document.get("data") == {"tool_name": "Bash"})


@pytest.mark.covers("OH-54", "OH-55")
def test_the_profile_must_be_asked_for():
    """
    Without its name no payload is guessed at: who it is stays open, or is known for what it really is.
    """
    given = json.dumps({"hook_event_name": "somethingElse", "session_id": "s"})
    asked = run("translate", "--from", "openhook@legacy", "--to", "openhook", given=given)
    plain = run("translate", "--from", "openhook", "--to", "openhook", given=given)
    alone = run("translate", "--to", "openhook", given=given)
    wrong = run("translate", "--from", "openhook@newest", "--to", "openhook", given=given)

    assert (0, "session.end") == (asked.returncode, json.loads(asked.stdout)["type"])
    assert "somethingElse was taken for session.end" in asked.stderr
    assert [(1, ""), (1, "")] == [(one.returncode, one.stdout) for one in (plain, alone)]
    assert (64, "") == (wrong.returncode, wrong.stdout)
    assert "openhook" != identify(json.loads(given)).name


def test_an_envelope_is_no_legacy_payload():
    """
    What has the key openhook is read as what it says, also under the profile.
    """
    assert OPENHOOK.read(END | {"taskId": "t"}) == LEGACY(END | {"taskId": "t"}, "other", None)


def test_ids_and_times_come_from_the_stream():
    """
    Equal payloads get ids of their own, the same on every run if asked to, and the time is that of receipt or none.
    """
    plan = TranslationPlan(source=OPENHOOK, profile="legacy", target=OPENHOOK, received="2026-02-23T10:15:30Z", stable_ids=True)
    lines = [StreamLine(number, json.dumps(CLAUDE).encode()) for number in (1, 2)]
    first, second = ([made[0] for made in map(Translation(plan).translate_line, lines)] for _ in range(2))

    assert first == second
    assert first[0]["id"] != first[1]["id"]
    assert {"2026-02-23T10:15:30Z"} == {document["time"] for document in first}
    assert ("1970-01-01T00:00:00Z", "none") == (read().event.time, read().event.time_source)


def test_real_payloads_show_why_it_is_no_default():
    """
    Every recorded payload is taken, and more than half of them become the end of a session.
    """
    lines = [StreamLine(number, file.read_bytes()) for number, (_, _, file) in enumerate(captures(), 1)]
    if not lines:
        pytest.skip(ABSENT)
    made = list(map(Translation(TranslationPlan(source=OPENHOOK, profile="legacy", target=OPENHOOK)).translate_line, lines))

    assert [] == [fault for fault in made if isinstance(fault, LineFault)]
    assert [] == [document for (document,) in made if found(to_builtins(document), strict=True) != ([], [])]
    assert sum(document["type"] == "session.end" for (document,) in made) > len(made) / 2

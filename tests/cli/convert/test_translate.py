"""hookonce translate, as a user runs it."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from hookonce import agents, formats
from hookonce.base import times
from hookonce.demo.replay import list_recordings as bundled
from tests.cli.command import PAYLOAD, lines, recorded, run, tagged

GEMINI = {"session_id": "g", "hook_event_name": "BeforeModel", "llm_request": {"model": "m"}, "timestamp": "2026-01-02T03:04:05Z"}
COPILOT = {"sessionId": "c", "timestamp": 1794705505395, "cwd": "/p", "prompt": "go on"}
OPENHOOK = {"openhook": "0.1", "id": "e1", "source": "codex", "type": "session.end", "time": "2026-01-01T00:00:00Z", "session_id": "o", "data": {}}


@pytest.mark.part(2)
@pytest.mark.parametrize("name", list(formats.FORMATS))
def test_every_format_can_be_written(name):
    """
    A recorded session becomes documents that `check --strict` finds nothing wrong with.
    """
    written = run("translate", "--from", "gemini-cli", "--to", name, given=lines(*recorded("gemini-cli")))
    assert (0, True) == (written.code, bool(written.out))

    checked = run("check", "--strict", "--json", given=written.out.encode())

    verdict = checked.documents()[0]
    assert (0, name, []) == (checked.code, verdict["kind"], verdict["problems"])


def test_a_stream_may_mix_agents_and_formats():
    """
    Without --from each line is identified by itself: all bundled sessions and an event pass in one stream.
    """
    given = [payload for agent in bundled() for payload in recorded(agent)[:2]]

    ran = run("translate", "--to", "canonical", given=lines(*given, OPENHOOK, GEMINI, COPILOT))

    assert (0, "") == (ran.code, ran.err)
    expected = [agent for agent in bundled() for _ in range(2)] + ["codex", "gemini-cli", "copilot-cli"]
    assert expected == [record["event"]["agent"] for record in ran.documents()]


def test_a_payload_of_nobody_in_particular_needs_a_name():
    """
    Where nothing tells the agent the line is refused with candidates and the way out.
    """
    bare = {"hook_event_name": "PreToolUse", "session_id": "s"}
    ran = run("translate", "--to", "openhook", given=lines(bare))
    named = run("translate", "--to", "openhook", "--from", "claude-code", given=lines(bare))

    assert (1, "") == (ran.code, ran.out)
    assert "it may be " in ran.err
    assert "--from" in ran.err
    assert (0, "tool.start") == (named.code, named.documents()[0]["type"])


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "given",
    [
        json.dumps(PAYLOAD),
        json.dumps(PAYLOAD) + "\n",
        json.dumps(PAYLOAD, indent=2),
        json.dumps(PAYLOAD, indent=2) + "\n\n",
        "\n\n" + json.dumps(PAYLOAD) + "\r\n\r\n",
        "\ufeff" + json.dumps(PAYLOAD) + "\n",
        "\ufeff" + json.dumps(PAYLOAD, indent=4).replace("\n", "\r\n"),
    ],
    ids=["bare", "line", "pretty", "pretty, blank end", "CRLF and blank lines", "mark", "mark, pretty, CRLF"],
)
@pytest.mark.parametrize("through", ["stdin", "file", "dash"])
def test_one_document_in_every_dress(given, through, tmp_path):
    """
    One document is read from a line, pretty-printed, with a byte order mark or Windows line ends, from file and stdin.
    """
    file = tmp_path / "payload.json"
    file.write_bytes(given.encode())
    words, stdin = {"stdin": ((), given), "file": ((file,), ""), "dash": (("-",), given)}[through]

    ran = run("translate", "--to", "openhook", *words, given=stdin.encode())

    assert (0, "", ["s1"]) == (ran.code, ran.err, [event["session_id"] for event in ran.documents()])


def test_several_files_are_one_stream(tmp_path):
    """
    Files are read in turn, and ids stay different from one to the next.
    """
    file = tmp_path / "a.jsonl"
    file.write_bytes(lines(PAYLOAD))

    ran = run("translate", "--to", "openhook", file, "-", file, given=lines(tagged(2)))

    assert (0, ["s1", "s2", "s1"]) == (ran.code, [event["session_id"] for event in ran.documents()])
    assert 3 == len({event["id"] for event in ran.documents()})


@pytest.mark.parametrize(("policy", "sessions"), [("skip", ["s1", "s1"]), ("stop", ["s1"])])
def test_a_missing_file_is_like_a_bad_line(policy, sessions, tmp_path):
    """
    A missing file and a directory are named; --on-error says whether the next file is read.
    """
    file = tmp_path / "a.jsonl"
    file.write_bytes(lines(PAYLOAD))

    ran = run("translate", "--to", "openhook", "--on-error", policy, file, tmp_path / "none", tmp_path, file)

    assert (1, sessions) == (ran.code, [event["session_id"] for event in ran.documents()])
    told = [f"cannot read {tmp_path / 'none'}: No such file or directory", f"cannot read {tmp_path}: Is a directory"]
    count = {"skip": "2 files could not be read; 2 events written", "stop": "1 file could not be read; 1 event written"}
    assert [*told[: 2 if policy == "skip" else 1], count[policy]] == ran.complaints()


def test_a_fault_in_a_file_is_told_as_editors_understand_it(tmp_path):
    """
    A bad line of a file is named FILE:LINE.
    """
    file = tmp_path / "a.jsonl"
    file.write_bytes(lines(PAYLOAD, b"\n", b"oops\n", PAYLOAD))

    ran = run("translate", "--to", "openhook", file)

    assert ran.complaints()[0].startswith(f"{file}:3: invalid JSON")
    assert 2 == len(ran.documents())


def test_received_is_the_time_of_payloads_that_have_none():
    """
    --received gives a time to payloads without one, `now` the present one; the agent's own time always wins.
    """
    given = lines(PAYLOAD, GEMINI)
    none = run("translate", "--to", "canonical", given=given).documents()
    named = run("translate", "--to", "canonical", "--received", "2026-02-23T10:15:30+01:00", given=given).documents()
    now = run("translate", "--to", "canonical", "--received", "now", given=given).documents()

    def told(records):
        return [(record["event"]["time"], record["event"]["time_source"]) for record in records]

    own = ("2026-01-02T03:04:05Z", "agent")
    assert [("1970-01-01T00:00:00Z", "none"), own] == told(none)
    assert [("2026-02-23T10:15:30+01:00", "received"), own] == told(named)
    assert own == told(now)[1]
    assert datetime.now(UTC) - times.parse_time(now[0]["event"]["time"]) < timedelta(minutes=1)


def test_nobody_is_named_unless_asked():
    """
    --user names the human in formats that have a place for one; without it there is none.
    """
    words = ("translate", "--to", "agent-hooks")
    mail = "dev1@example.com"
    assert "user" not in run(*words, given=lines(PAYLOAD | {"user_email": mail})).documents()[0]
    assert mail not in run(*words, given=lines(PAYLOAD | {"user_email": mail})).out
    assert {"id": "dev2"} == run(*words, "--user", "dev2", given=lines(PAYLOAD)).documents()[0]["user"]


def test_event_names_what_payloads_do_not():
    """
    --event tells the event of payloads without one; a payload's own word wins.
    """
    bare = {key: value for key, value in PAYLOAD.items() if key != "hook_event_name"}
    words = ("translate", "--to", "openhook", "--from", "claude-code")

    refused = run(*words, given=lines(bare))
    told = run(*words, "--event", "SessionEnd", given=lines(bare, PAYLOAD))

    assert 1 == refused.code
    assert "name it with --event" in refused.err
    assert ["session.end", "tool.start"] == [event["type"] for event in told.documents()]


SECRET = {
    "prompt": "the secret plan",
    "command": "echo hi",
    "description": "why it is done",
    "content": "file secret",
    "stdout": "output secret",
}
TALKATIVE = [
    PAYLOAD | {"hook_event_name": "UserPromptSubmit", "prompt": SECRET["prompt"]},
    PAYLOAD | {"tool_input": {"command": SECRET["command"], "description": SECRET["description"]}},
    PAYLOAD | {"tool_name": "Write", "tool_input": {"file_path": "/p/a", "content": SECRET["content"]}},
    PAYLOAD | {"hook_event_name": "PostToolUse", "tool_response": {"stdout": SECRET["stdout"], "stderr": ""}},
]


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("--privacy", "minimal"), {"command"}),
        (("--privacy", "standard"), {"command", "description"}),
        (("--privacy", "full"), set(SECRET)),
    ],
)
@pytest.mark.parametrize("name", ["openhook", "agent-hooks", "amplifier", "cloudevents", "otel", "canonical"])
def test_privacy_says_which_texts_leave(name, words, shown):
    """
    minimal shows commands, standard also other tool input, full everything.
    """
    ran = run("translate", "--to", name, *words, given=lines(*TALKATIVE))

    assert (0, shown) == (ran.code, {key for key, text in SECRET.items() if text in ran.out})


def test_privacy_is_minimal_unless_the_record_itself_is_asked_for():
    """
    Without --privacy formats get what minimal gives and canonical gets all.
    """
    shown = {}
    for name in ("openhook", "agent-hooks", "canonical"):
        out = run("translate", "--to", name, given=lines(*TALKATIVE)).out
        shown[name] = {key for key, text in SECRET.items() if text in out}

    assert {"openhook": {"command"}, "agent-hooks": {"command"}, "canonical": set(SECRET)} == shown


def test_the_older_openhook_form_has_a_cwd():
    """
    openhook@cwd writes cwd where openhook writes a context URI.
    """
    new, old = (run("translate", "--to", to, given=lines(PAYLOAD)).documents()[0] for to in ("openhook", "openhook@cwd"))

    assert ("file:///home/dev/project", None) == (new.get("context"), new.get("cwd"))
    assert (None, "/home/dev/project") == (old.get("context"), old.get("cwd"))


def test_what_a_format_cannot_say_is_counted():
    """
    Events without a place are left out with exit 0 and a sentence, under --strict with exit 3.
    """
    given = lines(PAYLOAD | {"hook_event_name": "CwdChanged"}, PAYLOAD, PAYLOAD | {"hook_event_name": "Setup"})

    lenient, strict = (run("translate", "--stable-ids", "--to", "openhook", *words, given=given) for words in ((), ("--strict",)))

    assert ["2 events left out, because OpenHook has no such event: cwd_changed 1, setup 1"] == lenient.complaints()
    assert (0, 3) == (lenient.code, strict.code)
    assert (1, lenient.out) == (len(strict.documents()), strict.out)
    assert 0 == run("translate", "--to", "openhook", "--strict", given=lines(PAYLOAD)).code


def test_strange_texts_are_passed_on():
    """
    Lone surrogates and integers beyond 64 bit arrive as they came.
    """
    odd = {"command": "echo \ud800 \U0001f600 \x7f", "n": 2**70, "m": -(2**70), "f": 1.5e300}

    ran = run("translate", "--to", "canonical", given=lines(PAYLOAD | {"tool_input": odd}))

    assert (0, odd) == (ran.code, ran.documents()[0]["event"]["native"]["tool_input"])


@pytest.mark.part(2)
@pytest.mark.parametrize("name", [name for name in formats.FORMATS if formats.load(name).read])
@pytest.mark.parametrize("level", ["minimal", "full"])
def test_lone_surrogates_break_no_format(name, level):
    """
    A lone surrogate in command, output and prompt is written by every format and read again.
    """
    odd = [
        PAYLOAD | {"cwd": "/p\ud800", "tool_input": {"command": "echo \ud800"}},
        PAYLOAD | {"hook_event_name": "PostToolUse", "tool_response": {"stdout": "\udfff"}},
        PAYLOAD | {"hook_event_name": "UserPromptSubmit", "prompt": "\ud800"},
    ]
    there = run("translate", "--to", name, "--privacy", level, given=lines(*odd))
    back = run("translate", "--to", "canonical", given=there.out.encode())

    assert (0, "", 0, "") == (there.code, there.err, back.code, back.err)
    assert "echo \ud800" == back.documents()[0]["event"]["tool"]["input"]["command"]


@pytest.mark.part(2)
@pytest.mark.parametrize("target", [name for name in agents.AGENTS if agents.load(name).encodes])
def test_a_payload_in_another_agents_words(target):
    """
    A payload of one agent becomes what a hook of another would be given, and is read there as the same call.
    """
    payload = {"session_id": "s", "cwd": "/w", "hook_event_name": "PreToolUse"}
    payload |= {"tool_name": "Bash", "tool_input": {"command": "ls"}}

    made = run("translate", "--from", "claude-code", "--to", target, given=json.dumps(payload).encode())
    again = run("translate", "--from", target, "--event", "PreToolUse", "--to", "canonical", given=made.out.encode())

    event = json.loads(again.out)["event"]
    assert ("before_tool_execute", "shell", "ls") == (
        event["type"],
        event["tool"]["name"],
        event["tool"]["input"]["command"],
    )


@pytest.mark.part(2)
@pytest.mark.parametrize("name", [*formats.FORMATS, "codex"])
def test_a_secret_leaves_at_full_only_in_what_stays_here(name):
    """
    The canon and payloads of agents are verbatim; open formats are for others.
    """
    secret = "ghp_" + "Ab1" * 12
    given = PAYLOAD | {"tool_input": {"command": f"curl -H {secret}", "file_path": "/x", "content": "y"}}
    ran = run("translate", "--to", name, "--privacy", "full", given=lines(given))

    assert (0, name in {"canonical", "codex"}) == (ran.code, secret in ran.out)
    assert name == "agent-trace" or "curl -H" in ran.out

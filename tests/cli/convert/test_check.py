"""hookonce check, as a user runs it."""

import json

import pytest
from jsonschema import Draft202012Validator

from hookonce.demo.replay import list_recordings as bundled
from hookonce.formats.schema import load_schema
from tests.attacks.terminal import shown
from tests.cli.command import PAYLOAD, lines, recorded, run

EVENT = {
    "openhook": "0.1",
    "id": "e1",
    "source": "codex",
    "type": "session.end",
    "time": "2026-01-01T00:00:00Z",
    "session_id": "s",
    "data": {},
}
SECOND = EVENT | {"id": "e2"}
KEYS = ["file", "ok", "kind", "level", "documents", "problems", "warnings"]


def verdicts(*words, given=b""):
    """Exit code and verdicts, each of the published shape."""
    ran = run("check", "--json", *words, given=given)
    for verdict in ran.documents():
        assert KEYS == [key for key in verdict if key not in {"trust", "signed_by"}]  # of folders, and of signed events
        assert [] == list(Draft202012Validator(load_schema("check")).iter_errors(verdict))
    return ran.code, ran.documents()


def test_a_good_file_is_named_with_its_level():
    """
    Valid events give exit 0 and the conformance level, in words and as JSON.
    """
    shown = run("check", given=lines(EVENT, SECOND))
    code, (verdict,) = verdicts(given=lines(EVENT, SECOND))

    assert (0, "standard input: openhook, 2 documents: OpenHook level 1\n") == (shown.code, shown.out)
    assert (0, True, "openhook", "OpenHook level 1", 2) == (code, *(verdict[key] for key in KEYS[1:5]))


def test_every_problem_is_told_at_once_with_its_place():
    """
    All problems of all documents are listed with line and JSON path, and exit is 1.
    """
    bad = SECOND | {"time": "yesterday", "source": "Claude Code"}
    del bad["session_id"]
    code, (verdict,) = verdicts(given=lines(EVENT, bad, EVENT | {"id": ""}))

    assert (1, False, None) == (code, verdict["ok"], verdict["level"])
    places = {(problem["line"], problem["path"]) for problem in verdict["problems"]}
    assert {(2, "$.session_id"), (2, "$.time"), (2, "$.source"), (3, "$.id")} == places


def test_words_tell_the_line_only_where_there_are_several():
    """
    One document needs no line numbers, and one problem is `1 problem`.
    """
    bad = SECOND | {"time": 5}
    one = run("check", given=lines(bad))
    two = run("check", given=lines(EVENT, bad))

    assert "standard input: openhook, 1 document: 1 problem" == one.out.splitlines()[0]
    assert one.out.splitlines()[1].startswith("  problem: $.time: ")
    assert two.out.splitlines()[1].startswith("  problem: line 2: $.time: ")


@pytest.mark.parametrize("agent", bundled())
def test_payloads_of_agents_are_checked_too(agent):
    """
    A recorded session of an agent is recognised as its own and has no problem.
    """
    code, (verdict,) = verdicts(given=lines(*recorded(agent)))

    assert (0, agent, []) == (code, verdict["kind"], verdict["problems"])


def test_strictness_turns_doubts_into_problems():
    """
    Unknown types, unknown fields and duplicate keys are warnings, and problems under --strict.
    """
    twice = json.dumps(EVENT)[:-1].encode() + b', "id": "e3"}\n'
    given = lines(EVENT | {"type": "my.type"}, SECOND | {"mine": 1}, twice)

    code, (lenient,) = verdicts(given=given)
    strict_code, (strict,) = verdicts("--strict", given=given)

    assert (0, []) == (code, lenient["problems"])
    assert {1, 2, 3} == {warning["line"] for warning in lenient["warnings"]}
    assert (1, {1, 2, 3}) == (strict_code, {problem["line"] for problem in strict["problems"]})


def test_a_file_is_of_one_kind():
    """
    Two formats in one file are a problem of the file.
    """
    code, (verdict,) = verdicts(given=lines(EVENT, PAYLOAD))

    assert (1, "mixed", ["the file mixes openhook and claude-code"]) == (
        code,
        verdict["kind"],
        [problem["message"] for problem in verdict["problems"]],
    )


def test_each_file_has_its_verdict(tmp_path):
    """
    One line per file in the order given, whether it is good, bad, missing or an empty folder.
    """
    good, bad, empty = tmp_path / "good.jsonl", tmp_path / "bad.json", tmp_path / "empty"
    good.write_bytes(lines(EVENT))
    bad.write_bytes(b"{}")
    empty.mkdir()

    code, found = verdicts(good, tmp_path / "none", bad, empty, good)
    shown = run("check", good, tmp_path / "none", good)

    assert (1, [True, False, False, False, True]) == (code, [verdict["ok"] for verdict in found])
    assert f"cannot read {tmp_path / 'none'}: No such file or directory" == found[1]["problems"][0]["message"]
    assert "the folder holds neither hooks nor OpenHook events" == found[3]["problems"][0]["message"]
    assert (1, 2) == (shown.code, shown.out.count("OpenHook level 1"))
    assert f"hookonce: cannot read {tmp_path / 'none'}: No such file or directory\n" == shown.err


def test_a_discovery_file_is_known_by_its_name_and_by_its_keys(tmp_path):
    """
    .openhook.json is checked as such, pretty-printed as people write it.
    """
    file, other = tmp_path / ".openhook.json", tmp_path / "other.json"
    document = {"openhook": "0.1", "hooks": [{"command": "./notify", "events": ["session.end"]}]}
    for one in (file, other):
        one.write_text(json.dumps(document, indent=2), encoding="utf-8")

    code, found = verdicts(file, other)
    assert (0, ["openhook-discovery"] * 2) == (code, [one["kind"] for one in found])

    file.write_text('{\n"hooks": 7\n}', encoding="utf-8")
    code, (bad,) = verdicts(file)
    assert (1, "openhook-discovery") == (code, bad["kind"])
    assert {"$.openhook", "$.hooks"} == {problem["path"] for problem in bad["problems"]}


@pytest.mark.parametrize("given", [{"a": 1}, {"hook_event_name": "PreToolUse"}, [1], "text", None])
def test_what_nobody_knows_is_a_problem(given):
    """
    A document of no known format or agent is one problem at its root.
    """
    code, (verdict,) = verdicts(given=lines(given))

    assert (1, "unknown", ["$"]) == (code, verdict["kind"], [problem["path"] for problem in verdict["problems"]])


def test_an_unknown_event_of_a_known_agent_is_a_warning():
    """
    What an agent's next version may send is no error.
    """
    code, (verdict,) = verdicts(given=lines(PAYLOAD | {"hook_event_name": "Brand\ud800New"}))

    assert (0, []) == (code, verdict["problems"])
    assert "vendor.claude-code.Brand\ud800New is an event that hookonce does not know" == verdict["warnings"][0]["message"]


def test_strange_file_names_are_shown(tmp_path):
    """
    A file name that is no UTF-8 is named all the same.
    """
    name = str(tmp_path / "odd\udcff.jsonl")
    with open(name, "wb") as file:  # noqa: PTH123
        file.write(lines(EVENT))

    shown = run("check", name)

    assert (0, "") == (shown.code, shown.err)
    assert "odd\\udcff.jsonl: openhook" in shown.out
    assert name == verdicts(name)[1][0]["file"]


def test_the_kind_can_be_said():
    """
    A payload that several agents might have sent is checked as the one that is named.
    """
    payload = b'{"session_id":"s","cwd":"/w","hook_event_name":"Stop"}'

    assert 1 == run("check", given=payload).code
    assert (0, "standard input: claude-code, 1 document: ok\n") == (
        (ran := run("check", "--from", "claude", given=payload)).code,
        ran.out,
    )


@pytest.mark.parametrize("words", [(), ("--strict",)])
def test_depth_is_judged_or_told(words):
    """
    However deep a document is, it is judged or said to be too deep, and the next one is judged.
    """
    depths = [10, 100, 300, *range(900, 1000, 5), 5000]
    deep = [json.dumps(EVENT | {"id": f"d{n}"})[:-1].encode() + b', "extensions": ' + b'{"a":' * n + b"1" + b"}" * n + b"}\n" for n in depths]

    code, (verdict,) = verdicts(*words, given=lines(*deep, EVENT))

    assert (1, len(depths) + 1) == (code, verdict["documents"])
    assert {"the JSON is nested too deeply"} == {problem["message"] for problem in verdict["problems"]}
    told = [problem["line"] for problem in verdict["problems"]]
    assert told == list(range(told[0], len(depths) + 1))
    assert told[0] > 2


@pytest.mark.parametrize(
    ("folder", "hook", "told"),
    [
        (".hookonce", {"dialect": "openhook", "privacy": "full"}, "full works only in your own manifest"),
        ("", {"dialect": "openhook", "privacy": "full"}, None),
        (".hookonce", {"dialect": "agent-hooks", "privacy": "standard"}, None),
        ("", {"privacy": "standard"}, "gets the whole event"),
        ("", {"dialect": "claude-code", "privacy": "minimal"}, "gets the whole event"),
        ("", {"order": "any", "may_allow": True}, "can only refuse"),
        ("", {"order": "any"}, None),
        ("", {"isolation": "fork"}, "only handlers of type function"),
        ("", {"isolation": "fork", "handler": {"type": "function", "file": "guard.py"}}, None),
    ],
)
def test_a_word_that_does_nothing_is_told(tmp_path, folder, hook, told):
    """
    A warning says so where it stands: the hook runs all the same.
    """
    file = tmp_path / folder / "hooks.json"
    file.parent.mkdir(exist_ok=True)
    handler = {"type": "command", "command": "true"}
    (file.parent / "guard.py").write_text("from hookonce import hook\n@hook\ndef guard(event): ...\n")
    file.write_text(json.dumps({"spec": "hooks/1.0", "hooks": [{"event": "before_prompt", "handler": handler} | hook]}))
    done = run("check", "--json", str(file))
    (report,) = done.documents()
    warnings = [one["message"] for one in report["warnings"] if one["path"] in {"$.hooks[0].privacy", "$.hooks[0].may_allow", "$.hooks[0].isolation"}]

    assert (0, True) == (done.code, report["ok"])
    assert [] == warnings if told is None else told in warnings[0]


def test_a_privacy_level_that_nobody_has_is_a_problem(tmp_path):
    (tmp_path / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [{"event": "before_prompt", "handler": {"type": "command", "command": "true"}, "privacy": "some"}]}))
    done = run("check", "--json", str(tmp_path / "hooks.json"))

    assert ["expected one of minimal, standard, full"] == [one["message"] for one in done.documents()[0]["problems"]]


def test_at_a_terminal_it_is_the_hooks_that_run_here(tmp_path):
    """
    Your own and the folder's; also where the folder of your own hooks is named.
    """
    hook = {"name": "guard", "event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": "exit 0"}}
    (tmp_path / ".config/hookonce").mkdir(parents=True)
    (tmp_path / ".config/hookonce/hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}))

    code, said = shown(tmp_path, "check", cwd=tmp_path)
    named = run("check", tmp_path / ".config/hookonce", HOME=str(tmp_path))

    assert (0, True) == (code, f"{tmp_path}/.config/hookonce: folder, 1 document: ok" in said), said
    assert (0, True) == (named.code, "1 document: ok" in named.out), named


def test_at_a_terminal_without_hooks_it_says_how_to_begin(tmp_path):
    code, said = shown(tmp_path, "check", cwd=tmp_path)

    assert (1, True) == (code, "hookonce init" in said), said


def test_the_last_line_tells_of_warnings():
    """
    How many of all files, and what would make problems of them; without any it says nothing of it.
    """
    given = lines(EVENT | {"type": "my.type"}, SECOND | {"mine": 1})

    assert run("check", given=given).out.endswith("\n2 warnings. Warnings do not count as problems; with --strict unknown names, duplicate keys and hooks that cannot run do\n")
    assert "arnings" not in run("check", given=lines(EVENT)).out


def test_strict_has_no_patience_with_a_guard_that_cannot_run(tmp_path):
    """
    Without --strict it is a warning.
    """
    handler = {"type": "command", "command": "./guard.sh"}
    hook = {"event": "before_tool_execute", "blocking": True, "handler": handler}
    manifest, script = tmp_path / "hooks.json", tmp_path / "guard.sh"
    manifest.write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}))
    script.write_text("#!/bin/sh\nexit 0\n")

    assert [0, 1] == [run("check", *words, manifest).code for words in ([], ["--strict"])]
    script.chmod(0o755)
    assert [0, 0] == [run("check", *words, manifest).code for words in ([], ["--strict"])]


STRICT = {
    "$.hooks[0].event": {"event": "PreToolUse"},
    "$.hooks[0].on_failur": {"on_failur": "closed"},
    "$.hooks[0].timeout": {"timeout": 2},
    "$.hooks[0].handler.blocking": {"handler": {"type": "command", "command": "/bin/true", "blocking": True}},
    "$.hooks[0].handler.platform.beos": {"handler": {"type": "command", "command": "/bin/true", "platform": {"beos": "x"}}},
}


@pytest.mark.parametrize("path", STRICT)
def test_strict_has_no_patience_with_unknown_names(tmp_path, path):
    """
    A warning without it. What else is wrong with such a hook is told all the same.
    """
    hook = {"event": "before_tool_execute", "matcher": [], "handler": {"type": "command", "command": "/bin/true"}} | STRICT[path]
    (tmp_path / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}))

    lenient_code, (lenient,) = verdicts(tmp_path / "hooks.json")
    strict_code, (strict,) = verdicts("--strict", tmp_path / "hooks.json")

    assert (0, [path, "$.hooks[0].matcher"]) == (lenient_code, [one["path"] for one in lenient["warnings"]])
    assert (1, [path, "$.hooks[0].matcher"]) == (strict_code, [one["path"] for one in strict["problems"]])


@pytest.mark.parametrize("name", [".hookonce", "project/.hookonce", "."])
def test_the_folder_of_a_project_s_hooks_can_be_named(tmp_path, name):
    """
    From wherever somebody stands: it is the project that is checked.
    """
    hooks = tmp_path / "project/.hookonce"
    hooks.mkdir(parents=True)
    hook = {"event": "before_tool_execute", "handler": {"type": "command", "command": "./lost.sh"}}
    (hooks / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}))
    places = {".hookonce": tmp_path / "project", "project/.hookonce": tmp_path, ".": hooks}

    done = run("check", name, cwd=places[name])

    assert f"{tmp_path}/project: folder, 1 document: ok" in done.out
    assert f"{tmp_path}/project/lost.sh does not exist" in done.out
    assert ".hookonce/hooks.json is not trusted" in done.out

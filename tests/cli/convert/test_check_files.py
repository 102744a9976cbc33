"""hookonce check of files about hooks, and of what a whole file must not have twice."""

import json

import pytest

from hookonce.base.json_stream import duplicate_paths
from hookonce.diagnose.document_check import StreamIdIndex
from tests.cli.command import lines, run
from tests.cli.convert.test_check import EVENT, verdicts
from tests.shared import seed_text

RULES = {"hooks": {"event": "*", "output": "/var/log/agent-hooks.jsonl"}}
AGENT_HOOKS = {
    "spec_version": "0.1.0", "event_id": "0190a6c2-1111-7000-8000-000000000001", "event_type": "Session.End",
    "timestamp": "2026-01-01T00:00:00Z", "session_id": "s", "source": {"tool": "codex"}, "data": {},
}  # fmt: skip
CLOUD = {"specversion": "1.0", "id": "e1", "source": "a", "type": "t"}
KERNEL = {"id": "k1", "ts": 1.5, "event": "context:get", "component": "kernel", "data": {}}


def found(file, *words):
    """Kind, paths of the problems and of the warnings of a file."""
    code, (verdict,) = verdicts(*words, str(file))
    assert code == (1 if verdict["problems"] else 0)
    return verdict["kind"], *([one["path"] for one in verdict[key]] for key in ("problems", "warnings"))


@pytest.mark.covers("AH-54")
def test_the_printed_wildcard_file_is_known(tmp_path):
    """
    The example of the specification has no problem wherever it lies; that nobody reads it there is said.
    """
    printed = json.loads("{" + seed_text("002").partition("tool-native configuration:")[2].partition("{")[2].partition("11. Relationship")[0])
    file = tmp_path / "agent-hooks.json"
    file.write_text(json.dumps(printed))

    assert RULES == printed
    assert ("agent-hooks-rules", [], ["$"]) == found(file)
    assert "agent-hooks-rules" == json.loads(run("check", "--json", given=json.dumps(RULES).encode()).out)["kind"]


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("document", "problems", "warnings"),
    [
        ({"hooks": [RULES["hooks"], {"event": "Session.End", "output": "~/x.jsonl"}]}, [], []),
        ({"hooks": {"event": "*", "output": "x.jsonl"}}, ["$.hooks.output"], []),
        ({"hooks": [{"event": "*"}, {"output": "/x"}, 5]}, ["$.hooks[0].output", "$.hooks[1].event", "$.hooks[2]"], []),
        ({"hooks": {"event": "Session.Ende", "output": "/x", "mode": 1}}, [], ["$.hooks.event", "$.hooks.mode"]),
        ({"hooks": {"event": 5, "output": ""}}, ["$.hooks.event", "$.hooks.output"], []),
        ({"hooks": []}, [], ["$.hooks"]),
        ({"hook": 1}, ["$.hooks"], []),
        ({"hooks": "x"}, ["$.hooks"], []),
        ([], ["$"], []),
    ],
)
def test_every_fault_of_a_wildcard_file_has_its_place(tmp_path, document, problems, warnings):
    """
    One rule or a list of them; each has an event and a file with its whole path.
    """
    file = tmp_path / "agent-hooks.json"
    file.write_text(json.dumps(document))

    assert ("agent-hooks-rules", problems, [*warnings, "$"]) == found(file)
    assert ("agent-hooks-rules", [*problems, *warnings], ["$"]) == found(file, "--strict")


def test_a_project_may_not_say_where_to_write(tmp_path):
    """
    Alone and as part of its folder: each output that it names is a problem.
    """
    (tmp_path / ".hookonce").mkdir()
    file = tmp_path / ".hookonce" / "agent-hooks.json"
    file.write_text(json.dumps({"hooks": [RULES["hooks"], {"event": "*"}]}))

    assert ["$.hooks[1].output", "$.hooks[0].output"] == found(file)[1]
    assert [".hookonce/agent-hooks.json: $.hooks[1].output", ".hookonce/agent-hooks.json: $.hooks[0].output"] == found(tmp_path)[1]


@pytest.mark.part(2)
@pytest.mark.covers("HIF-104")
@pytest.mark.parametrize(
    ("document", "problems", "warnings"),
    [
        ({"disable_all_hooks": True, "event_restrictions": {"agent_stop": "deny"}}, [], []),
        ({"allow_managed_only": "yes", "capability_restrictions": {"http_handler": "never"}}, ["$.allow_managed_only", "$.capability_restrictions.http_handler"], []),
        ({"disable_all_hooks": False, "disable": 1}, [], ["$.disable"]),
        ({}, [], []),
        ([], ["$"], []),
    ],
)
def test_a_policy_is_checked_as_a_file(tmp_path, document, problems, warnings):
    """
    By its name, and by its fields where it is called otherwise; in a project a word says how far it reaches.
    """
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(document))
    assert ("policy", problems, warnings) == found(file)
    assert ("policy", [*problems, *warnings], []) == found(file, "--strict")

    (tmp_path / ".hookonce").mkdir()
    project_file = file.rename(tmp_path / ".hookonce" / "policy.json")
    assert ("policy", problems, [*warnings, "$"]) == found(project_file)

    if document:
        other = json.loads(run("check", "--json", given=json.dumps(document).encode()).out)
        assert "policy" == other["kind"] or type(document) is list


@pytest.mark.part(2)
@pytest.mark.covers("OH-3")
@pytest.mark.parametrize(
    ("path", "one", "other"),
    [
        ("$.id", EVENT, EVENT | {"id": "e2"}),
        ("$.event_id", AGENT_HOOKS, AGENT_HOOKS | {"event_id": "0190a6c2-1111-7000-8000-000000000002"}),
        ("$.id", CLOUD, CLOUD | {"source": "b"}),
        ("$.id", KERNEL, KERNEL | {"id": "k2"}),
    ],
)
def test_an_id_is_one_event_s(path, one, other):
    """
    The second event with an id is a problem that names both lines, whatever else it says; so is a third.
    """
    plain, (good,) = verdicts(given=lines(one, other))
    code, (bad,) = verdicts(given=lines(one, other, one | {"x": 1}, other, one))

    assert good["problems"] == []
    places = [(problem["line"], problem["path"], problem["message"].partition(" has")[0]) for problem in bad["problems"]]
    assert [(3, path, "line 1"), (4, path, "line 2"), (5, path, "line 1")] == places
    assert (0, 1, None) == (plain, code, bad["level"])


def test_a_record_is_there_once():
    """
    What we write ourselves is looked at too.
    """
    (record,) = run("translate", "--from", "openhook", "--to", "canonical", given=lines(EVENT)).documents()

    assert [(2, "$.event.id")] == [(one["line"], one["path"]) for one in verdicts(given=lines(record, record))[1][0]["problems"]]


def test_ids_of_a_long_stream_take_no_memory(monkeypatch):
    """
    They are kept in a file beyond a few mebibytes, and the first line of each is still known.
    """
    ids = StreamIdIndex()

    for number in range(20_000):
        assert ids.find_earlier("openhook", {"id": f"e{number}"}, number + 1) is None
    assert [1, 20_000, None] == [ids.find_earlier("openhook", {"id": name}, 0) for name in ("e0", "e19999", "")]


DOUBLED = {
    "hooks.json": ('{"spec": "hooks/1.0", "hooks": [{"event": "x", "event": "agent_stop", "handler": {"type": "command", "command": "/bin/true"}}]}', "$.hooks[0].event"),
    "hooks.yaml": ("spec: hooks/1.0\nhooks:\n- event: agent_stop\n  handler: {type: command, command: /bin/true, type: command}\n", "$.hooks[0].handler.type"),
    "policy.json": ('{"disable_all_hooks": true, "disable_all_hooks": false}', "$.disable_all_hooks"),
    "agent-hooks.json": ('{"hooks": {"event": "*", "output": "/a", "output": "/b"}}', "$.hooks.output"),
    ".openhook.json": ('{"openhook": "0.1", "hooks": [{"command": "a", "command": "b"}]}', "$.hooks[0].command"),
    "module.json": ('{"name": "m", "kind": "tool", "version": "1.0.0", "transport": {"type": "stdio", "command": ["x"], "type": "stdio"}, "capabilities": []}', "$.transport.type"),
    "events.jsonl": (json.dumps(EVENT)[:-1] + ', "data": {"a": {"b": 1, "b": 2}}}', "$.data"),
}  # fmt: skip


@pytest.mark.parametrize("name", DOUBLED)
def test_a_key_that_is_there_twice_is_told_with_its_place(tmp_path, name):
    """
    In every kind of file: a warning by default, a problem with --strict.
    """
    text, path = DOUBLED[name]
    (tmp_path / name).write_text(text)

    _, problems, warnings = found(tmp_path / name)
    _, strict, _ = found(tmp_path / name, "--strict")

    assert (True, False, True) == (path in warnings, path in problems, path in strict)


@pytest.mark.parametrize("name", ["hooks.json", "hooks.yaml", "policy.json"])
def test_a_folder_is_looked_through_for_them_too(tmp_path, name):
    """
    The files of a project, each by its name.
    """
    text, path = DOUBLED[name]
    (tmp_path / ".hookonce").mkdir()
    (tmp_path / ".hookonce" / name).write_text(text)

    assert f".hookonce/{name}: {path}" in found(tmp_path)[2]
    assert f".hookonce/{name}: {path}" in found(tmp_path, "--strict")[1]


def test_paths_lead_to_the_key():
    """
    Through objects and lists, however deep, and once for each time that the key is repeated.
    """
    raw = b'{"a": [1, [{"b": 1, "b": 2, "b": 3}]], "c": {"d": {"e": 1, "e": {"f": 1, "f": 2}}}, "a": 1}'

    assert ["$.a[1][0].b", "$.a[1][0].b", "$.c.d.e", "$.c.d.e.f", "$.a"] == duplicate_paths(raw)
    assert [] == duplicate_paths(b'{"a": {"a": [{"a": 1}, {"a": 2}]}}')

"""Manifests of the Hook Interchange Format, read and written."""

import json

import pytest
import yaml
from hypothesis import given

from hookonce import agents
from hookonce.base.jsontext import dump as as_json
from hookonce.convert.conversion import convert
from hookonce.dispatch.hook_faults.manifest_words import unknown_words
from hookonce.manifest.load import ManifestError, build_manifest, dump_manifest, find_problems, load_manifest
from hookonce.manifest.match import MatchSubject, matches
from tests.laws.strategies import json_values
from tests.manifest.manifests import mutated, valid
from tests.shared import vector

HOOK = {"event": "before_tool_execute", "handler": {"type": "command", "command": "./check.sh"}}
BASH = MatchSubject("shell", "Bash")
ISSUE = MatchSubject("mcp:github/create_issue", "mcp__github__create_issue", "github", "create_issue")


def manifest(**hook):
    """A manifest with one hook, changed in some of its fields."""
    return {"spec": "hooks/1.0", "hooks": [HOOK | hook]}


def plain(document):
    """A manifest's document without what only repeats a default."""
    hooks = [{key: value for key, value in hook.items() if (key, value) != ("blocking", False)} for hook in document["hooks"]]
    return document | {"hooks": hooks}


CANONICAL = ["degradation-input-rewrite", "full-featured", "multi-event", "simple-blocking"]
MISTAKES = {
    "empty-hooks-array": "$.hooks",
    "invalid-degradation-strategy": "$.hooks[0].degradation.input_rewrite",
    "missing-event": "$.hooks[0].event",
    "missing-handler": "$.hooks[0].handler",
    "missing-hooks": "$.hooks",
    "missing-spec": "$.spec",
}


@pytest.mark.parametrize("path", [*(f"canonical/{name}" for name in CANONICAL), "claude-code/roundtrip-canonical"])
def test_third_party_manifests_come_back(path):
    """
    A published example is read, and written as it was but for repeated defaults.
    """
    raw = vector(f"hif/test-vectors/{path}.json").read_bytes()

    assert plain(json.loads(raw)) == dump_manifest(load_manifest(raw))


@pytest.mark.covers("HIF-2", "HIF-3", "HIF-4", "HIF-6", "HIF-69")
@pytest.mark.parametrize("name", MISTAKES)
def test_third_party_mistakes_are_refused(name):
    """
    A published counter-example is refused with the path of its fault.
    """
    with pytest.raises(ManifestError) as refused:
        load_manifest(vector(f"hif/test-vectors/invalid/{name}.json").read_bytes())

    assert [MISTAKES[name]] == [place for place, _ in refused.value.problems]


@pytest.mark.parametrize(("folder", "known"), [("canonical", CANONICAL), ("invalid", MISTAKES)])
def test_no_third_party_vector_is_forgotten(folder, known):
    """
    Every manifest that was published is tried here.
    """
    assert sorted(known) == sorted(file.stem for file in vector(f"hif/test-vectors/{folder}").glob("*.json"))


@pytest.mark.covers("HIF-7")
def test_a_hook_only_looks_on_unless_it_says_otherwise():
    """
    blocking is false by default, and a default is not written.
    """
    (silent,) = load_manifest(json.dumps(manifest()).encode()).hooks
    (said,) = load_manifest(json.dumps(manifest(blocking=True)).encode()).hooks

    assert (False, True) == (silent.blocking, said.blocking)
    assert [HOOK] == dump_manifest(load_manifest(json.dumps(manifest(blocking=False)).encode()))["hooks"]


@pytest.mark.covers("HIF-8")
@pytest.mark.parametrize("strategy", ["block", "warn", "exclude"])
def test_each_capability_may_have_a_strategy(strategy):
    """
    Strategies are kept by capability, also for one that nobody knows yet; any other word is a fault.
    """
    chosen = {"http_handler": strategy, "x_future": strategy}
    (hook,) = load_manifest(json.dumps(manifest(degradation=chosen)).encode()).hooks

    assert chosen == hook.degradation
    assert ["$.hooks[0].degradation.a"] == [path for path, _ in find_problems(manifest(degradation={"a": f"{strategy}s"}))[0]]


@pytest.mark.covers("HIF-5")
@pytest.mark.parametrize("matcher", ["shell", {"pattern": "^Ba"}, {"mcp": {"server": "github"}}, ["shell", {"pattern": "x"}], []])
def test_every_form_of_a_matcher_is_kept(matcher):
    """
    A string, an object or a list comes back as it was; an empty list, which fits nothing, does not become everything.
    """
    document = manifest(matcher=matcher)

    assert [] == find_problems(document)[0]
    assert document == dump_manifest(load_manifest(json.dumps(document).encode()))


@pytest.mark.covers("HIF-68", "HIF-X1")
@pytest.mark.parametrize(
    ("spec", "problems", "warnings"),
    [
        ("hooks/1.0", 0, 0),
        ("hooks/0.1", 0, 0),
        ("hooks/0.9", 0, 1),
        ("hooks/1.12", 0, 1),
        ("hooks/01.0", 0, 1),
        ("hooks/2.0", 1, 0),
        ("hooks/0000009.0", 1, 0),
        ("hooks/1", 1, 0),
        ("hooks/1.0\n", 1, 0),
        ("hooks/١.٠", 1, 0),
    ],
)
def test_versions(spec, problems, warnings):
    """
    Both known versions are read, their further ones with a warning; a newer one, or what is none, is refused.
    """
    found = find_problems(manifest() | {"spec": spec})

    assert (problems, warnings) == (len(found[0]), len(found[1]))


@pytest.mark.covers("HIF-66")
def test_yaml_and_json_are_the_same():
    """
    A manifest in YAML is the manifest in JSON.
    """
    document = manifest(matcher=["shell", {"mcp": {"server": "github"}}], blocking=True)

    assert load_manifest(json.dumps(document).encode()) == load_manifest(yaml.safe_dump(document).encode())


@pytest.mark.covers("HIF-67", "HIF-X1", "HIF-12", "HIF-73")
def test_unknown_fields_and_both_names_of_macos_are_kept():
    """
    Fields that we do not know come back; osx of one text is darwin of the other.
    """
    handler = HOOK["handler"] | {"platform": {"osx": "./mac.sh"}, "x_new": 1}
    document = manifest(handler=handler, x_team="a") | {"x_top": [1]}

    assert document == dump_manifest(load_manifest(json.dumps(document).encode()))
    newer = document | {"spec": "hooks/0.1"}
    assert {"darwin": "./mac.sh"} == dump_manifest(load_manifest(json.dumps(newer).encode()))["hooks"][0]["handler"]["platform"]


WRONG = {
    "$.spec": {"spec": 1, "hooks": [HOOK]},
    "$.hooks[0]": {"spec": "hooks/1.0", "hooks": [1]},
    "$.hooks[0].matcher": manifest(matcher=5),
    "$.hooks[0].matcher.pattern": manifest(matcher={"pattern": "(?=a)"}),
    "$.hooks[0].matcher.mcp.server": manifest(matcher={"mcp": {"tool": "x"}}),
    "$.hooks[0].matcher[0]": manifest(matcher=[{"pattern": "a", "mcp": {"server": "s"}}]),
    "$.hooks[0].matcher[1]": manifest(matcher=["shell", ["shell"]]),
    "$.hooks[0].blocking": manifest(blocking="yes"),
    "$.hooks[0].on_failure": manifest(on_failure="closed"),
    "$.hooks[0].provider_data.kiro": manifest(provider_data={"kiro": 1}),
    "$.hooks[0].handler.type": manifest(handler={"type": "magic"}),
    "$.hooks[0].handler.command": manifest(handler={"type": "command"}),
    "$.hooks[0].handler.url": manifest(handler={"type": "http"}),
    "$.hooks[0].handler.prompt": manifest(handler={"type": "agent"}),
    "$.hooks[0].handler.timeout": manifest(handler=HOOK["handler"] | {"timeout": -1}),
    "$.hooks[0].handler.headers.A": manifest(handler={"type": "http", "url": "https://x", "headers": {"A": 1}}),
    "$.hooks[0].handler.allowed_env[0]": manifest(handler={"type": "http", "url": "https://x", "allowed_env": [1]}),
    "$.hooks[0].handler.model": manifest(handler={"type": "prompt", "prompt": "x", "model": 1}),
    "$.hooks[0].files[0]": manifest(files=[1]),
    "$.hooks[0].may_allow": manifest(may_allow="yes"),
    "$.hooks[0].environment": manifest(environment="caller", blocking=True, on_failure="closed"),
    "$.hooks[0].handler.timeout_action": manifest(handler=HOOK["handler"] | {"timeout_action": "explode"}),
    "$.hooks[0].handler.platform.linux": manifest(handler=HOOK["handler"] | {"platform": {"linux": 1}}),
    "$.hooks[0].handler.env.A": manifest(handler=HOOK["handler"] | {"env": {"A": 1}}),
}


@pytest.mark.covers("HIF-10", "HIF-11", "HIF-88", "HIF-89")
@pytest.mark.parametrize("path", WRONG)
def test_every_fault_has_its_place(path):
    """
    A wrong value is refused with its path.
    """
    assert [path] == [place for place, _ in find_problems(WRONG[path])[0]]


@pytest.mark.covers("HIF-67", "HIF-73")
@pytest.mark.parametrize("value", ["./be.sh", 1, None, {"a": []}])
def test_a_system_of_nobody_s_is_ignored_with_a_word(value):
    """
    Whatever stands there: the manifest is used, a warning names it, and no agent is given it.
    """
    document = manifest(handler=HOOK["handler"] | {"platform": {"beos": value, "windows": "./x.ps1"}})

    problems, _ = find_problems(document)
    loaded = build_manifest(document)

    assert ([], ["$.hooks[0].handler.platform.beos"]) == (problems, [path for path, _ in unknown_words(document)])
    assert "./x.ps1" == loaded.hooks[0].handler.platform["windows"]
    assert loaded == load_manifest(as_json(dump_manifest(loaded)))
    for name in ("copilot-cli", "codex", "windsurf", "opencode"):
        assert "beos" not in json.dumps(convert(document, None, agents.load(name)).document)


@pytest.mark.covers("HIF-87")
def test_a_tool_of_nobodys_is_taken_literally():
    """
    An unknown name in a matcher is a warning, not a problem.
    """
    problems, warnings = find_problems(manifest(matcher=["shell", "MyOwnTool"]))

    assert ([], ["$.hooks[0].matcher"]) == (problems, [path for path, _ in warnings])


def test_all_faults_are_told_at_once():
    """
    Two faults give two problems.
    """
    document = {"spec": "hooks/9.0", "hooks": [HOOK | {"blocking": 1}]}

    assert ["$.spec", "$.hooks[0].blocking"] == [path for path, _ in find_problems(document)[0]]


@pytest.mark.covers("HIF-28", "HIF-29", "HIF-30", "HIF-31", "HIF-32")
@pytest.mark.parametrize(
    ("matcher", "fits"),
    [
        (None, (True, True)),
        ("shell", (True, False)),
        ("Bash", (True, False)),
        ({"pattern": "^file_"}, (False, False)),
        ({"pattern": "^(shell|mcp:)"}, (True, True)),
        ({"pattern": "^mcp__"}, (False, True)),
        ({"mcp": {"server": "github"}}, (False, True)),
        ({"mcp": {"server": "github", "tool": "delete"}}, (False, False)),
        (["shell", {"mcp": {"server": "github"}}], (True, True)),
        ([], (False, False)),
    ],
)
def test_matchers(matcher, fits):
    """
    Each kind of matcher fits what it says.
    """
    assert fits == (matches(matcher, BASH), matches(matcher, ISSUE))


def test_the_newer_text_tries_patterns_on_native_names():
    """
    Under hooks/0.1 a pattern speaks of the agent's own names.
    """
    assert not matches({"pattern": "^shell$"}, BASH, natively=True)
    assert matches({"pattern": "^Bash$"}, BASH, natively=True)


@given(valid)
def test_any_manifest_comes_back(document):
    """
    Reading what was written gives the same manifest.
    """
    meant = build_manifest(document)

    assert meant == load_manifest(as_json(dump_manifest(meant)))
    assert meant == build_manifest(dump_manifest(meant))


@given(mutated() | json_values)
def test_any_document_is_judged(document):
    """
    Whatever stands in a file is read or refused with paths; nothing else is raised.
    """
    problems, warnings = find_problems(document)

    assert all(path.startswith("$") and message for path, message in problems + warnings)
    if not problems:
        assert len(build_manifest(document).hooks) == len(document["hooks"])


@pytest.mark.parametrize(("url", "warned"), [("https://a.example/", False), ("http://127.0.0.1:1/", False), ("http://a.example/", True), ("a.example", True)])
def test_a_url_that_will_not_be_called_is_named(url, warned):
    """
    A plain connection to another machine is no fault of the manifest, but worth a warning.
    """
    problems, warnings = find_problems(manifest(handler={"type": "http", "url": url}))

    assert ([], ["$.hooks[0].handler.url"] if warned else []) == (problems, [path for path, _ in warnings])

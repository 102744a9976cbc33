"""Manifests of the Hook Interchange Format, read and written."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hookonce.canon.events import EVENTS
from hookonce.manifest.load import ManifestError, dump, load
from hookonce.manifest.matcher import Subject, matches
from hookonce.manifest.problems import problems_of
from tests.shared import vector

HOOK = {"event": "before_tool_execute", "handler": {"type": "command", "command": "./check.sh"}}
BASH = Subject("shell", "Bash")
ISSUE = Subject("mcp:github/create_issue", "mcp__github__create_issue", "github", "create_issue")


def manifest(**hook):
    """A manifest with one hook, changed in some of its fields."""
    return {"spec": "hooks/1.0", "hooks": [HOOK | hook]}


def plain(document):
    """A manifest's document without what only repeats a default."""
    hooks = [{key: value for key, value in hook.items() if (key, value) != ("blocking", False)} for hook in document["hooks"]]
    return document | {"hooks": hooks}


@pytest.mark.parametrize("name", ["degradation-input-rewrite", "full-featured", "multi-event", "simple-blocking"])
def test_third_party_manifests_come_back(name):
    """
    A published example is read, and written as it was but for repeated defaults.
    """
    raw = vector(f"hif/test-vectors/canonical/{name}.json").read_bytes()

    assert plain(json.loads(raw)) == dump(load(raw))


@pytest.mark.covers("HIF-2", "HIF-3", "HIF-4", "HIF-6", "HIF-69")
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("empty-hooks-array", "$.hooks"),
        ("invalid-degradation-strategy", "$.hooks[0].degradation.input_rewrite"),
        ("missing-event", "$.hooks[0].event"),
        ("missing-handler", "$.hooks[0].handler"),
        ("missing-hooks", "$.hooks"),
        ("missing-spec", "$.spec"),
    ],
)
def test_third_party_mistakes_are_refused(name, path):
    """
    A published counter-example is refused with the path of its fault.
    """
    with pytest.raises(ManifestError) as refused:
        load(vector(f"hif/test-vectors/invalid/{name}.json").read_bytes())

    assert [path] == [place for place, _ in refused.value.problems]


@pytest.mark.covers("HIF-66")
def test_yaml_and_json_are_the_same():
    """
    A manifest in YAML is the manifest in JSON.
    """
    document = manifest(matcher=["shell", {"mcp": {"server": "github"}}], blocking=True)

    assert load(json.dumps(document).encode()) == load(yaml.safe_dump(document).encode())


@pytest.mark.covers("HIF-67", "HIF-X1", "HIF-12", "HIF-73")
def test_unknown_fields_and_both_names_of_macos_are_kept():
    """
    Fields that we do not know come back; osx of one text is darwin of the other.
    """
    handler = HOOK["handler"] | {"platform": {"osx": "./mac.sh"}, "x_new": 1}
    document = manifest(handler=handler, x_team="a") | {"x_top": [1]}

    assert document == dump(load(json.dumps(document).encode()))
    newer = document | {"spec": "hooks/0.1"}
    assert {"darwin": "./mac.sh"} == dump(load(json.dumps(newer).encode()))["hooks"][0]["handler"]["platform"]


WRONG = {
    "$.spec": {"spec": 1, "hooks": [HOOK]},
    "$.hooks[0]": {"spec": "hooks/1.0", "hooks": [1]},
    "$.hooks[0].matcher": manifest(matcher=5),
    "$.hooks[0].matcher.pattern": manifest(matcher={"pattern": "(?=a)"}),
    "$.hooks[0].matcher.mcp.server": manifest(matcher={"mcp": {"tool": "x"}}),
    "$.hooks[0].matcher[1]": manifest(matcher=["shell", ["shell"]]),
    "$.hooks[0].blocking": manifest(blocking="yes"),
    "$.hooks[0].on_failure": manifest(on_failure="closed"),
    "$.hooks[0].provider_data.kiro": manifest(provider_data={"kiro": 1}),
    "$.hooks[0].handler.type": manifest(handler={"type": "magic"}),
    "$.hooks[0].handler.command": manifest(handler={"type": "command"}),
    "$.hooks[0].handler.url": manifest(handler={"type": "http"}),
    "$.hooks[0].handler.prompt": manifest(handler={"type": "agent"}),
    "$.hooks[0].handler.timeout": manifest(handler=HOOK["handler"] | {"timeout": -1}),
    "$.hooks[0].handler.timeout_action": manifest(handler=HOOK["handler"] | {"timeout_action": "explode"}),
    "$.hooks[0].handler.platform.beos": manifest(handler=HOOK["handler"] | {"platform": {"beos": "x"}}),
    "$.hooks[0].handler.env.A": manifest(handler=HOOK["handler"] | {"env": {"A": 1}}),
}


@pytest.mark.covers("HIF-10", "HIF-11", "HIF-88", "HIF-89")
@pytest.mark.parametrize("path", WRONG)
def test_every_fault_has_its_place(path):
    """
    A wrong value is refused with its path.
    """
    assert [path] == [place for place, _ in problems_of(WRONG[path])[0]]


@pytest.mark.covers("HIF-87")
def test_a_tool_of_nobodys_is_taken_literally():
    """
    An unknown name in a matcher is a warning, not a problem.
    """
    problems, warnings = problems_of(manifest(matcher=["shell", "MyOwnTool"]))

    assert ([], ["$.hooks[0].matcher"]) == (problems, [path for path, _ in warnings])


def test_all_faults_are_told_at_once():
    """
    Two faults give two problems.
    """
    document = {"spec": "hooks/9.0", "hooks": [HOOK | {"blocking": 1}]}

    assert ["$.spec", "$.hooks[0].blocking"] == [path for path, _ in problems_of(document)[0]]


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


texts = st.text(max_size=8)
loose = st.none() | st.booleans() | st.integers() | texts | st.lists(texts, max_size=2) | st.dictionaries(texts, texts, max_size=2)
hooks = st.fixed_dictionaries(
    {"event": st.sampled_from(sorted(EVENTS)) | loose},
    optional={
        "handler": st.fixed_dictionaries({"type": st.sampled_from(["command", "http"]) | loose}, optional={"command": loose, "timeout": loose, "env": loose}) | loose,
        "matcher": st.sampled_from(["shell", {"pattern": "a"}, {"mcp": {"server": "s"}}, ["shell"], {"mcp": {}}, 5]) | loose,
        "blocking": loose,
        "degradation": st.dictionaries(texts, st.sampled_from(["block", "warn", "never"]), max_size=2) | loose,
        "provider_data": loose,
    },
)


@given(st.fixed_dictionaries({}, optional={"spec": st.sampled_from(["hooks/1.0", "hooks/0.1", "x"]) | loose, "hooks": st.lists(hooks, max_size=2) | loose}))
def test_the_published_schema_refuses_nothing_that_we_accept(document):
    """
    What has no problem here has none for the specification's own schema; ours is stricter where the text is.
    """
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(vector("hif/schema/hook.schema.json").read_bytes())
    theirs = not list(jsonschema.Draft202012Validator(schema).iter_errors(_without_null(document)))
    ours = not problems_of(_without_null(document))[0] if isinstance(document, dict) else False

    assert theirs or not ours


def _without_null(value):
    if isinstance(value, dict):
        return {key: _without_null(item) for key, item in value.items() if item is not None}
    return [_without_null(item) for item in value] if isinstance(value, list) else value

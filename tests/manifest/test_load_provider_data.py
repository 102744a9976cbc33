"""Data for single agents: kept, checked, and never believed."""

import ast
import json

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from hookonce import agents
from hookonce.base.jsontext import dump as as_json
from hookonce.convert.conversion import convert
from hookonce.manifest.degrade import degrade
from hookonce.manifest.load import build_manifest, dump_manifest, find_problems
from tests.agents._config.node import plain_wording
from tests.laws.strategies import json_values
from tests.manifest.manifests import hooks
from tests.shared import ROOT

ABLE = list(agents.AGENTS)
# A generated program carries its hooks whole, so that it can be read back.
FILED = [name for name in ABLE if agents.load(name).config.language != "code"]
# The slugs of the format, and those that only its code knows.
SLUGS = ["claude-code", "gemini-cli", "cursor", "windsurf", "vs-code-copilot", "copilot-cli", "kiro", "opencode"]
SLUGS += ["factory-droid", "codex", "cline", "amp"]
STRANGERS = ["pi", "zed", "roo-code", "crush"]


def words_of(room):
    """Every short text in the code of a room: whatever key it looks for is among them."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in sorted((ROOT / "src" / "hookonce" / room).glob("*.py"))]
    texts = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return sorted(text for text in texts if text.isidentifier() and len(text) < 20)


keys = st.sampled_from(["hookonce", "event", "matcher", "group", "joined", "command", "type", "timeout"]) | st.sampled_from(words_of("agents"))
inner = st.dictionaries(keys, json_values | st.sampled_from(["PreToolUse", ["x"], "command"]), max_size=4)
evil = st.fixed_dictionaries({}, optional=dict.fromkeys(["command", "commandWindows", "powershell", "bash", "url", "prompt"], st.just("./evil")))
hostile = evil | st.builds(lambda own, rest: rest | own, st.fixed_dictionaries({}, optional={"hookonce": json_values | inner}), inner | st.just({}))


def with_data(hook, slug, data):
    """A hook that carries this for an agent."""
    return hook | {"provider_data": {slug: data}}


@given(one=hooks, other=hooks, data=hostile, more=hostile)
def test_rendering_bears_anything(one, other, data, more):
    """
    Whatever a manifest says for any agent, its configuration is made, is JSON, and can be read.
    """
    for agent in map(agents.load, ABLE):
        note(agent.name)
        told = [with_data(one, agent.name, data), with_data(other, agent.name, more)]
        manifest = build_manifest({"spec": "hooks/1.0", "hooks": told})

        document, _ = agent.config.render(agent, degrade(manifest, agent.config.capabilities).hooks, plain_wording)

        agent.config.parse(agent, json.loads(as_json(document)))


@pytest.mark.covers("HIF-106")
@given(one=hooks, data=hostile)
def test_nothing_else_runs_than_what_the_manifest_says(one, data):
    """
    An agent's own data adds to an entry and never replaces its command; a conversion with it is verified.
    """
    plain = {"spec": "hooks/1.0", "hooks": [one | {"provider_data": {}}]}
    for agent in map(agents.load, ABLE):
        note(agent.name)
        document = {"spec": "hooks/1.0", "hooks": [with_data(one, agent.name, data)]}

        made = convert(document, None, agent)

        assert runs(agent, convert(plain, None, agent).document) == runs(agent, made.document)


def runs(agent, document):
    """What an agent would run."""
    found = [hook.handler for hook in agent.config.parse(agent, document)[0]]
    return {(one.type, one.command or one.url or one.prompt, *sorted(one.platform.items())) for one in found}


@pytest.mark.covers("HIF-9", "HIF-78")
@given(data=st.dictionaries(st.sampled_from(STRANGERS) | st.text(max_size=5), st.dictionaries(st.text(max_size=5), json_values, max_size=3), max_size=4))
def test_data_for_strangers_is_kept_and_written_nowhere(data):
    """
    A manifest keeps what it says for agents that nobody here knows; no other agent's file shows it.
    """
    document = {"spec": "hooks/0.1", "hooks": [{"event": "session_start", "handler": {"type": "command", "command": "./a.sh"}} | ({"provider_data": data} if data else {})]}

    assert [] == find_problems(document)[0]
    assert document == dump_manifest(build_manifest(document))
    bare_hook = {"event": "session_start", "handler": {"type": "command", "command": "./a.sh"}}
    for name in FILED:
        others = {slug: own for slug, own in data.items() if slug != name}
        plain = convert({"spec": "hooks/0.1", "hooks": [bare_hook]}, None, agents.load(name)).document
        assert plain == convert({"spec": "hooks/0.1", "hooks": [bare_hook | {"provider_data": others}]}, None, agents.load(name)).document


@pytest.mark.parametrize("slug", ["kiro", "pi", "nobody"])
@pytest.mark.parametrize("wrong", [None, 1, "x", [], True])
def test_data_that_is_no_object_is_refused(slug, wrong):
    """
    Each agent's data is an object, known or not.
    """
    document = {"spec": "hooks/1.0", "hooks": [{"event": "x", "provider_data": {slug: wrong}, "handler": {"type": "command", "command": "x"}}]}

    assert [(f"$.hooks[0].provider_data.{slug}", "expected an object")] == find_problems(document)[0]


@pytest.mark.covers("HIF-79")
@pytest.mark.parametrize("slug", SLUGS)
def test_agents_have_the_names_that_the_format_gives_them(slug):
    """
    A slug of the format is the name of an agent here.
    """
    assert slug == agents.load(slug).name


@pytest.mark.covers("HIF-79")
@pytest.mark.parametrize("slug", STRANGERS)
def test_slugs_without_an_agent_are_known_to_be_strange(slug):
    """
    The slugs that only the format's own code knows have no file here; their data is merely kept.
    """
    assert slug not in agents.AGENTS

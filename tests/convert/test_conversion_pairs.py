"""Every agent's hooks on every other agent."""

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from hookonce import agents
from hookonce.convert.conversion import WrapperOptions, convert
from hookonce.manifest.load import dump_manifest
from hookonce.model import Handler, Hook, Manifest
from tests.cases import cases
from tests.manifest.manifests import matchers

ADAPT = WrapperOptions("/home/dev/.local/share/hookonce/bin/hookonce-on")
NAMES = list(agents.AGENTS)
EVENTS = ["before_tool_execute", "after_tool_execute", "before_prompt", "agent_stop", "session_start", "session_end", "permission_request", "before_model", "file_saved"]


def bare(hook, _):
    """Commands as they are."""
    return hook.handler.command


def reference():
    """Hooks of many kinds: blocking and not, with every kind of matcher, a timeout, an environment."""
    wanted = [None, "shell", "file_edit", ["shell", "file_write"], {"mcp": {"server": "github"}}, {"mcp": {"server": "github", "tool": "make"}}, {"pattern": "^file_"}]
    tools = [
        Hook(event="before_tool_execute", matcher=matcher, blocking=True, handler=Handler(type="command", command=f"./guard.sh {number} 'it''s'", timeout=7))
        for number, matcher in enumerate(wanted)
    ]
    others = [Hook(event=event, handler=Handler(type="command", command=f"/opt/{event}.sh", env={"A": "b"})) for event in EVENTS[1:]]
    further = [
        Hook(event="before_tool_execute", handler=Handler(type="http", url="https://hooks.example.com/x")),
        Hook(event="agent_stop", handler=Handler(type="prompt", prompt="Is the work done?")),
    ]
    return tools + others + further


def native_of(source):
    """The reference as the source's own configuration."""
    agent = agents.load(source)
    document, _ = agent.config.render(agent, list(enumerate(reference())), bare)
    return agent, document


@pytest.mark.part(3)
@pytest.mark.parametrize("adapt", [None, ADAPT], ids=["bare", "wrapped"])
@cases("target", NAMES)
@pytest.mark.parametrize("source", NAMES)
def test_every_pair_gives_a_verified_output_or_named_gaps(source, target, adapt):
    """
    Nothing is raised, no hook is gone without a gap, and every gap says what becomes of its hook.
    """
    agent, document = native_of(source)
    other = agents.load(target)

    made = convert(document, agent, other, adapt=adapt)

    hooks, _ = agent.config.parse(agent, document)
    arrived, _ = other.config.parse(other, made.document)
    lost = {gap.where for gap in made.gaps if gap.effect == "lost" and gap.where.endswith("]")}
    assert made.is_verified
    assert len(hooks) == len(arrived) + len(lost)
    assert {gap.effect for gap in made.gaps} <= {"prevents", "observes", "later", "lost"}
    assert all(gap.note for gap in made.gaps)


@pytest.mark.parametrize("target", [name for name in NAMES if name != "claude-code"])
def test_a_script_for_claude_code_comes_back_unwrapped(target):
    """
    Wrapped for another agent, read there as the bare script that speaks Claude Code, and bare again at home.
    """
    claude, other = agents.load("claude-code"), agents.load(target)
    document = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./a b.sh 'c'", "timeout": 9}]}]}}

    there = convert(document, claude, other, adapt=ADAPT)
    (hook,) = other.config.parse(other, there.document)[0]
    back = convert(there.document, other, claude, adapt=ADAPT)

    assert there.needs_client
    assert ("./a b.sh 'c'", "claude-code") == (hook.handler.command, hook.dialect)
    assert "./a b.sh 'c'" == back.document["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    assert not back.needs_client


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)
handlers = st.builds(Handler, type=st.just("command"), command=texts, timeout=st.none() | st.integers(1, 600))
hooks = st.builds(Hook, event=st.sampled_from(EVENTS), matcher=st.none() | matchers, blocking=st.booleans(), handler=handlers)


@given(made=st.lists(hooks, min_size=1, max_size=4))
def test_any_manifest_becomes_any_agents_configuration(made):
    """
    Whatever the commands and matchers are.
    """
    document = dump_manifest(Manifest(spec="hooks/0.1", hooks=made))

    for target in NAMES:
        note(target)
        assert convert(document, None, agents.load(target), adapt=ADAPT).is_verified

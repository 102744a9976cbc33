"""Hooks that bring data for an agent, right or wrong."""

import json

from hypothesis import example, given, note
from hypothesis import strategies as st

from hookonce import agents
from hookonce.model import Handler, Hook
from tests.agents._config.node import plain_wording

EVENTS = ["before_tool_execute", "after_tool_execute", "session_start", "before_prompt", "agent_stop", "subagent_stop"]
MATCHERS = [None, "shell", ["file_write", "file_edit"], {"mcp": {"server": "github"}}, {"mcp": {"server": "github", "tool": "make"}}]
NATIVE_EVENTS = sorted({native for name in agents.AGENTS for native in agents.config_events(agents.load(name))})
TEXTS = ["", "*", "Bash", "command", "set", "action", "x", *NATIVE_EVENTS]
KEYS = ["event", "matcher", "group", "joined", "set", "settings", "type", "typed", "nested", "keys", "system", "args", "direct"]
KEYS += ["bare", "flat", "generation", "more", "when", "then", "document", "action", "timeout", "narrows"]
ENTRY_KEYS = ["type", "command", "timeout", "matcher", "hooks", "enabled", "args", "name", "file", "text", "failClosed", "exec", "bash"]
values = st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(TEXTS)
values |= st.dictionaries(st.sampled_from(["x", "hooks", "matcher", "type", "enabled", "command"]), values, max_size=2)
values |= st.lists(st.sampled_from(TEXTS), max_size=2)
placements = st.dictionaries(st.sampled_from(KEYS), values, max_size=4)
own_data = st.builds(
    lambda keys, placement: keys | {"hookonce": placement},
    st.dictionaries(st.sampled_from(ENTRY_KEYS), values, max_size=3),
    placements | values,
)
handlers = st.builds(Handler, type=st.just("command"), command=st.sampled_from(["./a.sh", "./b.sh x"]), timeout=st.none() | st.integers(1, 600))


def meaning(hook, exact):
    """What no data may change, as something that can be compared and sorted."""
    return hook.event, json.dumps(hook.matcher) if exact else "", hook.handler.command


@given(st.lists(st.tuples(st.sampled_from(EVENTS), st.sampled_from(MATCHERS), handlers, own_data), min_size=1, max_size=3))
@example([("agent_stop", None, Handler(type="command", command="./a.sh"), {"hookonce": {"group": {}}})])
def test_no_data_for_an_agent_changes_what_its_file_says(rows):
    """
    Events, matchers and commands read back as the manifest has them, whatever the data for the agent says.
    """
    for name in agents.AGENTS:
        note(name)
        agent = agents.load(name)
        hooks = [
            Hook(event=event, matcher=matcher, handler=handler, blocking=True, provider_data={name: data})
            for event, matcher, handler, data in rows
        ]

        document, gaps = agent.config.render(agent, list(enumerate(hooks)), plain_wording)

        note(json.dumps(document)[:400])
        lost = {gap.where for gap in gaps if gap.effect == "lost"}
        exact = not any(gap.capability == "matcher" for gap in gaps)
        meant = [hook for index, hook in enumerate(hooks) if f"$.hooks[{index}]" not in lost]
        found, _ = agent.config.parse(agent, document)
        assert sorted({meaning(hook, exact) for hook in meant}) == sorted({meaning(hook, exact) for hook in found})

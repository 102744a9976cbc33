"""Manifests of every kind: ones without a fault, and ones with something wrong somewhere."""

from hypothesis import strategies as st

from hookonce.manifest.schema import PLATFORMS
from hookonce.vocabulary.decision_merge import CAPABILITIES
from hookonce.vocabulary.events import EVENTS
from hookonce.vocabulary.tools import ARGUMENTS
from tests.laws.strategies import json_values

words = st.text("abcxyz_ $'\"é", max_size=6)
filled = st.text("abcxyz_ $'\"é", min_size=1, max_size=6)
names = st.sampled_from(["A", "B", "x_new", "claude-code", "pi", "zed"])
flags = st.booleans()
seconds = st.integers(0, 600) | st.floats(0, 600).map(lambda value: round(value, 3))

tools = (
    st.sampled_from([*ARGUMENTS, "MyOwnTool"])
    | st.fixed_dictionaries({"pattern": st.sampled_from(["^file_", "a|b", "(?i)bash", ".*"])})
    | st.fixed_dictionaries({"mcp": st.fixed_dictionaries({"server": filled}, optional={"tool": filled})})
)
matchers = tools | st.lists(tools, max_size=3)

SHARED = {"timeout": seconds, "timeout_action": st.sampled_from(["warn", "block"]), "status_message": words, "async": flags}
COMMAND = SHARED | {
    "platform": st.dictionaries(st.sampled_from(["windows", "linux", "darwin"]), filled, max_size=2),
    "cwd": filled,
    "env": st.dictionaries(names, words, max_size=2),
    "x_new": json_values,
}
HTTP = SHARED | {
    "method": st.sampled_from(["GET", "POST", "put"]),
    "headers": st.dictionaries(names, words | st.just("Bearer $A"), max_size=2),
    "allowed_env": st.lists(names, max_size=2),
}
URLS = ["https://example.org/hook", "http://127.0.0.1:8080/x", "http://example.org/'$(id)'"]


def _handler(kind, needed, more):
    return st.fixed_dictionaries({"type": st.just(kind)} | needed, optional=more)


commands = _handler("command", {"command": st.sampled_from(["./a.sh", "./b.sh 'x y'", "echo $HOME"])}, COMMAND)
handlers = st.one_of(
    commands,
    _handler("http", {"url": st.sampled_from(URLS)}, HTTP),
    _handler("prompt", {"prompt": filled}, SHARED | {"model": words}),
    _handler("agent", {"prompt": filled}, SHARED | {"model": words}),
)

provider_data = st.dictionaries(names, st.dictionaries(words, json_values, max_size=2), max_size=2)
HOOK = {
    "name": words,
    "matcher": matchers,
    "blocking": flags,
    "degradation": st.dictionaries(st.sampled_from([*CAPABILITIES, "x"]), st.sampled_from(["block", "warn", "exclude"]), max_size=3),
    "capabilities": st.lists(st.sampled_from([*CAPABILITIES]), max_size=2),
    "provider_data": provider_data,
    "may_allow": flags,
    "environment": st.just("installation"),
    "dialect": st.sampled_from(["canonical", "claude-code", "gemini-cli"]),
    "files": st.lists(words, max_size=2),
    "x_team": json_values,
}
USUAL = ["before_tool_execute", "after_tool_execute", "before_prompt", "session_start", "agent_stop"]


def _with_failure_mode(hook, mode):
    """A hook may fail closed only if it can refuse."""
    handler = hook["handler"]
    can_refuse = hook.get("blocking") is True and not handler.get("async") and handler.get("timeout_action") != "warn"
    return hook | ({} if mode is None or (mode == "closed" and not can_refuse) else {"on_failure": mode})


hooks = st.builds(
    _with_failure_mode,
    st.fixed_dictionaries({"event": st.sampled_from(USUAL) | st.sampled_from(sorted(EVENTS)), "handler": handlers}, optional=HOOK),
    st.none() | st.sampled_from(["open", "closed"]),
)
valid = st.fixed_dictionaries(
    {"spec": st.sampled_from(["hooks/1.0", "hooks/0.1", "hooks/0.2"]), "hooks": st.lists(hooks, min_size=1, max_size=4)},
    optional={"$schema": words, "x_top": json_values},
)

# What somebody might write in the wrong place.
WRONG = [None, True, 0, -1, 1.5, 10**12, "", "x", "closed", "block", "shell", "(?=a)", "hooks/2.0", "hooks/01.7", "hooks/1.0\n", [], ["x"], [1], {}, {"A": 1}]
WRONG += [{"A": "x"}, {"A": {}}, {"A": "warn"}, {"pattern": "(?=a)"}, {"pattern": 1}, {"mcp": {}}, {"mcp": {"server": "s", "tool": None}}]
WRONG += [{"pattern": "a", "mcp": {"server": "s"}}, {"pattern": 1, "mcp": {"server": "s"}}, {"type": "magic"}, {"type": "command"}, {"type": "http", "url": 5}]
KEYS = ["spec", "hooks", "event", "matcher", "handler", *HOOK, "on_failure", "type", "command", "url", "prompt", "model", *COMMAND, *HTTP, *PLATFORMS]


@st.composite
def mutated(draw):
    """A manifest with one to three changes anywhere: a value replaced, added or taken out."""
    document = draw(valid)
    for _ in range(draw(st.integers(1, 3))):
        document = _change_value(draw, document)
    return document


def _change_value(draw, value):
    wrong = st.sampled_from(WRONG)
    if isinstance(value, dict) and draw(st.integers(0, 9)):
        key = draw(st.sampled_from([*sorted(value)] * 4 + KEYS))
        if key not in value:
            return value | {key: draw(wrong)}
        if draw(st.integers(0, 4)) == 0:
            return {name: item for name, item in value.items() if name != key}
        return value | {key: _change_value(draw, value[key])}
    if isinstance(value, list) and value and draw(st.integers(0, 9)):
        spot = draw(st.integers(0, len(value) - 1))
        return [*value[:spot], _change_value(draw, value[spot]), *value[spot + 1 :]]
    return draw(wrong)

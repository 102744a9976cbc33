"""OpenCode's hooks: a generated plugin, run under Node."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.agents import decode
from hookonce.configure.entries import build_entries
from hookonce.convert.conversion import WrapperOptions, convert
from hookonce.model import Handler, Hook
from tests.agents._config.node import NASTY, hook, needs_node, plain_wording, render_file, run_plugin
from tests.sample import part
from tests.shared import reference

OPENCODE = agents.load("opencode")
FOREIGN = """export const Guard = async () => ({
  "tool.execute.before": async (input) => { if (input.tool === "bash") throw new Error("no") },
  event: async ({ event }) => { if (event.type === 'session.idle') console.log("done") },
})
"""
DRIVER = """
import { readFileSync } from "node:fs"
import { Hookonce } from "./plugin.mjs"
const hooks = await Hookonce({ directory: process.cwd() })
const results = []
for (const [name, input, output] of JSON.parse(readFileSync(0, "utf8"))) {
  const args = output?.args
  try {
    await hooks[name]?.(input, output)
    results.push({ output, same: output?.args === args })
  } catch (fault) {
    results.push({ thrown: fault.message })
  }
}
console.log(JSON.stringify({ names: Object.keys(hooks).sort(), results }))
"""


def call(tool="bash", **args):
    """A call of a tool, before it runs."""
    return ["tool.execute.before", {"tool": tool, "sessionID": "ses_1", "callID": "call_1"}, {"args": args}]


def bus(kind, **properties):
    """A message on the bus."""
    return ["event", {"event": {"id": "evt_1", "type": kind, "properties": properties}}]


def play(folder, hooks, *steps):
    """The results of some steps with the plugin of these hooks."""
    text, _ = render_file("opencode", *hooks)
    return run_plugin(folder, text, DRIVER, steps)["results"]


def parse_plugin(text, name="hookonce.js"):
    return OPENCODE.config.parse(OPENCODE, {"files": {name: text}})


@pytest.mark.covers("HIF-X19")
@needs_node
def test_a_hook_that_throws_prevents_the_call(tmp_path):
    """
    What a hook wants thrown is thrown; with no opinion nothing happens.
    """
    hooks = [hook("""cat >/dev/null; echo '{}'"""), hook("""echo '{"throw": "not today"}'""", matcher="shell")]

    assert [{"thrown": "not today"}, {"output": {"args": {}}, "same": True}] == play(tmp_path, hooks, call(), call("read"))


@needs_node
def test_input_is_rewritten_in_place_and_seen_by_the_next_hook(tmp_path):
    """
    OpenCode holds on to the object of arguments, so that it is changed and never replaced.
    """
    hooks = [
        hook("""echo '{"assign": {"args": {"command": "ls", "timeout": 5}}}'"""),
        hook("""cat >seen.json; echo '{"assign": {"args.timeout": 9, "args.more.deep": [1]}}'"""),
    ]

    (result,) = play(tmp_path, hooks, call(command="rm -rf .", description="x"))

    assert {"output": {"args": {"command": "ls", "timeout": 9, "more": {"deep": [1]}}}, "same": True} == result
    assert {"command": "ls", "timeout": 5} == json.loads((tmp_path / "seen.json").read_text())["output"]["args"]


@needs_node
def test_a_refusal_ends_the_chain(tmp_path):
    """
    Hooks run in the order of the manifest, and none after one that threw.
    """
    hooks = [hook("echo a >>log; echo '{}'"), hook("""echo b >>log; echo '{"throw": "b"}'"""), hook("echo c >>log; echo '{}'")]

    play(tmp_path, hooks, call())

    assert "a\nb\n" == (tmp_path / "log").read_text()


FAILING = {
    "crash": "exit 3",
    "signal": "kill -9 $$",
    "silence": "true",
    "missing": "./there-is-no-such-command",
    "prose": "echo hello",
    "list": "echo '[]'",
    "word": """echo '{"decision": "deny"}'""",
    "type": """echo '{"throw": 5}'""",
    "flood": "head -c 3000000 /dev/zero",
    "nowhere": """echo '{"assign": {"args.a.b": 1}}'""",
    "prototype": """echo '{"assign": {"args.__proto__.x": 1}}'""",
    "late": "sleep 60",
}


@pytest.mark.part(3)
@needs_node
@pytest.mark.parametrize("kind", FAILING)
def test_without_a_valid_answer_the_fail_mode_counts(kind, tmp_path):
    """
    Open is nothing at all; one closed hook on the event makes every failure there a refusal.
    """
    failing = hook(FAILING[kind], timeout=1, name="guard")
    closed = hook("echo '{}'", matcher="web_fetch", on_failure="closed")

    for hooks in part([[failing], [failing, closed]], 2, [*FAILING].index(kind)):
        (heard,) = play(tmp_path, hooks, call(a="x"))
        if closed in hooks:
            assert heard["thrown"].startswith("hookonce: guard ")
        else:
            assert {"output": {"args": {"a": "x"}}, "same": True} == heard


@needs_node
def test_a_hook_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path):
    """
    The whole process group goes, and a hook may say that lateness alone refuses or passes.
    """
    slow = "sleep 60 & echo $! >pid; wait"
    began = time.monotonic()

    results = [
        play(tmp_path, [hook(slow, timeout=0.5, timeout_action="block")], call()),
        play(tmp_path, [hook(slow, timeout=0.5, timeout_action="warn", on_failure="closed")], call()),
    ]

    assert ["thrown", "output"] == [next(iter(result)) for (result,) in results]
    assert time.monotonic() - began < 20
    pid = (tmp_path / "pid").read_text().strip()
    assert not Path(f"/proc/{pid}").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text()


@needs_node
def test_something_left_running_does_not_keep_the_agent_waiting(tmp_path):
    """
    A hook that has ended has answered, whoever still holds its output.
    """
    began = time.monotonic()

    (result,) = play(tmp_path, [hook("""sleep 20 & echo '{"throw": "no"}'""")], call())

    assert {"thrown": "no"} == result
    assert time.monotonic() - began < 10


@needs_node
def test_a_deny_counts_whatever_the_exit_code(tmp_path):
    """
    Somebody who said no and then stumbled has still said no.
    """
    assert [{"thrown": "no"}] == play(tmp_path, [hook("""echo '{"throw": "no"}'; exit 1""")], call())


@pytest.mark.part(3)
@needs_node
@pytest.mark.parametrize(
    ("matcher", "fits", "others"),
    [
        ("shell", ["bash"], ["read", "gh_bash"]),
        ("file_edit", ["edit", "apply_patch"], ["write", "read"]),
        (["file_write", "file_read"], ["write", "read", "apply_patch"], ["edit"]),
        ({"mcp": {"server": "gh"}}, ["gh_make", "gh_x_y"], ["make", "other_make"]),
        ({"mcp": {"server": "my.server", "tool": "a b"}}, ["my_server_a_b"], ["my.server_a b", "my_server_ab"]),
        ("mcp:gh/make", ["gh_make"], ["gh_other"]),
        ({"pattern": "^mcp:"}, ["gh_make"], ["apply_patch", "plan_exit", "bash"]),
        ({"pattern": "^file_"}, ["read", "write", "edit", "apply_patch"], ["bash", "gh_file_"]),
        ({"pattern": "(?i)^SHELL$"}, ["bash"], ["read"]),
        ({"pattern": "^gh_(make|break)$"}, ["gh_make", "gh_break"], ["gh_take"]),
        ("my-own_tool", ["my-own_tool"], ["my-own_tool2"]),
        ([], [], ["bash"]),
        (None, ["bash", "gh_make"], []),
    ],
)
def test_matchers_keep_their_meaning(matcher, fits, others, tmp_path):
    """
    The plugin sorts tools out by their native names.
    """
    results = play(tmp_path, [hook("""echo '{"throw": "me"}'""", matcher=matcher)], *map(call, fits + others))

    assert [{"thrown": "me"}] * len(fits) == results[: len(fits)]
    assert all("output" in result for result in results[len(fits) :])


@needs_node
def test_the_bus_is_heard_and_never_refuses(tmp_path):
    """
    Messages have the hooks of their type; a sub-agent's session is an event of its own, and no rejection escapes.
    """
    hooks = [
        hook("cat >start.json; exit 1", event="session_start", on_failure="closed"),
        hook("cat >sub.json; echo '{}'", event="subagent_start"),
        hook("cat >idle.json; echo '{}'", event="agent_stop"),
        hook("cat >done.json; echo '{}'", event="subagent_stop"),
        hook("cat >new.json; echo '{}'", event="file_created"),
        hook("cat >end.json; echo '{}'", event="session_end"),
    ]
    results = play(
        tmp_path,
        hooks,
        ["config", {"mcp": {"gh": {}}}],
        bus("session.created", info={"id": "ses_1"}),
        bus("session.created", info={"id": "ses_2", "parentID": "ses_1"}),
        bus("file.watcher.updated", file="a", event="add"),
        bus("file.watcher.updated", file="b", event="change"),
        bus("message.updated", sessionID="ses_1", info={"id": "msg_2", "role": "assistant", "parentID": "msg_1"}),
        bus("session.idle", sessionID="ses_2"),
        bus("session.idle", sessionID="ses_1"),
        ["dispose"],
    )

    assert not any("thrown" in result for result in results)
    seen = {name: decode(OPENCODE, json.loads((tmp_path / f"{name}.json").read_text())) for name in ("start", "sub", "done", "idle", "new", "end")}
    assert ("ses_1", "ses_2") == (seen["done"].parent_session, seen["done"].subagent.id)
    assert seen["idle"].parent_session is None
    assert {"start": "session_start", "sub": "subagent_start", "done": "subagent_stop", "idle": "agent_stop", "new": "file_created", "end": "session_end"} == {name: event.type for name, event in seen.items()}
    assert {"start": "ses_1", "sub": "ses_2", "done": "ses_2", "idle": "ses_1", "new": "ses_1", "end": "ses_1"} == {name: event.session for name, event in seen.items()}
    assert {str(tmp_path)} == {event.cwd for event in seen.values()}


@needs_node
def test_a_hook_reads_one_call_that_can_be_decoded(tmp_path):
    """
    On stdin is {hook, input, output} with what the plugin was told when it started.
    """
    play(tmp_path, [hook("cat >seen.json; echo '{}'")], ["config", {"mcp": {"my.gh": {}}}], call("my_gh_make", a=1))

    seen = json.loads((tmp_path / "seen.json").read_text())
    event = decode(OPENCODE, seen)
    assert {"hook", "input", "output", "directory", "sessionID", "mcp_servers"} == seen.keys()
    assert ("before_tool_execute", "mcp:my.gh/make", {"a": 1}) == (event.type, event.tool.name, event.tool.input)


@needs_node
def test_the_end_of_a_call_tells_its_time_without_that_of_hooks(tmp_path):
    """
    It is measured between the hooks before the call and those after it; what no hook has seen begin has none.
    """
    hooks = [hook("sleep 0.4; echo '{}'"), hook("cat >$(date +%s%N).end; echo '{}'", event="after_tool_execute")]
    ends = [["tool.execute.after", {"tool": "bash", "sessionID": "ses_1", "callID": name, "args": {}}, {"metadata": {"exit": 0}}] for name in ("call_1", "call_2")]

    play(tmp_path, hooks, call(), *ends)

    seen = [decode(OPENCODE, json.loads(path.read_text())).tool.result for path in sorted(tmp_path.glob("*.end"))]
    assert [True, True] == [result.ok for result in seen]
    assert 0 <= seen[0].duration_ms < 300
    assert seen[1].duration_ms is None


@needs_node
def test_a_command_runs_where_and_with_what_its_handler_says(tmp_path):
    """
    Directory, environment, platform and waiting are the plugin's own doing.
    """
    (tmp_path / "inner").mkdir()
    hooks = [
        hook("""printf '%s %s' "$A" "${PWD##*/}" >told; echo '{}'""", env={"A": "b c"}, cwd="inner"),
        hook("echo no >wrong; echo '{}'", platform={"linux": "echo '{}' >linux; echo '{}'", "macos": "echo '{}' >linux; echo '{}'"}),
        hook("""sleep 1; echo yes >later; echo '{"throw": "nobody hears"}'""", background=True),
    ]

    (result,) = play(tmp_path, hooks, call())

    assert "output" in result
    assert "b c inner" == (tmp_path / "inner" / "told").read_text()
    assert (True, False) == ((tmp_path / "linux").exists(), (tmp_path / "wrong").exists())
    assert "yes\n" == (tmp_path / "later").read_text()  # the driver waits for it, the call did not


@pytest.mark.covers("HIF-106")
@needs_node
def test_no_command_breaks_out_of_the_table(tmp_path):
    """
    Whatever a command holds, the plugin loads, and runs exactly that.
    """
    commands = [f"cat >/dev/null; cat >out{number} <<'END'\n{text}\nEND\necho '{{}}'" for number, text in enumerate([*NASTY, "".join(NASTY)])]
    more = [hook(command, name="*/ `${x}` </script>", matcher="'\"`") for command in commands]

    play(tmp_path, [hook(command) for command in commands] + more, call())

    assert [f"{text}\n" for text in [*NASTY, "".join(NASTY)]] == [(tmp_path / f"out{number}").read_text(encoding="utf-8") for number in range(len(commands))]
    text, _ = render_file("opencode", *(hook(command) for command in commands))
    assert not {"</", "*/ ", "\u2028", "\u2029"} & {text[place : place + size] for size in (1, 2, 3) for place in range(text.index("}\n\nimport"))}


@given(
    st.lists(
        st.builds(
            Hook,
            event=st.sampled_from(["before_tool_execute", "before_prompt", "session_end", "file_created", "before_model", "vendor.opencode.session.updated"]),
            handler=st.builds(
                Handler,
                type=st.just("command"),
                command=st.text(min_size=1),
                timeout=st.none() | st.integers(0, 10**9) | st.floats(0, 10**6),
                env=st.dictionaries(st.text(), st.text(), max_size=2),
                background=st.booleans(),
            ),
            name=st.none() | st.text(),
            matcher=st.none() | st.text() | st.lists(st.text() | st.builds(lambda text: {"pattern": text}, st.text()), max_size=3) | st.builds(lambda server, tool: {"mcp": {"server": server, "tool": tool}}, st.text(), st.none() | st.text()),
            blocking=st.booleans(),
            on_failure=st.sampled_from([None, "open", "closed"]),
            dialect=st.sampled_from([None, "claude-code"]),
            provider_data=st.dictionaries(st.sampled_from(["opencode", "kiro"]), st.dictionaries(st.sampled_from(["file", "text", "env", "hookonce"]), st.none() | st.text() | st.lists(st.integers()) | st.dictionaries(st.just("event"), st.text() | st.integers())), max_size=2),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_what_is_generated_is_read_back_exactly(hooks):
    """
    The table holds the hooks as their manifest has them.
    """
    text, _ = render_file("opencode", *hooks)

    assert (hooks, []) == parse_plugin(text)
    assert text == OPENCODE.config.render(OPENCODE, list(enumerate(parse_plugin(text)[0])), plain_wording)[0]["files"]["hookonce.js"]
    text.encode()


def test_a_wrapped_command_is_read_as_what_it_wraps():
    """
    A script for another agent runs through our client, and comes back bare with its dialect.
    """
    claude = {"hooks": {"PreToolUse": [{"matcher": "Bash|mcp__gh__.*", "hooks": [{"type": "command", "command": "./it's.sh", "timeout": 7}]}]}}

    made = convert(claude, agents.load("claude-code"), OPENCODE, adapt=WrapperOptions("/opt/hookonce-on", "user")).document["files"]["hookonce.js"]

    ((found,), gaps) = parse_plugin(made)
    assert "/opt/hookonce-on opencode tool.execute.before --dialect claude-code --run" in made
    assert ("./it's.sh", 7, "claude-code", ["shell", {"mcp": {"server": "gh"}}], []) == (found.handler.command, found.handler.timeout, found.dialect, found.matcher, gaps)


def test_what_is_called_counts_and_not_what_is_said():
    """
    A table that was changed by hand is read as what it does.
    """
    text, _ = render_file("opencode", hook("./a.sh", matcher="shell"))
    changed = text.replace('"tools": [\n        "bash"\n      ]', '"tools": ["read", "gh_*"]').replace('"on": "tool.execute.before"', '"on": "tool.execute.after"')

    ((found,), gaps) = parse_plugin(changed)

    assert ("after_tool_execute", ["file_read", {"pattern": "^gh_.*$"}], []) == (found.event, found.matcher, gaps)


def test_somebodys_plugin_stays_a_file():
    """
    Foreign code is one hook for each event that it names, comes back as it was, and is lost elsewhere by name.
    """
    document = {"files": {"guard.ts": FOREIGN}}

    hooks, gaps = OPENCODE.config.parse(OPENCODE, document)

    assert [("agent_stop", "code", False), ("before_tool_execute", "code", True)] == sorted((one.event, one.handler.type, one.blocking) for one in hooks)
    assert [("$.files.guard.ts", "prevents")] == [(gap.where, gap.effect) for gap in gaps]
    assert "not converted" in gaps[0].note
    assert (document, []) == OPENCODE.config.render(OPENCODE, list(enumerate(hooks)), plain_wording)
    for target in (None, *(agents.load(name) for name in ("amp", "cline", "claude-code"))):
        made = convert(document, OPENCODE, target)
        assert {"$.hooks[0]", "$.hooks[1]"} <= {gap.where for gap in made.gaps if gap.effect == "lost"}


def test_the_plugin_of_real_runs_stays_a_file():
    """
    The recorder with which OpenCode was run names its events, and comes back as it was.
    """
    file = reference("lab", "configs", "opencode", "capture.js")
    document = {"files": {file.name: file.read_text(encoding="utf-8")}}

    hooks, gaps = OPENCODE.config.parse(OPENCODE, document)

    assert {"before_tool_execute", "after_tool_execute", "before_prompt", "session_end"} <= {one.event for one in hooks}
    assert (1, document) == (len(gaps), OPENCODE.config.render(OPENCODE, list(enumerate(hooks)), plain_wording)[0])


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(x*)*y", "a*a*a*a*b", "[[:alpha:]]x", r"\pLx", "(?i)xy", r"\Qx\E", "x{1000}"])
def test_patterns_that_another_engine_reads_otherwise_or_slowly_stay_at_home(pattern):
    """
    The plugin never tries them: what they fit is found out when it is written.
    """
    text, gaps = render_file("opencode", hook("./a.sh", matcher={"pattern": pattern}))

    tools = json.loads(text[text.index("{") : text.index("\n\nimport")])["hooks"][0]["tools"]
    assert all(type(one) is str for one in tools)
    assert tools or gaps
    assert {gap.capability for gap in gaps} <= {"matcher"}


def test_our_plugin_stands_beside_somebodys():
    """
    Another's file keeps its name, even if it is ours; code without a known event is kept too.
    """
    foreign, _ = OPENCODE.config.parse(OPENCODE, {"files": {"hookonce.js": "export const x = 1\n"}})

    made, gaps = OPENCODE.config.render(OPENCODE, list(enumerate([*foreign, hook("./a.sh")])), plain_wording)

    assert ({"hookonce.js", "hookonce-2.js"}, []) == (made["files"].keys(), gaps)
    assert "export const x = 1\n" == made["files"]["hookonce.js"]
    assert ["./a.sh", None] == [one.handler.command for one in OPENCODE.config.parse(OPENCODE, made)[0]]


@pytest.mark.parametrize("own", [{}, {"file": "../x.js", "text": "1"}, {"file": 5, "text": "1"}, {"file": "x.js"}, {"file": "x.js", "text": "quiet"}, {"file": "", "text": ""}])
def test_code_that_nobody_wrote_is_lost_by_name(own):
    """
    What a manifest says to be code is believed only if it is a file that reads as that hook.
    """
    made, gaps = OPENCODE.config.render(OPENCODE, [(4, Hook(event="before_tool_execute", handler=Handler(type="code"), blocking=True, provider_data={"opencode": own}))], plain_wording)

    assert ({"files": {}}, [("$.hooks[4]", "lost")]) == (made, [(gap.where, gap.effect) for gap in gaps])


BROKEN = '// generated by hookonce; do not edit, it is written anew as a whole\nconst TABLE = {"hooks": '


@pytest.mark.parametrize(
    ("document", "hooks", "gaps"),
    [
        ({}, 0, 0),
        ({"files": []}, 0, 0),
        ({"files": {"a.js": None}}, 0, 1),
        ({"files": {"hookonce.js": BROKEN}}, 1, 1),
        ({"files": {"hookonce.js": BROKEN + "5}"}}, 1, 1),
        ({"files": {"hookonce.js": BROKEN + "[]}"}}, 0, 0),
        ({"files": {"hookonce.js": BROKEN + '[5, {}, {"on": 1}, {"on": "dispose", "event": "x", "handler": {"type": "http"}}, {"event": "x", "handler": {"type": "command", "command": "a"}, "matcher": 5, "on": "dispose"}]}'}}, 0, 5),
        ({"files": {"hookonce.js": BROKEN + "[" * 5000}}, 1, 1),
    ],
)
def test_nothing_that_is_read_raises_or_vanishes(document, hooks, gaps):
    """
    A broken table is somebody's code, and each entry that is no hook has a gap.
    """
    found, told = OPENCODE.config.parse(OPENCODE, document)

    assert (hooks, gaps) == (len(found), len(told))


def test_parts_of_a_plugin_are_no_events():
    """
    A hook cannot stand for a plugin's tools or its settings.
    """
    made, gaps = OPENCODE.config.render(OPENCODE, [(0, hook("./a.sh", event="vendor.opencode.tool", blocking=False))], plain_wording)

    assert ({"files": {}}, ["lost"]) == (made, [gap.effect for gap in gaps])


@pytest.mark.parametrize("name", ["opencode", "amp", "cline"])
@pytest.mark.parametrize("events", ["default", "all"])
def test_our_doors_can_be_written_and_read(name, events):
    """
    What install writes has no gap that loses a door, and reads back as those doors.
    """
    agent = agents.load(name)
    made = build_entries(agent, "user", "/home/josé/.local/share/hookonce/bin/hookonce-on", events)

    document, gaps = agent.config.render(agent, list(enumerate(made)), plain_wording)

    again, faults = agent.config.parse(agent, document)
    assert ([], [], True) == (gaps, faults, all("/home/josé/" in text for text in document["files"].values()))
    assert sorted(made, key=repr) == sorted(again, key=repr)

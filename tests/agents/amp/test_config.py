"""Amp's hooks: a generated plugin, run under Node with the answers in Amp's own words."""

import json

import pytest

from hookonce import agents
from hookonce.agents import decode
from hookonce.convert.conversion import convert
from tests.agents._config.node import NASTY, hook, needs_node, plain_wording, render_file, run_plugin

AMP = agents.load("amp")
DRIVER = """
import { readFileSync } from "node:fs"
import plugin, { description } from "./plugin.mjs"
const handlers = {}
const root = { toString: () => `file://${process.cwd()}` }
plugin({
  system: { workspaceRoot: root },
  helpers: { filePathFromURI: (uri) => uri.toString().slice(7) },
  on: (name, handler) => { handlers[name] = handler },
})
const results = []
for (const [name, event] of JSON.parse(readFileSync(0, "utf8"))) results.push((await handlers[name]?.(event, {})) ?? null)
console.log(JSON.stringify({ names: Object.keys(handlers), description, results }))
"""
THREAD = {"thread": {"id": "T-1"}}


def call(tool="Bash", **given):
    """A call of a tool, before it runs."""
    return ["tool.call", THREAD | {"toolUseID": "toolu_1", "tool": tool, "input": given}]


def done(**more):
    """A tool's result."""
    return ["tool.result", THREAD | {"toolUseID": "toolu_1", "tool": "Bash", "input": {"cmd": "ls"}, "status": "done", "output": "a"} | more]


def ended(status="done"):
    """The end of a turn."""
    return ["agent.end", THREAD | {"message": "go", "id": 1, "status": status, "messages": []}]


def play(folder, hooks, *steps):
    """The results of some steps with the plugin of these hooks."""
    text, _ = render_file("amp", *hooks)
    return run_plugin(folder, text, DRIVER, steps)


def says(answer):
    """A command that reads its input and answers."""
    return f"cat >/dev/null; echo '{json.dumps(answer)}'"


@needs_node
def test_a_refused_call_is_rejected_and_the_thread_goes_on(tmp_path):
    """
    Amp's own rejection carries the reason; having no opinion is to allow, over which any other plugin may reject.
    """
    told = play(tmp_path, [hook(says({"throw": "not today"}), matcher="shell"), hook(says({}))], call(cmd="rm"), call("shell_command"), call("Read"))

    rejected = {"action": "reject-and-continue", "message": "not today"}
    assert (["tool.call"], [rejected, rejected, {"action": "allow"}]) == (told["names"], told["results"])
    assert len(told["description"]) <= 300


@needs_node
def test_input_is_rewritten_as_a_whole_and_seen_by_the_next_hook(tmp_path):
    """
    What hooks assign becomes one modification; the next hook reads it in the event as well.
    """
    hooks = [hook(says({"assign": {"input.cmd": "ls"}})), hook("cat >seen.json; echo '{\"assign\": {\"input.cwd\": \"/\"}}'")]

    told = play(tmp_path, hooks, call(cmd="rm", args=[]))

    seen = json.loads((tmp_path / "seen.json").read_text())
    assert [{"action": "modify", "input": {"cmd": "ls", "args": [], "cwd": "/"}}] == told["results"]
    assert ({"cmd": "ls", "args": []}, {"input": {"cmd": "ls", "args": []}}) == (seen["input"]["input"], seen["output"])


@pytest.mark.part(3)
@needs_node
@pytest.mark.parametrize(
    ("event", "answer", "step", "expected"),
    [
        ("after_tool_execute", {"throw": "bad"}, done(), {"status": "error", "error": "bad"}),
        ("after_tool_execute", {"assign": {"output": "b"}}, done(), {"status": "done", "output": "b"}),
        ("after_tool_execute", {}, done(), None),
        ("before_prompt", {"assign": {"message.content": "more", "message.display": False}}, ["agent.start", THREAD | {"message": "hi", "id": 1}], {"message": {"content": "more", "display": False}}),
        ("before_prompt", {"throw": "no"}, ["agent.start", THREAD | {"message": "hi", "id": 1}], None),
        ("agent_stop", {"throw": "run the tests"}, ended(), {"action": "continue", "userMessage": "run the tests"}),
        ("agent_stop", {"assign": {"userMessage": "go on"}}, ended(), {"action": "continue", "userMessage": "go on"}),
        ("agent_stop", {"throw": "run the tests"}, ended("cancelled"), None),
        ("agent_stop", {"throw": "run the tests"}, ended("error"), None),
        ("session_start", {"throw": "no"}, ["session.start", THREAD], None),
        ("vendor.amp.changes.prompt", {"assign": {"append": "x"}}, ["changes.prompt", THREAD | {"workflow": "ship"}], {"append": "x"}),
    ],
)
def test_each_event_has_its_own_answer(event, answer, step, expected, tmp_path):
    """
    The two words of a hook become what Amp knows at that event, or nothing.
    """
    assert [expected] == play(tmp_path, [hook(says(answer), event=event)], step)["results"]


@pytest.mark.part(2)
@needs_node
@pytest.mark.parametrize("command", ["exit 1", "echo no", "sleep 60", "./missing", "true"])
def test_without_a_valid_answer_the_fail_mode_counts(command, tmp_path):
    """
    Open has no opinion, closed rejects; Amp itself never sees an exception.
    """
    opened = play(tmp_path, [hook(command, timeout=1)], call())["results"]
    refused = play(tmp_path, [hook(command, timeout=1, on_failure="closed")], call())["results"]

    assert ([{"action": "allow"}], "reject-and-continue") == (opened, refused[0]["action"])


@needs_node
def test_a_failed_turn_is_an_event_of_its_own(tmp_path):
    """
    Hooks for the end of a turn and hooks for errors share Amp's event without disturbing each other.
    """
    hooks = [hook("echo stop >>log; echo '{}'", event="agent_stop"), hook("echo error >>log; echo '{}'", event="error_occurred", blocking=False)]

    play(tmp_path, hooks, ended(), ended("error"), ended("cancelled"))

    assert "stop\nerror\nstop\n" == (tmp_path / "log").read_text()


@pytest.mark.part(2)
@needs_node
@pytest.mark.parametrize(
    ("event", "step", "expected"),
    [
        ("before_tool_execute", call("mcp__gh__make", a=1), ("before_tool_execute", "mcp:gh/make")),
        ("after_tool_execute", done(), ("after_tool_execute", "shell")),
        ("before_prompt", ["agent.start", THREAD | {"message": "hi", "id": 1}], ("before_prompt", None)),
        ("session_start", ["session.start", THREAD], ("session_start", None)),
        ("error_occurred", ended("error"), ("error_occurred", None)),
    ],
)
def test_a_hook_reads_one_call_that_can_be_decoded(event, step, expected, tmp_path):
    """
    On stdin is {hook, input, output} with the workspace and the thread.
    """
    play(tmp_path, [hook("cat >seen.json; echo '{}'", event=event)], step)

    found = decode(AMP, json.loads((tmp_path / "seen.json").read_text()))
    assert (*expected, "T-1", str(tmp_path)) == (found.type, found.tool and found.tool.name, found.session, found.cwd)


@pytest.mark.part(2)
@needs_node
@pytest.mark.parametrize(
    ("matcher", "fits", "others"),
    [
        ("shell", ["Bash", "shell_command", "async_shell_command"], ["Read"]),
        ({"mcp": {"server": "gh"}}, ["mcp__gh__make"], ["mcp__ghx__make", "gh"]),
        ({"pattern": "^mcp:"}, ["mcp__gh__make"], ["create_file"]),
        ({"pattern": "^mcp__gh__(a|b)$"}, ["mcp__gh__a"], ["mcp__gh__c"]),
    ],
)
def test_matchers_keep_their_meaning(matcher, fits, others, tmp_path):
    """
    The plugin sorts tools out by their native names.
    """
    told = play(tmp_path, [hook(says({"throw": "me"}), matcher=matcher)], *map(call, fits + others))

    assert ["reject-and-continue"] * len(fits) + ["allow"] * len(others) == [result["action"] for result in told["results"]]


@pytest.mark.covers("HIF-106")
@needs_node
def test_no_command_breaks_out_of_the_table(tmp_path):
    """
    Whatever a command holds, the plugin loads, and reads back as it was.
    """
    hooks = [hook(f": '{text}'", name=text) for text in NASTY] + [hook(says({"throw": "still here"}))]

    told = play(tmp_path, hooks, call())

    assert [{"action": "reject-and-continue", "message": "still here"}] == told["results"]
    assert (hooks, []) == AMP.config.parse(AMP, {"files": {"hookonce.ts": render_file("amp", *hooks)[0]}})


def test_events_that_amp_lacks_are_lost_by_name():
    """
    Nothing is sent for the end of a session, and a name of nobody's would keep the plugin from loading.
    """
    manifest = {
        "spec": "hooks/1.0",
        "hooks": [{"event": event, "handler": {"type": "command", "command": "./a.sh"}} for event in ("session_end", "vendor.amp.made.up", "permission_request")],
    }

    made = convert(manifest, None, AMP)

    assert ({"files": {}}, ["lost"] * 3) == (made.document, [gap.effect for gap in made.gaps])


def test_somebodys_plugin_stays_a_file():
    """
    Foreign code is one hook for each event that it registers, and comes back as it was.
    """
    code = "export default function (amp: PluginAPI) {\n  amp.on('tool.call', async () => ({ action: 'allow' }))\n  amp.on(\"agent.end\", async () => {})\n}\n"
    document = {"files": {"guard.ts": code}}

    hooks, gaps = AMP.config.parse(AMP, document)

    assert (["before_tool_execute", "agent_stop"], ["prevents"]) == ([one.event for one in hooks], [gap.effect for gap in gaps])
    assert (document, []) == AMP.config.render(AMP, list(enumerate(hooks)), plain_wording)

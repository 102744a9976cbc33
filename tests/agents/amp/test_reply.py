"""The answers that our plugin in Amp reads, what it then tells Amp, and the calls that it sends.

Amp was never run: every form is documented, in the types and the code of its bundle.
"""

import json
from pathlib import Path

import pytest
from msgspec.structs import asdict

from hookonce import agents
from hookonce.agents import decode, encode
from hookonce.errors import UnknownName
from hookonce.model import Decision, Event, Reply, Result, Tool
from tests.agents._config.node import hook, needs_node, render_file, run_plugin

AMP = agents.load("amp")
GOLDEN = sorted((Path(__file__).parents[2] / "golden" / "amp").glob("*.json"))
DENY = Decision(outcome="deny", reason="not today")
NOTE = Decision(context="by the way")
NEW = {"cmd": "ls"}
THREAD = {"thread": {"id": "T-1"}}
CALL = THREAD | {"toolUseID": "t", "tool": "Bash", "input": {"cmd": "rm", "cwd": "/"}}
RESULT = CALL | {"status": "done", "output": {"output": "a", "exitCode": 0}}
PROMPT = THREAD | {"message": "hi", "id": 1}
END = PROMPT | {"status": "done", "messages": []}
SHIP = THREAD | {"workflow": "ship"}

# The canonical event and the native one, a decision, what the plugin reads, what Amp sent, and what it is told.
SAYS = [
    ("before_tool_execute", "tool.call", DENY, {"throw": "not today"}, CALL, {"action": "reject-and-continue", "message": "not today"}),
    ("before_tool_execute", "tool.call", Decision(updated_input=NEW), {"assign": {"input": NEW}}, CALL, {"action": "modify", "input": NEW}),
    ("after_tool_execute", "tool.result", DENY, {"throw": "not today"}, RESULT, {"status": "error", "error": "not today"}),
    ("after_tool_execute", "tool.result", Decision(updated_output="b"), {"assign": {"output": "b"}}, RESULT, {"status": "done", "output": "b"}),
    ("before_prompt", "agent.start", NOTE, {"assign": {"message.content": "by the way", "message.display": False}}, PROMPT, {"message": {"content": "by the way", "display": False}}),
    ("agent_stop", "agent.end", DENY, {"throw": "not today"}, END, {"action": "continue", "userMessage": "not today"}),
    ("vendor.amp.changes.prompt", "changes.prompt", NOTE, {"assign": {"append": "by the way"}}, SHIP, {"append": "by the way"}),
]
DRIVER = """
import { readFileSync } from "node:fs"
import plugin from "./plugin.mjs"
const handlers = {}
plugin({ system: {}, helpers: {}, on: (name, handler) => { handlers[name] = handler } })
const [name, event] = JSON.parse(readFileSync(0, "utf8"))
console.log(JSON.stringify((await handlers[name](event, {})) ?? null))
"""


@pytest.mark.parametrize(("event", "decision", "expected"), [(event, decision, expected) for _, event, decision, expected, _, _ in SAYS])
def test_a_decision_is_said_as_the_plugin_carries_it_out(event, decision, expected):
    """
    One object on stdout, and back again as it was meant.
    """
    said = AMP.reply(event, decision, decision.updated_input)

    assert (expected, "", 0) == (json.loads(said.stdout), said.stderr, said.code)
    assert decision == AMP.read_reply(event, said)


@pytest.mark.part(3)
@needs_node
@pytest.mark.parametrize(("kind", "event", "decision", "told", "expected"), [(kind, event, decision, told, expected) for kind, event, decision, _, told, expected in SAYS])
def test_amp_is_told_what_was_decided(kind, event, decision, told, expected, tmp_path):
    """
    The plugin turns our two words into the answer that Amp's event knows.
    """
    (tmp_path / "answer").write_text(AMP.reply(event, decision, decision.updated_input).stdout)
    text, _ = render_file("amp", hook("cat >/dev/null; cat answer", event=kind))

    assert expected == run_plugin(tmp_path, text, DRIVER, [event, told])


READS = [
    ("tool.call", {"stdout": "{}"}, Decision()),
    ("tool.call", {"stdout": '{"throw": "no"}', "code": 1}, Decision(outcome="deny", reason="no")),
    ("tool.call", {"stdout": '{"assign": {"input.cmd": "ls"}}'}, Decision(updated_input=NEW)),
    ("tool.call", {"stdout": '{"action": "reject-and-continue"}'}, None),
    ("tool.call", {"stdout": ""}, None),
    ("tool.call", {"stdout": "{}", "code": 1}, None),
    ("agent.start", {"stdout": '{"throw": "a prompt cannot be refused"}'}, Decision()),
    ("agent.start", {"stdout": '{"assign": {"message": {"content": "more"}}}'}, Decision(context="more")),
    ("agent.end", {"stdout": '{"assign": {"userMessage": "go on"}}'}, Decision(outcome="deny", reason="go on")),
    ("agent.end with error", {"stdout": '{"throw": "nobody hears"}'}, Decision()),
    ("session.start", {"stdout": '{"throw": "nobody hears"}'}, Decision()),
    ("delegate", {}, Decision(outcome="allow")),
    ("delegate", {"code": 1, "stderr": "hm"}, Decision(outcome="ask")),
    ("delegate", {"code": 2, "stderr": "no\n"}, Decision(outcome="deny", reason="no")),
]


@pytest.mark.parametrize(("event", "answer", "expected"), READS)
def test_an_answer_is_read_as_amp_would_be_told(event, answer, expected):
    """
    The plugin's own strictness, and a permission program's exit codes.
    """
    assert expected == AMP.read_reply(event, Reply(**answer))


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_a_call_made_from_an_event_is_read_as_the_same_event(file):
    """
    Whatever form an event came in, the plugin's form says the same.
    """
    golden = json.loads(file.read_text(encoding="utf-8"))
    event = decode(AMP, golden["payload"], golden.get("event"), id="e")
    native = "delegate" if event.type == "permission_request" else None

    again = decode(AMP, encode(AMP, event), native, id="e")

    assert asdict(event) | {"native": None} == asdict(again) | {"native": None}


def of_another(kind, **more):
    """An event of Claude Code."""
    return Event(id="e", schema="hookonce/1", type=kind, agent="claude-code", session="s", time="1970-01-01T00:00:00Z", time_source="none", cwd="/p", **more)


def shell(result=None):
    """A command, and how it ended."""
    return Tool(name="shell", native="Bash", input={"command": "ls"}, native_input={"command": "ls"}, call_id="t", result=result)


CALLS = [
    (of_another("before_tool_execute", tool=shell()), "tool.call", {"toolUseID": "t", "tool": "Bash", "input": {"cmd": "ls"}}, {"input": {"cmd": "ls"}}),
    (of_another("after_tool_execute", tool=shell(Result(ok=False, exit_code=2, output="a"))), "tool.result", {"toolUseID": "t", "tool": "Bash", "input": {"cmd": "ls"}, "status": "done", "output": {"output": "a", "exitCode": 2}}, {"status": "done", "output": {"output": "a", "exitCode": 2}}),
    (of_another("tool_use_failure", tool=shell(Result(ok=False, error="gone"))), "tool.result", {"toolUseID": "t", "tool": "Bash", "input": {"cmd": "ls"}, "status": "error", "error": "gone"}, {"status": "error", "error": "gone"}),
    (of_another("before_tool_execute", tool=Tool(name="file_edit", native="x", input={"patch": "*** Begin Patch"})), "tool.call", {"tool": "apply_patch", "input": {"patchText": "*** Begin Patch"}}, {"input": {"patchText": "*** Begin Patch"}}),
    (of_another("before_prompt", prompt="hi"), "agent.start", {"message": "hi"}, {}),
    (of_another("agent_stop", data={"response": "done"}), "agent.end", {"status": "done", "messages": [{"role": "assistant", "content": [{"type": "text", "text": "done"}]}]}, {}),
    (of_another("error_occurred", data={"error": "boom"}), "agent.end", {"status": "error", "error": "boom", "messages": []}, {}),
    (of_another("session_start"), "session.start", {}, {}),
]


@pytest.mark.parametrize(("event", "name", "given", "output"), CALLS)
def test_a_hook_for_amp_can_run_behind_another_agent(event, name, given, output):
    """
    It gets the call that our plugin would send, in Amp's words.
    """
    beside = {"directory": "/p", "thread_id": "s"}

    assert {"hook": name, "input": {"thread": {"id": "s"}} | given, "output": output} | beside == encode(AMP, event)


def test_an_event_that_amp_lacks_has_no_call():
    """
    Nothing is made up.
    """
    with pytest.raises(UnknownName, match="Amp has no event"):
        encode(AMP, of_another("session_end"))

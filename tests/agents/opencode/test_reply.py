"""The answers that our plugin in OpenCode reads, and what it then does to the agent.

The last column is the case of `facts/lab-results/opencode.json` that shows what OpenCode makes of it; "documented" was
read in OpenCode's source and types and not seen.
"""

import json

import pytest

from hookonce import agents
from hookonce.model import Decision, Reply
from tests.agents._config.node import hook, needs_node, render_file, run_plugin
from tests.agents._reply.lab_records import record

OPENCODE = agents.load("opencode")
BEFORE, AFTER = "tool.execute.before", "tool.execute.after"
SYSTEM, COMPACT = "experimental.chat.system.transform", "experimental.session.compacting"
DENY = Decision(outcome="deny", reason="not today")
NEW = {"command": "ls", "timeout": 5}
TEXT = [{"type": "text", "text": "other"}]
PARTS = [{"type": "text", "text": "a"}, {"type": "image", "data": ""}]

SAYS = [
    (BEFORE, DENY, {"throw": "not today"}, "before-throw"),
    (BEFORE, Decision(outcome="deny"), {"throw": "a hook refuses this and gives no reason"}, "before-throw"),
    (BEFORE, Decision(updated_input=NEW), {"assign": {"args": NEW}}, "before-rewrite"),
    (AFTER, DENY, {"throw": "not today"}, "after-throw"),
    (AFTER, Decision(updated_output="other"), {"assign": {"output": "other", "content": TEXT}}, "after-output"),
    (AFTER, Decision(updated_output=PARTS), {"assign": {"output": json.dumps(PARTS, separators=(",", ":")), "content": PARTS}}, "documented"),
    (AFTER, Decision(context="by the way"), {"assign": {"output.-": "by the way", "content.-": {"type": "text", "text": "by the way"}}}, "after-output"),
    ("chat.message", DENY, {"throw": "not today"}, "message-throw"),
    ("chat.message", Decision(context="by the way"), {"assign": {"message.system": "by the way"}}, "documented"),
    ("command.execute.before", DENY, {"throw": "not today"}, "documented"),
    ("chat.params", DENY, {"throw": "not today"}, "params-throw"),
    ("chat.headers", DENY, {"throw": "not today"}, "documented"),
    ("experimental.chat.messages.transform", DENY, {"throw": "not today"}, "documented"),
    (SYSTEM, Decision(context="by the way"), {"assign": {"system.-": "by the way"}}, "system-push"),
    (SYSTEM, Decision(outcome="deny", reason="not today", context="by the way"), {"throw": "not today", "assign": {"system.-": "by the way"}}, "documented"),
    (COMPACT, Decision(context="by the way"), {"assign": {"context.-": "by the way"}}, "documented"),
    ("experimental.text.complete", Decision(updated_output="other"), {"assign": {"text": "other"}}, "text-complete"),
]


@pytest.mark.parametrize(("event", "decision", "expected", "case"), SAYS)
def test_a_decision_is_said_as_the_plugin_carries_it_out(event, decision, expected, case):
    """
    One object on stdout, and back again as it was meant.
    """
    said = OPENCODE.reply(event, decision, decision.updated_input)

    assert (expected, "", 0) == (json.loads(said.stdout), said.stderr, said.code)
    assert decision == OPENCODE.read_reply(event, said)
    assert case == "documented" or record("opencode", case)


DRIVER = """
import { readFileSync } from "node:fs"
import { Hookonce } from "./plugin.mjs"
const hooks = await Hookonce({ directory: process.cwd() })
const [name, input, output] = JSON.parse(readFileSync(0, "utf8"))
try {
  await hooks[name](input, output)
  console.log(JSON.stringify(output))
} catch (fault) {
  console.log(JSON.stringify(fault.message))
}
"""
BASH = {"title": "x", "metadata": {"exit": 0}, "output": "hello"}
DONE = [
    ("before_tool_execute", BEFORE, DENY, {"args": {"command": "rm"}}, "not today"),
    ("before_tool_execute", BEFORE, Decision(updated_input=NEW), {"args": {"command": "rm", "workdir": "/"}}, {"args": NEW}),
    ("after_tool_execute", AFTER, DENY, BASH, "not today"),
    ("after_tool_execute", AFTER, Decision(updated_output="other"), BASH, BASH | {"output": "other", "content": TEXT}),
    ("after_tool_execute", AFTER, Decision(updated_output="other"), {"content": PARTS}, {"output": "other", "content": TEXT}),
    ("after_tool_execute", AFTER, Decision(context="by the way"), BASH, BASH | {"output": "hello\n\nby the way", "content": {"type": "text", "text": "by the way"}}),
    ("after_tool_execute", AFTER, Decision(context="by the way"), {"content": TEXT}, {"output": "by the way", "content": [*TEXT, {"type": "text", "text": "by the way"}]}),
    ("after_tool_execute", AFTER, Decision(context="by the way", updated_output="new"), BASH, BASH | {"output": "new\n\nby the way", "content": [{"type": "text", "text": "new"}, {"type": "text", "text": "by the way"}]}),
    ("before_prompt", "chat.message", Decision(context="by the way"), {"message": {"id": "m"}, "parts": []}, {"message": {"id": "m", "system": "by the way"}, "parts": []}),
    ("vendor.opencode." + SYSTEM, SYSTEM, Decision(context="by the way"), {"system": ["you are"]}, {"system": ["you are", "by the way"]}),
    ("before_compact", COMPACT, Decision(context="by the way"), {"context": []}, {"context": ["by the way"]}),
    ("after_model", "experimental.text.complete", Decision(updated_output="other"), {"text": "said"}, {"text": "other"}),
]


@pytest.mark.part(3)
@needs_node
@pytest.mark.parametrize(("kind", "event", "decision", "output", "expected"), DONE)
def test_the_plugin_does_what_was_decided(kind, event, decision, output, expected, tmp_path):
    """
    What a function of a plugin may change is changed, or a text is thrown.
    """
    (tmp_path / "answer").write_text(OPENCODE.reply(event, decision, decision.updated_input).stdout)
    text, _ = render_file("opencode", hook("cat >/dev/null; cat answer", event=kind))

    assert expected == run_plugin(tmp_path, text, DRIVER, [event, {"tool": "bash", "sessionID": "s"}, output])


READS = [
    (BEFORE, {"stdout": "{}"}, Decision()),
    (BEFORE, {"stdout": '{"throw": "no"}', "code": 1}, Decision(outcome="deny", reason="no")),
    (BEFORE, {"stdout": '{"throw": "no", "assign": 5}'}, Decision(outcome="deny", reason="no")),
    (BEFORE, {"stdout": '{"assign": {"args": {"command": "ls"}, "args.more.deep": [1], "title": "x"}}'}, Decision(updated_input={"command": "ls", "more": {"deep": [1]}})),
    (BEFORE, {"stdout": '{"assign": {"args": "ls"}}'}, None),
    (BEFORE, {"stdout": '{"assign": {"args": 5, "args.command": "ls"}}'}, None),
    (BEFORE, {"stdout": ""}, None),
    (BEFORE, {"stdout": "hello"}, None),
    (BEFORE, {"stdout": "[]"}, None),
    (BEFORE, {"stdout": '{"decision": "deny"}'}, None),
    (BEFORE, {"stdout": '{"throw": 5}'}, None),
    (BEFORE, {"stdout": '{"assign": null}'}, None),
    (BEFORE, {"stdout": '{"assign": {}}', "code": 3}, None),
    (BEFORE, {"stdout": "{}", "code": 2, "stderr": "no"}, None),
    (AFTER, {"stdout": '{"assign": {"output": "b"}}'}, Decision(updated_output="b")),
    (AFTER, {"stdout": json.dumps({"assign": {"content": PARTS}})}, Decision(updated_output=PARTS)),
    (SYSTEM, {"stdout": '{"assign": {"system": ["a"]}}'}, Decision()),
    ("session.idle", {"stdout": '{"throw": "nobody hears"}'}, Decision()),
    ("permission.asked", {"stdout": '{"assign": {"status": "allow"}}'}, Decision()),
]


@pytest.mark.parametrize(("event", "answer", "expected"), READS)
def test_an_answer_is_read_as_the_plugin_reads_it(event, answer, expected):
    """
    Silence and unknown words are failures there; a refusal counts whatever else is wrong.
    """
    assert expected == OPENCODE.read_reply(event, Reply(**answer))

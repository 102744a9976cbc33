"""Replies to OpenCode: the assignments that our plugin makes in the output of each plugin function."""

from msgspec.structs import replace

from hookonce.agents._reply import plugin_assignments
from hookonce.agents._reply.plugin_assignments import AssignmentTarget
from hookonce.base.jsontext import dump
from hookonce.model import Decision, Json, Object, Reply

_AFTER_TOOL = "tool.execute.after"
_TARGETS = {
    "tool.execute.before": AssignmentTarget(can_deny=True, input="args"),
    _AFTER_TOOL: AssignmentTarget(can_deny=True, context="output.-", output="output"),
    # Beside the message stands what the system prompt is to hold for it.
    "chat.message": AssignmentTarget(can_deny=True, context="message.system"),
    "experimental.chat.system.transform": AssignmentTarget(can_deny=True, context="system.-"),
    "experimental.session.compacting": AssignmentTarget(context="context.-"),
    "experimental.text.complete": AssignmentTarget(output="text"),
}
DENY_EVENTS = ("command.execute.before", "chat.params", "chat.headers", "experimental.chat.messages.transform")
_TARGETS |= dict.fromkeys(DENY_EVENTS, AssignmentTarget(can_deny=True))


def reply(native: str, decision: Decision, native_input: Object | None) -> Reply:
    """Write the decision for the plugin to carry out."""
    assignments = plugin_assignments.build_assignments(_TARGETS.get(native, AssignmentTarget()), decision, native_input)
    if native == _AFTER_TOOL and "output" in assignments:
        # Built-in tools return a text and MCP tools a list of parts; neither reads the other's field.
        output = assignments.pop("output")
        text = output if type(output) is str else dump(output).decode()
        content = output if type(output) is list else _text_parts(text)
        assignments = {"output": text, "content": content} | assignments
    if native == _AFTER_TOOL and "output.-" in assignments:
        assignments["content.-"] = _text_parts(assignments["output.-"])[0]
    return plugin_assignments.build_plugin_reply(decision, assignments)


def _text_parts(text: Json) -> list[Json]:
    return [{"type": "text", "text": text}]


def read_reply(native: str, hook_reply: Reply) -> Decision | None:
    """Parse a reply as the plugin does; None where it is no valid reply."""
    plugin_reply = plugin_assignments.parse_plugin_reply(hook_reply)
    if plugin_reply is None:
        return None
    decision = plugin_assignments.decision_of(_TARGETS.get(native, AssignmentTarget()), plugin_reply)
    _, assignments = plugin_reply
    content = assignments.get("content") if native == _AFTER_TOOL else None
    if decision is None or content is None or content == _text_parts(decision.updated_output):
        return decision
    return replace(decision, updated_output=content)

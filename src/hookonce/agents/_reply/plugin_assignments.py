"""Reply protocol of our JavaScript plugins: `{throw: text}`, `{assign: {path: value}}`, both or neither.

A path leads into the `output` of the call, its keys joined by dots; `.-` at its end appends.
"""

from collections.abc import Mapping
from typing import NamedTuple

from hookonce.agents._reply import answer
from hookonce.agents._reply.answer import DEFAULT_REASON, json_reply, parse_object
from hookonce.model import Decision, Json, Object, Reply

_APPEND_SUFFIX = ".-"  # the end of a path that adds to what is there


class AssignmentTarget(NamedTuple):
    """Paths in an event's `output` that a decision's parts are assigned to; `context_extras` go with a context."""

    can_deny: bool = False
    input: str | None = None
    context: str | None = None
    output: str | None = None
    context_extras: Mapping[str, Json] = {}


PluginReply = tuple[str | None, Object]  # the error to throw, and the assignments as one tree


def build_assignments(target: AssignmentTarget, decision: Decision, native_input: Object | None) -> Object:
    """Build the assignments of a decision."""
    assignments: Object = {}
    if target.input is not None and native_input is not None:
        assignments[target.input] = native_input
    if target.context is not None and decision.context is not None:
        assignments |= {target.context: decision.context, **target.context_extras}
    if target.output is not None and decision.updated_output is not None:
        assignments[target.output] = decision.updated_output
    return assignments


def build_plugin_reply(decision: Decision, assignments: Object) -> Reply:
    """Build the plugin's reply: a denial is thrown, and the plugin then assigns nothing."""
    error_text = (decision.reason or DEFAULT_REASON) if decision.outcome == "deny" else None
    return json_reply({"throw": error_text, "assign": assignments or None})


def parse_plugin_reply(hook_reply: Reply) -> PluginReply | None:
    """Parse a reply as the plugin does: silence and unknown keys are failures (None), a denial always counts."""
    fields = parse_object(hook_reply.stdout)
    if fields is None or not fields.keys() <= {"throw", "assign"}:
        return None
    error_text, assignments = fields.get("throw"), fields.get("assign", {})
    if type(error_text) is not str and ("throw" in fields or hook_reply.code != 0):
        return None
    tree = _build_tree(assignments) if type(assignments) is dict else None
    if tree is None:
        return None if type(error_text) is not str else (error_text, {})
    return error_text, tree


def _build_tree(assignments: Object) -> Object | None:
    tree: Object = {}
    for path, value in assignments.items():
        *parents, last = path.split(".") if not path.endswith(_APPEND_SUFFIX) else [path]
        node = tree
        for key in parents:
            node = node.setdefault(key, {})
            if type(node) is not dict:
                return None
        node[last] = value
    return tree


def value_at(tree: Object, path: str | None) -> Json:
    """The value that was assigned to a path, or None."""
    if path is None:
        return None
    return answer.value_at(tree, [path] if path.endswith(_APPEND_SUFFIX) else path.split("."))


def decision_of(target: AssignmentTarget, plugin_reply: PluginReply) -> Decision | None:
    """The decision that a plugin reply means at this target; None if its new input is no object."""
    error_text, tree = plugin_reply
    new_input, context = value_at(tree, target.input), value_at(tree, target.context)
    if new_input is not None and type(new_input) is not dict:
        return None
    is_denial = target.can_deny and error_text is not None
    return Decision(
        outcome="deny" if is_denial else None,
        reason=error_text or None if is_denial and error_text != DEFAULT_REASON else None,
        context=context if type(context) is str and context else None,
        updated_input=new_input,
        updated_output=value_at(tree, target.output),
    )

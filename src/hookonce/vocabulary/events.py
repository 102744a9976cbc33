"""Canonical events beside their names in the open formats: the one table that relates them.

The names are those of the Hook Interchange Format, and our own where it has none. Reading a format
takes the first row that carries its name, so rows stand in the order of that preference.
"""

from itertools import starmap
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict

from hookonce.model import Event

TOOL_END_EVENTS = frozenset({"after_tool_execute", "tool_use_failure"})
# event → a broader one, whose hooks are for it as well: finished tools for failed ones, changed files for saved ones
BROADER_EVENTS = {"tool_use_failure": "after_tool_execute", "file_saved": "file_changed"}
EventGroup = Literal["core", "extended", "exclusive", "further", "derived", "kernel"]


class CanonicalEvent(Struct, frozen=True):
    """One canonical event; `None` means that the format has no word for it."""

    name: str
    group: EventGroup
    openhook: str | None
    agent_hooks: str | None
    amplifier: str | None
    meaning: str


_ROWS: tuple[tuple[str, EventGroup, str | None, str | None, str | None, str], ...] = (
    ("before_tool_execute", "core", "tool.start", "Action.Before", "tool:pre", "a tool is about to run"),
    ("after_tool_execute", "core", "tool.end", "Action.After", "module:invoke", "a tool has run"),
    ("session_start", "core", "session.start", "Session.Start", "session:start", "a session begins"),
    ("session_end", "core", "session.end", "Session.End", "session:end", "a session ends"),
    ("before_prompt", "core", "prompt.submit", "Prompt.Submitted", "prompt:submit", "a prompt was given"),
    ("agent_stop", "core", None, "Agent.Response", "prompt:complete", "the agent is about to end its turn"),
    ("before_compact", "extended", None, "Context.Compaction", "context:pre_compact", "context will shrink"),
    ("notification", "extended", None, "Agent.Notification", "user:notification", "the agent tells the user"),
    ("error_occurred", "extended", None, "Agent.Error", None, "something failed outside a tool"),
    ("plan_start", "derived", None, "Agent.Plan.Start", "plan:start", "planning begins"),
    ("plan_end", "derived", None, "Agent.Plan.End", "plan:end", "planning ends"),
    ("subagent_start", "extended", None, "Agent.Plan.Start", "session:fork", "a sub-agent begins"),
    ("subagent_stop", "extended", None, "Agent.Plan.End", None, "a sub-agent is about to end"),
    ("permission_request", "extended", None, "Agent.Notification", "approval:required", "the user is asked"),
    ("before_model", "extended", None, "Model.Requested", "llm:request", "the model is about to be called"),
    ("after_model", "extended", None, "Model.Responded", "llm:response", "the model has answered"),
    ("agent_decision", "derived", None, "Agent.Decision", None, "the agent chose a branch"),
    ("before_tool_selection", "extended", None, "Agent.Decision", None, "tools are offered to the model"),
    ("config_change", "exclusive", None, None, None, "a configuration file changed"),
    ("file_changed", "further", "file.write", "Action.After", "artifact:write", "a file changed, unknown how"),
    ("file_created", "exclusive", "file.write", "Action.After", "artifact:write", "a file was created"),
    ("file_saved", "exclusive", "file.write", "Action.After", "artifact:write", "a file was changed"),
    ("file_deleted", "exclusive", "file.write", "Action.After", "artifact:write", "a file was deleted"),
    ("before_task", "exclusive", None, "Agent.Plan.Start", None, "a task of a plan begins"),
    ("after_task", "exclusive", None, "Agent.Plan.End", None, "a task of a plan ended"),
    ("tool_use_failure", "further", "tool.end", "Action.After", "module:invoke", "a tool has failed"),
    ("tool_batch", "further", None, None, None, "all tool calls of one model answer are done"),
    ("after_compact", "further", None, "Context.Compaction", "context:post_compact", "context was shrunk"),
    ("policy_blocked", "derived", None, "Policy.Blocked", "policy:decision", "a hook prevented an action"),
    ("permission_denied", "further", None, "Policy.Blocked", "approval:denied", "the agent refused a call"),
    ("cwd_changed", "further", None, None, None, "the working directory changed"),
    ("instructions_loaded", "further", None, None, None, "a memory or rules file was read"),
    ("task_created", "further", None, "Agent.Plan.Start", None, "an entry of the task list was made"),
    ("task_completed", "further", None, "Agent.Plan.End", None, "an entry of the task list was closed"),
    ("worktree_create", "further", None, None, None, "a worktree is to be made"),
    ("worktree_remove", "further", None, None, None, "a worktree was removed"),
    ("elicitation", "further", None, None, None, "an MCP server asks the user"),
    ("elicitation_result", "further", None, None, None, "the user has answered an MCP server"),
    ("message_display", "further", None, None, None, "text is about to be shown"),
    ("setup", "further", None, None, None, "the agent prepares or maintains a project"),
    ("model_switch_before", "further", None, None, None, "another model is about to be chosen"),
    ("model_switch_after", "further", None, None, None, "another model was chosen"),
    ("prompt_expansion", "further", None, None, None, "a slash command becomes a prompt"),
    ("prompt_transformed", "further", None, None, None, "the prompt as the model will see it"),
    ("directory_added", "further", None, None, None, "a directory joined the workspace"),
    ("teammate_idle", "further", None, None, None, "a teammate agent is about to rest"),
    ("agent_response", "further", None, "Agent.Response", None, "the agent has spoken within a turn"),
    ("agent_thought", "further", None, "Model.Responded", "thinking:final", "the agent has reasoned"),
    ("interrupt", "further", None, None, "cancel:requested", "the user interrupted a turn"),
    ("retry_triggered", "derived", None, "Retry.Triggered", "provider:retry", "something is tried again"),
    ("retry_loop_detected", "derived", None, "Retry.Loop.Detected", None, "the same thing again and again"),
    ("retry_loop_aborted", "derived", None, "Retry.Loop.Aborted", None, "a loop was stopped"),
    ("policy_violation", "derived", None, "Policy.Violation", "policy:violation", "a rule was broken"),
    ("policy_override", "derived", None, "Policy.Override", "approval:granted", "a human lifted a denial"),
    ("context_until_compaction", "derived", None, "Context.UntilCompaction", None, "how full the context is"),
    ("session_abort", "derived", "session.end", "Session.Abort", None, "a session broke off"),
    ("model_failed", "derived", None, "Model.Failed", "provider:error", "the model did not answer"),
    ("vendor.amplifier.mount:add", "kernel", None, None, "mount:add", "a module was mounted"),
    ("vendor.amplifier.mount:remove", "kernel", None, None, "mount:remove", "a module was unmounted"),
    ("vendor.amplifier.hook:register", "kernel", None, None, "hook:register", "a hook was registered"),
    ("vendor.amplifier.context:get", "kernel", None, None, "context:get", "a context fragment was read"),
    ("vendor.amplifier.context:set", "kernel", None, None, "context:set", "a context fragment was written"),
    ("vendor.amplifier.artifact:read", "kernel", None, None, "artifact:read", "an artifact was read"),
)
CANONICAL_EVENTS: tuple[CanonicalEvent, ...] = tuple(starmap(CanonicalEvent, _ROWS))

EVENTS: dict[str, CanonicalEvent] = {row.name: row for row in CANONICAL_EVENTS}

DERIVED_EVENTS = frozenset(row.name for row in CANONICAL_EVENTS if row.group == "derived")  # which no agent tells

FROM_OPENHOOK: dict[str, str] = {row.openhook: row.name for row in reversed(CANONICAL_EVENTS) if row.openhook}
FROM_AGENT_HOOKS: dict[str, str] = {row.agent_hooks: row.name for row in reversed(CANONICAL_EVENTS) if row.agent_hooks}
FROM_AMPLIFIER: dict[str, str] = {row.amplifier: row.name for row in reversed(CANONICAL_EVENTS) if row.amplifier}

# A file's fate, as three vocabularies spell it: canonical event, OpenHook operation, watcher's word.
FILE_OPERATIONS: tuple[tuple[str, str, str], ...] = (
    ("file_created", "create", "add"),
    ("file_saved", "update", "change"),
    ("file_deleted", "delete", "unlink"),
)
OPERATIONS_BY_FILE_EVENT = {kind: operation for kind, operation, _ in FILE_OPERATIONS}
FILE_EVENTS_BY_OPERATION = {operation: kind for kind, operation, _ in FILE_OPERATIONS}
CHANGES_BY_FILE_EVENT = {kind: change for kind, _, change in FILE_OPERATIONS}
FILE_EVENTS_BY_CHANGE = {change: kind for kind, _, change in FILE_OPERATIONS}

# Who acts: everything not named here is the agent's own doing.
USER_EVENTS = frozenset({"before_prompt", "prompt_expansion", "interrupt", "policy_override", "elicitation_result"})
SYSTEM_EVENTS = frozenset({"before_compact", "after_compact", "context_until_compaction", "session_abort", "setup"})

# Events that come so often, or for the eye alone, that a hook is only called for them if it asks to be.
OPT_IN_EVENTS: dict[str, str] = {
    "before_model": "comes with every call of the model",
    "after_model": "comes with every piece of an answer",
    "before_tool_selection": "comes with every call of the model",
    "message_display": "is about what is shown, and comes with every piece of it",
    "agent_thought": "comes with every thought",
}


# What we know of a call beside its payload, in `data`, where there is such a thing: below how many hooks its agent
# runs, and the directory of the call, where the agent names none.
HOOK_DEPTH, CALLER_CWD = "hook_depth", "caller_cwd"
CALLER_FIELDS = (HOOK_DEPTH, CALLER_CWD)


def is_derived(event: Event) -> bool:
    """Whether hookonce derived the event itself."""
    return event.derived_from is not None and event.data.get("derived") is True


def is_redundant(event: Event) -> bool:
    """Whether the event says nothing new: derived by us, or told by its agent once more in other words."""
    return event.data.get("repeat") is True or is_derived(event)


def is_document(event: Event) -> bool:
    """Whether an event was a document of an open format, so that its native form is no agent's payload."""
    return event.origin is not None and event.origin.format is not None


IMPORT_ORIGIN = "import"  # in `origin.via` of an event that no agent has sent us


def is_imported(event: Event) -> bool:
    """Whether the event was imported, and did not happen now."""
    return event.origin is not None and IMPORT_ORIGIN in event.origin.via


def same_event(first: Event, second: Event) -> bool:
    """Whether two events say the same, whatever documents they were read from; an empty session is none."""
    first_fields, second_fields = (asdict(event) | {"session": event.session or None} for event in (first, second))
    ignored_fields = {"native", "origin", "received"}
    return all(first_fields[name] == second_fields[name] for name in first_fields if name not in ignored_fields)

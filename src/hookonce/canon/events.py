"""Every canonical event beside its name in the open formats: the one table that relates them.

The names are those of the Hook Interchange Format, and our own where it has none. Reading a format
takes the first row that carries its name, so rows stand in the order of that preference.
"""

from typing import Literal, NamedTuple

Group = Literal["core", "extended", "exclusive", "further", "derived", "kernel"]


class Row(NamedTuple):
    """One canonical event; `None` means that the format has no word for it."""

    name: str
    group: Group
    openhook: str | None
    agent_hooks: str | None
    amplifier: str | None
    meaning: str


ROWS: tuple[Row, ...] = (
    Row("before_tool_execute", "core", "tool.start", "Action.Before", "tool:pre", "a tool is about to run"),
    Row("after_tool_execute", "core", "tool.end", "Action.After", "module:invoke", "a tool has run"),
    Row("session_start", "core", "session.start", "Session.Start", "session:start", "a session begins"),
    Row("session_end", "core", "session.end", "Session.End", "session:end", "a session ends"),
    Row("before_prompt", "core", "prompt.submit", "Prompt.Submitted", "prompt:submit", "a prompt was given"),
    Row("agent_stop", "core", None, "Agent.Response", "prompt:complete", "the agent is about to end its turn"),
    Row("before_compact", "extended", None, "Context.Compaction", "context:pre_compact", "context will shrink"),
    Row("notification", "extended", None, "Agent.Notification", "user:notification", "the agent tells the user"),
    Row("error_occurred", "extended", None, "Agent.Error", None, "something failed outside a tool"),
    Row("plan_start", "derived", None, "Agent.Plan.Start", "plan:start", "planning begins"),
    Row("plan_end", "derived", None, "Agent.Plan.End", "plan:end", "planning ends"),
    Row("subagent_start", "extended", None, "Agent.Plan.Start", "session:fork", "a sub-agent begins"),
    Row("subagent_stop", "extended", None, "Agent.Plan.End", None, "a sub-agent is about to end"),
    Row("permission_request", "extended", None, "Agent.Notification", "approval:required", "the user is asked"),
    Row("before_model", "extended", None, "Model.Requested", "llm:request", "the model is about to be called"),
    Row("after_model", "extended", None, "Model.Responded", "llm:response", "the model has answered"),
    Row("agent_decision", "derived", None, "Agent.Decision", None, "the agent chose a branch"),
    Row("before_tool_selection", "extended", None, "Agent.Decision", None, "tools are offered to the model"),
    Row("config_change", "exclusive", None, None, None, "a configuration file changed"),
    Row("file_changed", "further", "file.write", "Action.After", "artifact:write", "a file changed, unknown how"),
    Row("file_created", "exclusive", "file.write", "Action.After", "artifact:write", "a file was created"),
    Row("file_saved", "exclusive", "file.write", "Action.After", "artifact:write", "a file was changed"),
    Row("file_deleted", "exclusive", "file.write", "Action.After", "artifact:write", "a file was deleted"),
    Row("before_task", "exclusive", None, "Agent.Plan.Start", None, "a task of a plan begins"),
    Row("after_task", "exclusive", None, "Agent.Plan.End", None, "a task of a plan ended"),
    Row("tool_use_failure", "further", "tool.end", "Action.After", "module:invoke", "a tool has failed"),
    Row("tool_batch", "further", None, None, None, "all tool calls of one model answer are done"),
    Row("after_compact", "further", None, "Context.Compaction", "context:post_compact", "context was shrunk"),
    Row("policy_blocked", "derived", None, "Policy.Blocked", "policy:decision", "a hook prevented an action"),
    Row("permission_denied", "further", None, "Policy.Blocked", "approval:denied", "the agent refused a call"),
    Row("cwd_changed", "further", None, None, None, "the working directory changed"),
    Row("instructions_loaded", "further", None, None, None, "a memory or rules file was read"),
    Row("task_created", "further", None, "Agent.Plan.Start", None, "an entry of the task list was made"),
    Row("task_completed", "further", None, "Agent.Plan.End", None, "an entry of the task list was closed"),
    Row("worktree_create", "further", None, None, None, "a worktree is to be made"),
    Row("worktree_remove", "further", None, None, None, "a worktree was removed"),
    Row("elicitation", "further", None, None, None, "an MCP server asks the user"),
    Row("elicitation_result", "further", None, None, None, "the user has answered an MCP server"),
    Row("message_display", "further", None, None, None, "text is about to be shown"),
    Row("setup", "further", None, None, None, "the agent prepares or maintains a project"),
    Row("model_switch_before", "further", None, None, None, "another model is about to be chosen"),
    Row("model_switch_after", "further", None, None, None, "another model was chosen"),
    Row("prompt_expansion", "further", None, None, None, "a slash command becomes a prompt"),
    Row("prompt_transformed", "further", None, None, None, "the prompt as the model will see it"),
    Row("directory_added", "further", None, None, None, "a directory joined the workspace"),
    Row("teammate_idle", "further", None, None, None, "a teammate agent is about to rest"),
    Row("agent_response", "further", None, "Agent.Response", None, "the agent has spoken within a turn"),
    Row("agent_thought", "further", None, "Model.Responded", "thinking:final", "the agent has reasoned"),
    Row("interrupt", "further", None, None, "cancel:requested", "the user interrupted a turn"),
    Row("retry_triggered", "derived", None, "Retry.Triggered", "provider:retry", "something is tried again"),
    Row("retry_loop_detected", "derived", None, "Retry.Loop.Detected", None, "the same thing again and again"),
    Row("retry_loop_aborted", "derived", None, "Retry.Loop.Aborted", None, "a loop was stopped"),
    Row("policy_violation", "derived", None, "Policy.Violation", "policy:violation", "a rule was broken"),
    Row("policy_override", "derived", None, "Policy.Override", "approval:granted", "a human lifted a denial"),
    Row("context_until_compaction", "derived", None, "Context.UntilCompaction", None, "how full the context is"),
    Row("session_abort", "derived", "session.end", "Session.Abort", None, "a session broke off"),
    Row("model_failed", "derived", None, "Model.Failed", "provider:error", "the model did not answer"),
    Row("vendor.amplifier.mount:add", "kernel", None, None, "mount:add", "a module was mounted"),
    Row("vendor.amplifier.mount:remove", "kernel", None, None, "mount:remove", "a module was unmounted"),
    Row("vendor.amplifier.hook:register", "kernel", None, None, "hook:register", "a hook was registered"),
    Row("vendor.amplifier.context:get", "kernel", None, None, "context:get", "a context fragment was read"),
    Row("vendor.amplifier.context:set", "kernel", None, None, "context:set", "a context fragment was written"),
    Row("vendor.amplifier.artifact:read", "kernel", None, None, "artifact:read", "an artifact was read"),
)

EVENTS: dict[str, Row] = {row.name: row for row in ROWS}

FROM_OPENHOOK: dict[str, str] = {row.openhook: row.name for row in reversed(ROWS) if row.openhook}
FROM_AGENT_HOOKS: dict[str, str] = {row.agent_hooks: row.name for row in reversed(ROWS) if row.agent_hooks}
FROM_AMPLIFIER: dict[str, str] = {row.amplifier: row.name for row in reversed(ROWS) if row.amplifier}

# A file's fate, as three vocabularies spell it: canonical event, OpenHook operation, watcher's word.
FILE_FATES: tuple[tuple[str, str, str], ...] = (
    ("file_created", "create", "add"),
    ("file_saved", "update", "change"),
    ("file_deleted", "delete", "unlink"),
)

# Who acts: everything not named here is the agent's own doing.
BY_USER = frozenset({"before_prompt", "prompt_expansion", "interrupt", "policy_override", "elicitation_result"})
BY_SYSTEM = frozenset({"before_compact", "after_compact", "context_until_compaction", "session_abort", "setup"})

# Events that come so often, or for the eye alone, that a hook is only called for them if it asks to be.
ON_REQUEST: dict[str, str] = {
    "before_model": "comes with every call of the model",
    "after_model": "comes with every piece of an answer",
    "before_tool_selection": "comes with every call of the model",
    "message_display": "is about what is shown, and comes with every piece of it",
    "agent_thought": "comes with every thought",
}

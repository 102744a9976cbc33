"""Tables of names: Claude Code's vocabulary, of which others pick the rows that they have; how tables are written."""

from hookonce.model import Mode


def name_table(rows: str) -> dict[str, str]:
    """The table of names that these rows are: `native=canonical`, or one word where both are the same."""
    pairs = (row.partition("=") for row in rows.split())
    return {native: canonical or native for native, _, canonical in pairs}


EVENTS = name_table(
    "PreToolUse=before_tool_execute PostToolUse=after_tool_execute PostToolUseFailure=tool_use_failure "
    "PostToolBatch=tool_batch PermissionRequest=permission_request PermissionDenied=permission_denied "
    "UserPromptSubmit=before_prompt UserPromptExpansion=prompt_expansion SessionStart=session_start "
    "SessionEnd=session_end Setup=setup Stop=agent_stop StopFailure=error_occurred ErrorOccurred=error_occurred "
    "SubagentStart=subagent_start SubagentStop=subagent_stop PreCompact=before_compact PostCompact=after_compact "
    "PreModelSwitch=model_switch_before PostModelSwitch=model_switch_after Notification=notification "
    "TeammateIdle=teammate_idle TaskCreated=task_created TaskCompleted=task_completed Elicitation=elicitation "
    "ElicitationResult=elicitation_result ConfigChange=config_change InstructionsLoaded=instructions_loaded "
    "CwdChanged=cwd_changed FileChanged=file_changed DirectoryAdded=directory_added WorktreeCreate=worktree_create "
    "WorktreeRemove=worktree_remove MessageDisplay=message_display"
)

KEYS = name_table(
    "hook_event_name=event session_id=session transcript_path=transcript cwd prompt_id=turn permission_mode=mode "
    "model prompt tool_name=tool tool_input=input tool_response=output error tool_use_id=call_id "
    "duration_ms=duration mcp_server agent_id=subagent agent_type=subagent_type"
)

DETAILS = name_table(
    "source reason trigger custom_instructions=instructions compact_summary=summary stop_hook_active "
    "last_assistant_message=response agent_transcript_path error_details is_interrupt=interrupted message title "
    "notification_type permission_suggestions file_path=path event=change memory_type load_reason old_cwd new_cwd "
    "directory worktree_path from_model to_model context_tokens task_id task_subject task_description "
    "teammate_name=teammate mcp_server_name=mcp_server action command_name command_args expansion_type message_id "
    "delta=text final"
)


def pick(table: dict[str, str], names: str) -> dict[str, str]:
    """Select rows of a table by name; an unknown name is a mistake in the agent's package (KeyError)."""
    return {name: table[name] for name in names.split()}


# canonical field of a command handler → native key of the agents that follow Claude Code
COMMAND_KEYS = {"command": "command", "timeout": "timeout", "background": "async", "status_message": "statusMessage"}
# the same of other handlers
HTTP_KEYS = {"type": "type", "url": "url", "headers": "headers", "allowed_env": "allowedEnvVars"}
PROMPT_KEYS = {"type": "type", "prompt": "prompt", "model": "model"}
TIMEOUT_KEYS = {"timeout": "timeout", "status_message": "statusMessage"}


def key_sets(*signatures: str) -> tuple[frozenset[str], ...]:
    """The signature keys of an agent: sets of keys that stand together in no other agent's payload."""
    return tuple(frozenset(keys.split()) for keys in signatures)


def mode_table(agent: str, plan: str = "plan") -> dict[str, Mode]:
    """The table of modes of an agent that only plans in one of them."""
    return {**dict.fromkeys(agent.split(), "agent"), plan: "plan"}


def tool_names(**native_names: str) -> dict[str, str]:
    """The table of tools: native name → canonical name, from the native names of each canonical tool."""
    return {native: name for name, natives in native_names.items() for native in natives.split()}

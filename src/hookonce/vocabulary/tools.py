"""Canonical tools: argument names with privacy classes, fields of `Event.data`, and the actions of Agent Hooks.

Classes: `keep` is harmless, `path` names a file, `command` says what was done, `text` is content that belongs to
somebody, `content` such a text that may be long and is told only at full privacy, `identity` says who somebody
is, `failure` why something failed, of which our own words are kept. An argument that is not listed is text.
Secrets have no row here: they are kept in no field of any class.
"""

from functools import lru_cache
from typing import Literal

from hookonce.base.regex import lazy_pattern

PrivacyClass = Literal["keep", "path", "command", "text", "content", "identity", "failure"]


def _classify(names_by_class: dict[PrivacyClass, str]) -> dict[str, PrivacyClass]:
    return {name: privacy_class for privacy_class, names in names_by_class.items() for name in names.split()}


ARGUMENTS: dict[str, dict[str, PrivacyClass]] = {
    "shell": _classify({"command": "command commands", "text": "description", "keep": "timeout background"}),
    "file_read": _classify({"path": "path files", "keep": "offset limit"}),
    "file_write": _classify({"path": "path files", "content": "content patch"}),
    "file_edit": _classify({"path": "path files", "content": "old_text new_text patch", "keep": "replace_all"}),
    "search": {"pattern": "command", "path": "path"},
    "find": {"pattern": "command", "path": "path"},
    "web_fetch": {"url": "command", "prompt": "content"},
    "web_search": {"query": "command"},
    "agent": {"prompt": "content", "description": "text", "type": "keep"},
}

# What `Event.data` may hold, beside the event's own fields; a name that is not listed is text.
DATA_FIELDS = _classify(
    {
        "keep": """
        permission_mode source reason trigger stop_hook_active notification_type error_type origin_event hook
        native_event operation start_line end_line from_model to_model message_id task_id phase final status
        repeat derived guessed called_through plan_type load_reason memory_type command_name mcp_server
        expansion_type strategy action_name trace_record_id component request_id span_id module interrupted
        sandbox background parallel loop_count duration_ms final_status model_id model_params subagent_model
        child_session call_id tool_call_id parent_call_id message_count tool_call_count context_tokens
        context_window_size context_usage_percent messages_to_compact first_compaction change index is_followup
        total_actions success step invocation initial_steps execution fully_idle stop_reason workflow
        error_context recoverable agent_name agent_type traceparent model_call_id finish_reason requested_tool
        context_usage context_limit previous_status source_type source_id deleted_session permission client
        agent_id provider reply part_type tool_name has_images previous_session op capability by delivers
        endpoint priority delta_bytes parent key hashes hook_depth until
    """,
        "path": """
        transcript_path agent_transcript_path path old_cwd new_cwd worktree_path directory workspace_roots
        modified_files root_workspace spec_path artifact_directory files trigger_path parent_path env_file uri
        caller_cwd
    """,
        "command": "patterns permission_suggestions",
        "identity": "user_id user_email",
        "failure": "error",
    }
)
_FIELD_NAME = lazy_pattern(r"(?a)[\w$.:/+-]{1,100}")


@lru_cache(maxsize=4096)
def is_field_name(key: str) -> bool:
    """Whether a key may be the name of a field; others are somebody's text, such as a question above its answer."""
    return _FIELD_NAME.fullmatch(key) is not None


# Agent Hooks has one word for a write and an edit, and one for search and fetch on the web.
AGENT_HOOKS_ACTIONS: dict[str, str] = {
    "shell": "shell",
    "file_read": "read_file",
    "file_write": "write_file",
    "file_edit": "write_file",
    "search": "search",
    "find": "find",
    "web_search": "web_search",
    "web_fetch": "web_search",
    "agent": "agent",
}


def action_of_tool(tool: str) -> str:
    """The Agent Hooks name of a tool's action."""
    return "mcp:" + tool.partition("/")[2] if tool.startswith("mcp:") else AGENT_HOOKS_ACTIONS.get(tool, tool)


# Reading takes the plainest tool of an action; `code_edit` is an inline edit in an editor.
TOOLS_BY_ACTION: dict[str, str] = {action: tool for tool, action in reversed(AGENT_HOOKS_ACTIONS.items())} | {
    "code_edit": "file_edit",
}

WRITE_TOOLS = frozenset({"file_write", "file_edit"})

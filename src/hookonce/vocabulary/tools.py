"""Canonical tools: argument names with privacy classes, fields of `Event.data`, and the actions of Agent Hooks.

Classes: `keep` is harmless, `path` names a file, `command` says what was done, `text` is content that belongs to
somebody, `content` such a text that may be long and is told only at full privacy, `identity` says who somebody
is, `failure` why something failed, of which our own words are kept. An argument that is not listed is text.
Secrets have no row here: they are kept in no field of any class.
"""

from functools import lru_cache
from re import ASCII
from re import compile as pattern
from typing import Literal

PrivacyClass = Literal["keep", "path", "command", "text", "content", "identity", "failure"]

ARGUMENTS: dict[str, dict[str, PrivacyClass]] = {
    "shell": {
        "command": "command",
        "commands": "command",
        "description": "text",
        "timeout": "keep",
        "background": "keep",
    },
    "file_read": {"path": "path", "offset": "keep", "limit": "keep", "files": "path"},
    "file_write": {"path": "path", "content": "content", "patch": "content", "files": "path"},
    "file_edit": {
        "path": "path",
        "old_text": "content",
        "new_text": "content",
        "replace_all": "keep",
        "patch": "content",
        "files": "path",
    },
    "search": {"pattern": "command", "path": "path"},
    "find": {"pattern": "command", "path": "path"},
    "web_fetch": {"url": "command", "prompt": "content"},
    "web_search": {"query": "command"},
    "agent": {"prompt": "content", "description": "text", "type": "keep"},
}

# What `Event.data` may hold, beside the event's own fields; a name that is not listed is text.
DATA_FIELDS: dict[str, PrivacyClass] = {
    "transcript_path": "path",
    "agent_transcript_path": "path",
    "permission_mode": "keep",
    "source": "keep",
    "reason": "keep",
    "trigger": "keep",
    "stop_hook_active": "keep",
    "notification_type": "keep",
    "error_type": "keep",
    "origin_event": "keep",
    "error": "failure",
    "hook": "keep",
    "native_event": "keep",
    "path": "path",
    "operation": "keep",
    "start_line": "keep",
    "end_line": "keep",
    "old_cwd": "path",
    "new_cwd": "path",
    "worktree_path": "path",
    "directory": "path",
    "from_model": "keep",
    "to_model": "keep",
    "message_id": "keep",
    "task_id": "keep",
    "phase": "keep",
    "final": "keep",
    "status": "keep",
    "repeat": "keep",
    "derived": "keep",
    "guessed": "keep",
    "called_through": "keep",
    "plan_type": "keep",
    "load_reason": "keep",
    "memory_type": "keep",
    "command_name": "keep",
    "mcp_server": "keep",
    "expansion_type": "keep",
    "strategy": "keep",
    "action_name": "keep",
    "trace_record_id": "keep",
    "component": "keep",
    "request_id": "keep",
    "span_id": "keep",
    "module": "keep",
    "workspace_roots": "path",
    "modified_files": "path",
    "root_workspace": "path",
    "interrupted": "keep",
    "sandbox": "keep",
    "background": "keep",
    "parallel": "keep",
    "loop_count": "keep",
    "duration_ms": "keep",
    "final_status": "keep",
    "model_id": "keep",
    "model_params": "keep",
    "subagent_model": "keep",
    "child_session": "keep",
    "call_id": "keep",
    "tool_call_id": "keep",
    "parent_call_id": "keep",
    "message_count": "keep",
    "tool_call_count": "keep",
    "context_tokens": "keep",
    "context_window_size": "keep",
    "context_usage_percent": "keep",
    "messages_to_compact": "keep",
    "first_compaction": "keep",
    "change": "keep",
    "index": "keep",
    "is_followup": "keep",
    "total_actions": "keep",
    "spec_path": "path",
    "artifact_directory": "path",
    "files": "path",
    "success": "keep",
    "step": "keep",
    "invocation": "keep",
    "initial_steps": "keep",
    "execution": "keep",
    "fully_idle": "keep",
    "stop_reason": "keep",
    "workflow": "keep",
    "error_context": "keep",
    "recoverable": "keep",
    "agent_name": "keep",
    "agent_type": "keep",
    "traceparent": "keep",
    "trigger_path": "path",
    "parent_path": "path",
    "model_call_id": "keep",
    "finish_reason": "keep",
    "requested_tool": "keep",
    "context_usage": "keep",
    "context_limit": "keep",
    "previous_status": "keep",
    "source_type": "keep",
    "source_id": "keep",
    "deleted_session": "keep",
    "env_file": "path",
    "patterns": "command",
    "permission_suggestions": "command",
    "permission": "keep",
    "client": "keep",
    "agent_id": "keep",
    "provider": "keep",
    "reply": "keep",
    "part_type": "keep",
    "tool_name": "keep",
    "has_images": "keep",
    "previous_session": "keep",
    "op": "keep",
    "capability": "keep",
    "by": "keep",
    "delivers": "keep",
    "endpoint": "keep",
    "priority": "keep",
    "delta_bytes": "keep",
    "parent": "keep",
    "key": "keep",
    "uri": "path",
    "user_id": "identity",
    "user_email": "identity",
}


_FIELD_NAME = pattern(r"[\w$.:/+-]{1,100}", ASCII)


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

# Reading takes the plainest tool of an action; `code_edit` is an inline edit in an editor.
TOOLS_BY_ACTION: dict[str, str] = {action: tool for tool, action in reversed(AGENT_HOOKS_ACTIONS.items())} | {
    "code_edit": "file_edit",
}

WRITE_TOOLS = frozenset({"file_write", "file_edit"})

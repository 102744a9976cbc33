"""The canonical tools, and what Agent Hooks calls the action of each."""

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

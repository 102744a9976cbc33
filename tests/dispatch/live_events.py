"""Events of others in open formats, as tools would send them: the examples of the specifications, varied."""

import json

OPENHOOK = {
    "openhook": "0.1",
    "id": "550e8400-e29b-41d4-a716-446655440000",
    "source": "claude-code",
    "type": "session.end",
    "time": "2026-02-23T10:15:30.123Z",
    "session_id": "sess_abc123",
    "data": {"transcript_path": "/home/user/.claude/sessions/sess_abc123.jsonl"},
    "cwd": "/home/user/my-project",
}
ACTION = {
    "spec_version": "0.1.0",
    "event_id": "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
    "event_type": "Action.Before",
    "timestamp": "2026-02-08T22:15:30.123Z",
    "source": {"tool": "cursor", "version": "2.3.41"},
    "session_id": "sess-789",
    "data": {"action": {"name": "shell", "input": {"command": "rm -rf /tmp/build"}}},
}
KERNEL = {
    "id": "k-1",
    "ts": 1771841730.5,
    "event": "tool:pre",
    "component": "orchestrator",
    "session_id": "k",
    "data": {"tool_name": "bash", "tool_input": {"command": "ls"}, "priority": 3},
}
CLOUD = {"specversion": "1.0", "id": "c-1", "source": "/build", "type": "com.example.done", "time": "2026-02-23T10:15:30Z", "data": {"x": 1}}
FORMATS = {"openhook": OPENHOOK, "agent-hooks": ACTION, "amplifier": KERNEL, "cloudevents": CLOUD}

_TOOLS = ("claude-code", "cursor", "gemini-cli", "some-tool", "windsurf", "copilot")
_OPENHOOK_DATA = {
    "session.start": {"model": "m"},
    "prompt.submit": {"prompt_length": 12},
    "tool.start": {"tool_name": "Bash", "tool_call_id": "t"},
    "tool.end": {"tool_name": "Bash", "tool_call_id": "t", "status": "success", "duration_ms": 5},
    "file.write": {"path": "/x/a.py", "operation": "create"},
    "session.end": {"reason": "completed", "input_tokens": 3},
}
_OPENHOOK_TYPES = {
    "session.start": "session_start",
    "prompt.submit": "before_prompt",
    "tool.start": "before_tool_execute",
    "tool.end": "after_tool_execute",
    "file.write": "file_created",
    "session.end": "session_end",
}
_ACTION = {"action": {"name": "shell", "input": {"command": "ls"}}}
_AGENT_HOOKS_DATA = {
    "Session.Start": {"start_reason": "new"},
    "Prompt.Submitted": {"prompt_hash": "sha256:a1", "prompt_length": 3},
    "Action.Before": _ACTION,
    "Action.After": {"action": {**_ACTION["action"], "result": {"success": True, "exit_code": 0}}},
    "Agent.Response": {"response_length": 9, "final": True},
    "Model.Responded": {"model_id": "anthropic/m", "input_tokens": 4, "output_tokens": 1},
    "Context.UntilCompaction": {"tokens_used": 9, "tokens_limit": 12, "percentage_used": 75.0},
    "Session.End": {"end_reason": "exit"},
}
_AGENT_HOOKS_TYPES = {
    "Session.Start": "session_start",
    "Prompt.Submitted": "before_prompt",
    "Action.Before": "before_tool_execute",
    "Action.After": "after_tool_execute",
    "Agent.Response": "agent_stop",
    "Model.Responded": "after_model",
    "Context.UntilCompaction": "context_until_compaction",
    "Session.End": "session_end",
}


def openhook_stream(count):
    """So many events of OpenHook, every third with an id that is no UUID; and the canonical type of each."""
    kinds = list(_OPENHOOK_DATA)
    for number in range(count):
        kind, tool = kinds[number % len(kinds)], _TOOLS[number // len(kinds) % len(_TOOLS)]
        name = f"evt-{number}" if number % 3 == 0 else f"00000000-0000-4000-8000-{number:012x}"
        time = f"2026-02-23T10:{number // 60 % 60:02d}:{number % 60:02d}Z"
        known = {"openhook": "0.1", "id": name, "source": tool, "type": kind, "time": time, "session_id": f"s{number // 40}"}
        yield known | {"data": _OPENHOOK_DATA[kind]}, _OPENHOOK_TYPES[kind]


def agent_hooks_stream(count):
    """So many events of Agent Hooks, and the canonical type of each."""
    kinds = list(_AGENT_HOOKS_DATA)
    for number in range(count):
        kind, tool = kinds[number % len(kinds)], _TOOLS[number // len(kinds) % len(_TOOLS)]
        name = f"10000000-0000-4000-8000-{number:012x}"
        time = f"2026-02-24T10:{number // 60 % 60:02d}:{number % 60:02d}Z"
        known = {"spec_version": "0.1.0", "event_id": name, "event_type": kind, "timestamp": time, "source": {"tool": tool}}
        yield known | {"session_id": f"a{number // 40}", "data": _AGENT_HOOKS_DATA[kind]}, _AGENT_HOOKS_TYPES[kind]


def raw(document):
    """A document as a tool writes it."""
    return json.dumps(document).encode()

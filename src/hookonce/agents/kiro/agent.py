"""Agent table, decoder and encoder of Kiro and its ancestor Amazon Q: three generations of hooks."""

from typing import Any

from hookonce.agents._config.lazy_function import lazy_function
from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import DETAILS, EVENTS, KEYS, key_sets, name_table, pick, tool_names
from hookonce.agents.kiro.reply import read_reply, reply
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, Config, Event, Facts, Object, Result, Tool

_EXIT_CODE_PATTERN = lazy_pattern(r"(?:\A|\n)Exit Code: (-?\d{1,10})\s*\Z")
_EXIT_STATUS_PATTERN = lazy_pattern(r"(-?\d{1,10})\Z")
_EDIT_COMMANDS = frozenset({"str_replace", "strReplace", "insert", "append"})
_READ_MODES = {"Search": "search", "Directory": "find"}

# Names that no other agent sends as `hook_event_name`, and camel-case ones that Cursor sends too.
_UNIQUE_EVENTS = frozenset({"agentSpawn", "userPromptSubmit", "PreTaskExec", "PostTaskExec", "Manual"})
_UNIQUE_EVENTS |= {"PostFileCreate", "PostFileSave", "PostFileDelete"}
_CAMEL_EVENTS = frozenset({"preToolUse", "postToolUse", "stop"})

# Amazon Q can hold a hook back until the turn is over, and sends all calls at once then, under the usual name.
_BATCH_EVENT = "postToolUse of a whole turn"

# What IDE 1.0 and CLI 3 know; all other names belong to older files.
_CURRENT_EVENTS = pick(EVENTS, "SessionStart UserPromptSubmit PreToolUse PostToolUse Stop") | name_table(
    "PreTaskExec=before_task PostTaskExec=after_task PostFileCreate=file_created PostFileSave=file_saved "
    "PostFileDelete=file_deleted"
)
# The same events in agent files of the command line up to 2.x.
_LEGACY_EVENT_NAMES = name_table(
    "SessionStart=agentSpawn UserPromptSubmit=userPromptSubmit PreToolUse=preToolUse PostToolUse=postToolUse Stop=stop"
)


def _shape_write(name: str, args: Object) -> tuple[str, Object]:
    """One tool creates and edits: its `command` says which."""
    command = args.get("command")
    if type(command) is not str or command not in _EDIT_COMMANDS:
        return name, args
    if "content" in args and "new_text" not in args:
        args = {"new_text" if key == "content" else key: value for key, value in args.items()}
    return "file_edit", args


def _shape_read(name: str, args: Object) -> tuple[str, Object]:
    """A list of operations: a single one is mapped by its mode, several are a read of several files."""
    entries = args.get("operations")
    operations = [operation for operation in entries if type(operation) is dict] if type(entries) is list else []
    if len(operations) != 1 or "image_paths" in operations[0]:
        files = [{"path": path} for operation in operations for path in _operation_paths(operation)]
        return name, (args | {"files": files} if files else args)
    operation, mode = operations[0], operations[0].get("mode")
    first = operation.get("start_line")
    is_from_start = type(first) is int and first > 0  # negative numbers count from the end of the file
    extra = tool_calls.line_span(first, operation.get("end_line")) if is_from_start else {}
    extra |= {key: operation[key] for key in ("path", "pattern") if type(operation.get(key)) is str}
    return (_READ_MODES.get(mode, name) if type(mode) is str else name), args | extra


def _operation_paths(operation: Object) -> list[Any]:
    images = operation.get("image_paths")
    paths = [operation.get("path"), *(images if type(images) is list else [])]
    return [path for path in paths if type(path) is str]


def _result(facts: Facts, name: str) -> Result:
    """Text with the exit code at its end, or an object; only the oldest generation has a success flag beside it."""
    output: Any = facts.get("output")
    if type(output) is dict and type(output.get("success")) is bool:
        return _structured_result(output, name)
    result = tool_calls.shell_result(facts, name, _EXIT_CODE_PATTERN, output)
    if facts.get("success") is not False:
        return result
    return Result(ok=False, exit_code=result.exit_code, error=tool_calls.as_text(output), output=output)


def _structured_result(output: Object, name: str) -> Result:
    """A command that failed is still a success of the tool: its exit status decides."""
    is_success, parts = output["success"], output.get("result")
    first: Any = parts[0] if type(parts) is list and parts else None
    status = first.get("exit_status") if type(first) is dict and name == "shell" else None
    match = _EXIT_STATUS_PATTERN.search(str(status)) if type(status) in (str, int) else None
    code = int(match.group(1)) if match else None
    error = None if is_success else tool_calls.as_text(first)
    return Result(ok=is_success and not code, exit_code=code, error=error, output=parts)


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    if facts["kind"] in {"after_tool_execute", "tool_batch"} and type(payload.get("hook_events")) is list:
        facts["kind"] = "tool_batch"
        data["tool_calls"] = tool_calls.decode_batch(AGENT, payload["hook_events"])


def _recognise(payload: Object) -> str | None:
    name, session = payload.get("hook_event_name"), payload.get("session_id")
    if type(name) is not str:
        # Copilot's camel-case payloads have the same two keys, but beside them a session, a time or a place.
        is_copilot = payload.keys() & {"sessionId", "timestamp", "cwd"}
        return "" if {"toolName", "toolArgs"} <= payload.keys() and not is_copilot else None
    if name in _UNIQUE_EVENTS or (type(session) is str and session.startswith("sess_")):
        return name
    return name if name in _CAMEL_EVENTS and "cwd" in payload and "conversation_id" not in payload else None


def _wrap(flat: Object, event: Event) -> Object:
    """The payload with what the tables cannot express: the result, and the tool that lists a folder."""
    own, tool = event.agent == "kiro", event.tool
    if own and type(event.native) is dict:  # a hook that came with an older file keeps the names that it knows
        legacy_name = _LEGACY_EVENT_NAMES.get(flat["hook_event_name"])
        if legacy_name and event.native.get("hook_event_name") == legacy_name:
            flat["hook_event_name"] = legacy_name
    if event.type == "tool_batch":
        calls = flat.pop("tool_calls")
        return flat | {"hook_event_name": flat["hook_event_name"].partition(" ")[0], "hook_events": calls}
    if tool is None:
        return flat
    if not own and tool.name == "find" and "pattern" not in tool.input:
        flat["tool_name"] = "list_directory"
    return flat if tool.result is None else flat | _result_fields(tool, tool.result, own=own)


def _result_fields(tool: Tool, result: Result, *, own: bool) -> Object:
    """Text as today; a list of parts and the failure flag as older generations had them."""
    is_failure = result.ok is False and (not result.exit_code or (own and result.error is not None))
    if own and type(result.output) is list:
        return {"tool_response": {"success": not is_failure, "result": result.output}}
    text, code = tool_calls.result_text(result), result.exit_code if tool.name == "shell" else None
    foreign_output = text if code is None else f"Output:\n{text}\n\nExit Code: {code}"
    output: Any = result.output if own else foreign_output
    response_fields = {} if output is None else {"tool_response": output}
    return response_fields | ({"toolSuccess": False} if is_failure else {})


AGENT = Agent(
    name="kiro",
    title="Kiro",
    source="kiro.dev hook pages of mid 2026, payloads published from IDE 0.12 to 1.2.37, hook docs of Amazon Q CLI",
    checked="2026-11-15",
    proof="documented",
    vendor="dev.kiro",
    encodes=True,
    events=_CURRENT_EVENTS
    | {legacy: _CURRENT_EVENTS[native] for native, legacy in _LEGACY_EVENT_NAMES.items()}
    | {_BATCH_EVENT: "tool_batch"}
    # hook files of the IDE before 1.0
    | name_table(
        "promptSubmit=before_prompt agentStop=agent_stop fileCreated=file_created fileEdited=file_saved "
        "fileDeleted=file_deleted preTaskExecution=before_task postTaskExecution=after_task"
    ),
    tools=tool_names(
        shell="execute_bash execute_pwsh execute_cmd shell",
        file_read="read_file fs_read read",
        file_write="fs_write write create_file",
        file_edit="str_replace fs_append edit_file",
        search="grep_search grep",
        find="file_search list_directory glob",
        web_search="remote_web_search web_search",
        web_fetch="web_fetch",
        agent="invoke_sub_agent orchestrate_subagent subagent_* use_subagent delegate",
    ),
    arguments={
        "shell": {"run_in_background": "background", "summary": "description"},
        "file_write": {"file_text": "content", "text": "content"}  # the last of several is the one that is written
        | {"old_str": "old_text", "oldStr": "old_text", "new_str": "new_text", "newStr": "new_text"},
        "file_edit": {"text": "new_text", "oldStr": "old_text", "newStr": "new_text"},
        "grep_search": {"query": "pattern"},
        "file_search": {"query": "pattern"},
        "delete_file": {"targetFile": "path"},
        "delegate": {"task": "prompt", "agent": "type"},
    },
    keys=pick(KEYS, "hook_event_name session_id cwd prompt tool_name tool_input tool_response")
    | name_table("toolName=tool toolArgs=input toolResult=output toolSuccess=success"),
    details=pick(DETAILS, "file_path")
    | name_table("assistant_response=response spec_name=spec_path task_name=task_subject task_success=success"),
    env_markers=("KIRO_SESSION_ID",),
    home=".kiro",
    transcripts=(".kiro/sessions", ".jsonl", {}),
    signature_keys=key_sets("toolName toolSuccess", "spec_name task_name", "hook_event_name hook_events"),
    quirks=(
        "The IDE before 1.0 hands the payload over in the variable USER_PROMPT; its stdin never ends, so a read hangs.",
        "A tool is stopped by exit 2 with the reason on stderr alone; JSON on stdout counts for nothing since 1.0.",
        "Timeouts are seconds in hook files, milliseconds in agent files.",
        "Calls of a delegated agent arrive under the session of the agent that delegated, unmarked.",
        "A prompt may be empty (IDE 1.0.242) or written by Kiro itself, for a step of a workflow.",
        "All hooks of a trigger run in the order of their files' names, also after one of them has blocked.",
        "Hooks that change during a session count from the next one on.",
        "PreTaskExec is documented as blocking, yet exit 2 did not keep the task from running.",
    ),
    refine=_refine,
    shape_readers={"fs_write": _shape_write, "write": _shape_write, "fs_read": _shape_read, "read": _shape_read},
    mcp=tool_calls.mcp_splitter("@", "/"),
    mcp_name="@{}/{}".format,
    result=_result,
    recognise=_recognise,
    recognise_keys=key_sets("toolName toolArgs", "hook_event_name"),
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    config=Config(
        files={"user": "~/.kiro/hooks/hookonce.json", "project": ".kiro/hooks/hookonce.json"},
        reads={
            "user": ("~/.kiro/hooks/*.json", "~/.kiro/agents/*.json"),
            "project": (
                *(".kiro/hooks/*.json", ".kiro/hooks/*.kiro.hook"),
                *(".kiro/agents/*.json", ".amazonq/cli-agents/*.json"),
            ),
        },
        programs=("kiro-cli", "kiro"),
        render=lazy_function("kiro.config", "render"),
        parse=lazy_function("kiro.config", "parse"),
        events=_CURRENT_EVENTS | {"Manual": "vendor.kiro.Manual"},
        points={
            "PreToolUse": point("prevent"),
            "UserPromptSubmit": point("prevent context"),
            "SessionStart": point("context"),
            # older files, which are still read, have events of other names
            "preToolUse": point("prevent"),
            "userPromptSubmit": point("context"),
            "agentSpawn": point("context"),
            "stop": point("retry"),
            "promptSubmit": point("prevent context"),
            "Manual": point(install="opt-in", why="comes only when the user starts this very hook by hand"),
        },
        capabilities=frozenset({"llm_evaluated"}),
        matching="pattern on the tool, or on the path of the file",
        timeout=60,
        handlers={
            "command": {"type": "type", "command": "command", "timeout": "timeout"},
            "agent": {"type": "type", "prompt": "prompt", "timeout": "timeout"},
        },
        ambiguous={"fs_write": ["file_write", "file_edit"], "write": ["file_write", "file_edit"]},
    ),
)

"""Agent table, decoder and encoder of Gemini CLI: own event names, two forms of a tool's result, no call ids."""

from typing import Any

from hookonce.agents._config.lazy_function import lazy_function
from hookonce.agents._config.points import point
from hookonce.agents._decode import tool_calls
from hookonce.agents._decode.claude_vocabulary import DETAILS, EVENTS, KEYS, key_sets, name_table, pick, tool_names
from hookonce.agents.gemini_cli.reply import read_reply, reply
from hookonce.base.jsontext import as_dict, drop_none
from hookonce.base.regex import lazy_pattern
from hookonce.model import Agent, CompactionRule, Config, Event, Facts, Object, Result, Tool, Usage

_FENCE_OPEN, _FENCE_CLOSE = "<untrusted_context>\n", "\n</untrusted_context>"
_SHELL_TRAILER_PATTERN = lazy_pattern(
    r"(?:\nExit Code: (-?\d{1,10}))?(?:\nSignal: (\w+))?(?:\nBackground PIDs: [\d, ]+)?(?:\nProcess Group PGID: \d+)?\Z"
)
_TRAILER_SEARCH_CHARS = 400  # longer than any trailer: an output of megabytes is not searched
_CANCEL_PREFIXES = ("Command was cancelled by user", "Command was automatically cancelled")
_URL_PATTERN = lazy_pattern(r"https?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]]")
_UNSAFE_CHARACTERS, _MAX_TOOL_NAME_CHARS = lazy_pattern(r"[^A-Za-z0-9_.:-]"), 63
_USAGE_KEYS = name_table(
    "promptTokenCount=input_tokens candidatesTokenCount=output_tokens cachedContentTokenCount=cache_read_tokens "
    "thoughtsTokenCount=reasoning_tokens totalTokenCount=total_tokens"
)
_FILES = {
    "user": "~/.gemini/settings.json",
    "project": ".gemini/settings.json",
    "managed": "/etc/gemini-cli/settings.json",
}
_MCP_NAME_KEYS = ("server_name", "tool_name")


def _mcp(native: str, facts: Facts) -> tuple[str, str] | None:
    """The context names server and tool; the joined name alone can be split only at a lone underscore."""
    context = facts.get("mcp_server")
    server, tool = (context.get(key) for key in _MCP_NAME_KEYS) if type(context) is dict else (None, None)
    if type(server) is str and type(tool) is str:
        return server, tool
    if native.count("_") == 2:  # noqa: PLR2004  the prefix's own, and the one between server and tool
        return tool_calls.split_mcp_name(native, "mcp_", "_")
    return ("?", native[4:]) if native.startswith("mcp_") else None


def _mcp_name(server: str, tool: str) -> str:
    name = _UNSAFE_CHARACTERS.sub("_", f"mcp_{server}_{tool}")
    return name if len(name) <= _MAX_TOOL_NAME_CHARS else f"{name[:30]}...{name[-30:]}"


def _unfence(text: str) -> str:
    is_fenced = text.startswith(_FENCE_OPEN) and text.endswith(_FENCE_CLOSE)
    return text[len(_FENCE_OPEN) : -len(_FENCE_CLOSE)] if is_fenced else text


def _result(facts: Facts, name: str) -> Result:
    response = facts.get("output")
    if type(response) is not dict:
        return tool_calls.plain_result(facts)
    content, error = response.get("llmContent", response), tool_calls.as_text(response.get("error"))
    texts = tool_calls.part_texts(content)
    text: Any = content if texts is None else "\n".join(filter(None, map(_unfence, texts)))
    if name != "shell" or type(text) is not str:
        return Result(ok=error is None, error=error, output=text)
    if text.startswith("Output: "):
        return _shell_result(text[8:], error, response.get("returnDisplay"))
    return Result(ok=error is None and not text.startswith(_CANCEL_PREFIXES), error=error, output=text)


def _shell_result(body: str, error: str | None, display: Any) -> Result:
    """A command's output ends with its exit code, unless that is 0; the displayed text tells where that begins."""
    has_display = type(display) is str and body.startswith(display)
    start = len(display) if has_display else max(0, len(body) - _TRAILER_SEARCH_CHARS)
    match = _SHELL_TRAILER_PATTERN.search(body, start)
    code, signal, end = (match[1], match[2], match.start()) if match else (None, None, len(body))
    if signal and error is None:
        error = f"ended by {signal}"
    exit_code = int(code) if code else 0 if error is None else None
    output = "" if body[:end] == "(empty)" else body[:end]
    return Result(ok=exit_code == 0, exit_code=exit_code, error=error, output=output)


def _refine(facts: Facts, data: Object, payload: Object) -> None:
    if "tool" in facts:
        _refine_call(facts, data)
    elif facts["kind"] == "before_prompt":
        data["plan_type"] = "default"  # the same event opens the agent's plan for the prompt
    elif facts["kind"] == "before_compact" and payload.get("trigger") == "auto":
        data["repeat"] = True  # it announces every model call, whether or not anything shrinks
    elif type(request := payload.get("llm_request")) is dict:
        facts["model"] = request.get("model")
        data["request"] = {key: value for key, value in request.items() if key != "model"}
        _refine_response(facts, data, as_dict(payload.get("llm_response")))


def _refine_call(facts: Facts, data: Object) -> None:
    context = as_dict(facts.get("mcp_server"))
    if connection := {key: value for key, value in context.items() if key not in _MCP_NAME_KEYS}:
        data["mcp_connection"] = connection
    response = facts.get("output")
    if type(response) is dict and (kind := as_dict(response.get("error")).get("type")) is not None:
        data["error_type"] = kind


def _refine_response(facts: Facts, data: Object, response: Object) -> None:
    candidates = response.get("candidates")
    first = as_dict(candidates[0]) if type(candidates) is list and candidates else {}
    data |= drop_none({"response": response.get("text"), "finish_reason": first.get("finishReason")})
    if type(counts := response.get("usageMetadata")) is dict:
        numbers = {name: counts[key] for key, name in _USAGE_KEYS.items() if type(counts.get(key)) is int}
        facts["usage"] = Usage(**numbers)


def _shape_files(name: str, arguments: Object) -> tuple[str, Object]:
    include = arguments.get("include")
    files = [{"path": path} for path in include if type(path) is str] if type(include) is list else []
    return name, arguments | {"files": files} if files else arguments


def _shape_fetch(name: str, arguments: Object) -> tuple[str, Object]:
    prompt = arguments.get("prompt")
    urls = _URL_PATTERN.findall(prompt) if type(prompt) is str and "url" not in arguments else []
    return name, arguments | {"url": "\n".join(urls)} if urls else arguments


def _recognise(payload: Object) -> str | None:
    """Its own event names, and the shared ones before the transcript has a path."""
    event = payload.get("hook_event_name")
    if type(event) is not str or event not in AGENT.events:
        return None
    is_early = payload.get("transcript_path") == "" and "timestamp" in payload and "permission_mode" not in payload
    return event if event not in EVENTS or is_early else None


def _wrap(flat: Object, event: Event) -> Object:
    data, tool = event.data, event.tool
    if event.type in ("before_model", "after_model", "before_tool_selection"):
        flat["llm_request"] = ({"model": event.model} if event.model else {}) | as_dict(data.get("request"))
    if event.type == "after_model":
        flat.pop("prompt_response", None)
        flat["llm_response"] = _build_llm_response(event)
    if tool is not None and tool.mcp_server is not None:
        names = {"server_name": tool.mcp_server, "tool_name": tool.name[len(tool.mcp_server) + 5 :]}
        flat["mcp_context"] = names | as_dict(data.get("mcp_connection"))
    if tool is not None and tool.result is not None:
        flat["tool_response"] = _build_tool_response(tool, tool.result, data.get("error_type"))
    if tool is not None and tool.name == "web_fetch" and event.agent != AGENT.name:
        flat["tool_input"] = {"prompt": " ".join(str(tool.input.get(key, "")) for key in ("prompt", "url")).strip()}
    return flat


def _build_llm_response(event: Event) -> Object:
    text, usage = event.data.get("response", ""), event.usage
    candidate: Object = {"content": {"role": "model", "parts": [text] if text else []}, "index": 0}
    if "finish_reason" in event.data:
        candidate["finishReason"] = event.data["finish_reason"]
    response = {"text": text, "candidates": [candidate]}
    if usage is not None:
        counters = ((key, getattr(usage, name)) for key, name in _USAGE_KEYS.items())
        response["usageMetadata"] = {key: n for key, n in counters if n is not None}
    return response


def _build_tool_response(tool: Tool, result: Result, error_type: Any) -> Object:
    """A tool's result twice, as the model and as the user gets it; untrusted content inside a fence."""
    output: Any = (result.error or "") if result.output is None else result.output
    response: Object = {"llmContent": output, "returnDisplay": output if type(output) is str else ""}
    if type(output) is str and tool.name == "shell" and result.exit_code is not None:
        code = f"\nExit Code: {result.exit_code}" if result.exit_code else ""
        response["llmContent"] = f"{_FENCE_OPEN}Output: {output or '(empty)'}{code}{_FENCE_CLOSE}"
    elif type(output) is str and tool.mcp_server is not None:
        response["llmContent"] = [{"text": f"{_FENCE_OPEN}{output}{_FENCE_CLOSE}"}]
    if result.error is not None:
        response["error"] = {"message": result.error} | ({} if error_type is None else {"type": error_type})
    return response


AGENT = Agent(
    name="gemini-cli",
    title="Gemini CLI",
    source="npm packages @google/gemini-cli and gemini-cli-core 0.61.0",
    checked="2026-11-15",
    proof="captured",
    vendor="com.google",
    encodes=True,
    events=name_table(
        "BeforeTool=before_tool_execute AfterTool=after_tool_execute BeforeAgent=before_prompt "
        "AfterAgent=agent_stop BeforeModel=before_model AfterModel=after_model "
        "BeforeToolSelection=before_tool_selection PreCompress=before_compact"
    )
    | pick(EVENTS, "SessionStart SessionEnd Notification"),
    tools=tool_names(
        shell="run_shell_command",
        file_read="read_file read_many_files",
        file_write="write_file",
        file_edit="replace",
        search="grep_search search_file_content",
        find="glob list_directory",
        web_search="google_web_search",
        web_fetch="web_fetch",
        agent="invoke_agent codebase_investigator generalist",
    ),
    arguments={
        "*": {"file_path": "path"},
        "shell": {"is_background": "background"},
        "file_edit": {"old_string": "old_text", "new_string": "new_text", "allow_multiple": "replace_all"},
        "search": {"dir_path": "path"},
        "find": {"dir_path": "path"},
        "agent": {"agent_name": "type"},
        "codebase_investigator": {"objective": "prompt"},
        "generalist": {"request": "prompt"},
    },
    keys={"timestamp": "time", "mcp_context": "mcp_server"}
    | pick(KEYS, "hook_event_name session_id transcript_path cwd prompt tool_name tool_input tool_response"),
    details={"prompt_response": "response", "details": "details", "original_request_name": "requested_tool"}
    | pick(DETAILS, "source reason trigger stop_hook_active message notification_type"),
    env_markers=("GEMINI_SESSION_ID", "GEMINI_CWD", "GEMINI_PLANS_DIR"),
    variables={"GEMINI_PROJECT_DIR": "project", "GEMINI_CWD": "cwd", "GEMINI_SESSION_ID": "session"}
    | {"CLAUDE_PROJECT_DIR": "project"},
    home=".gemini",
    transcripts=(".gemini/tmp", ".jsonl", {"GEMINI_CLI_HOME": ".gemini/tmp"}),
    script_words=("llm_request", "llm_response"),
    signature_keys=key_sets("llm_request", "mcp_context", "prompt_response"),
    quirks=(
        "PreCompress comes before every model call; only trigger manual is news.",
        "AfterModel comes for every streamed piece of an answer.",
        "Nothing joins a call's before and after, and nothing marks the calls of a sub-agent.",
        "Exit 2 blocks only with text on stderr and nothing on stdout; every higher code blocks too.",
        "New tool input takes the place of the old in this version, and was laid over it in others: it is sent whole.",
        "An ask ends a run without a terminal at once and in silence; in one, only systemMessage is shown.",
        "A hook whose name, or else command, stands in hooksConfig.disabled is off.",
        "SessionEnd comes twice when a person quits.",
    ),
    refine=_refine,
    shape_readers={"read_many_files": _shape_files, "web_fetch": _shape_fetch},
    mcp=_mcp,
    mcp_name=_mcp_name,
    result=_result,
    recognise=_recognise,
    recognise_keys=key_sets("hook_event_name"),
    wrap=_wrap,
    reply=reply,
    read_reply=read_reply,
    compaction=CompactionRule(
        share=0.5,
        windows={"*": 1_048_576, "gemma-4-31b-it": 256_000, "gemma-4-26b-a4b-it": 256_000},
        source="shipped code of 0.61.0 (model.compressionThreshold, tokenLimit); it looks when a turn begins",
        date="2026-11-16",
    ),
    config=Config(
        repairable=True,
        files=_FILES,
        reads={
            "user": ("~/.gemini/extensions/*/hooks/hooks.json",),
            "managed": ("/etc/gemini-cli/system-defaults.json", "/Library/Application Support/GeminiCli/settings.json"),
        },
        render=lazy_function("gemini_cli.config", "render"),
        parse=lazy_function("gemini_cli.config", "parse"),
        points={
            "BeforeTool": point("prevent stop rewrite message suppress hides_messages", ask="fatal", rewrite="merge"),
            "AfterTool": point("prevent stop context message suppress hides_messages"),
            "BeforeAgent": point("prevent stop context message suppress hides_messages"),
            "AfterAgent": point("retry stop message suppress hides_messages"),
            "BeforeModel": point("prevent rewrite", rewrite="merge"),
            "BeforeToolSelection": point("rewrite", rewrite="fields"),
            "AfterModel": point("prevent output"),  # what is rewritten is the model's answer
            "SessionStart": point("context message suppress hides_messages"),
            "PreCompress": point(install="opt-in", why="comes before every call of the model, whatever the result"),
        },
        subjects={
            "SessionStart": ("source", "exact"),
            "SessionEnd": ("end_reason", "exact"),
            "PreCompress": ("trigger", "exact"),
        },
        programs=("gemini",),
        capabilities=frozenset({"structured_output", "input_rewrite", "custom_env"}),
        matching="pattern, unanchored",
        units=1000,
        timeout=60,
        handlers={"command": {"type": "type", "command": "command", "timeout": "timeout", "env": "env"}},
        excluded_tools=frozenset({"search_file_content"}),
        switches=tuple((file, ("hooksConfig", "enabled"), False) for file in _FILES.values()),
        notice=("SessionStart", "seen in 0.61.0, and in no request to the model (tests/integration/test_notice.py)"),
        trust="Trust the folder: in one that Gemini CLI does not trust no hook runs, not even your own, "
        "while tools still do.",
    ),
)

"""Tool calls: canonical names and arguments, results, batches, and patches in the `*** Begin Patch` form."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hookonce.base.jsontext import NestingError, dump, load_leniently
from hookonce.errors import PayloadError
from hookonce.model import Agent, Facts, Object, Result, Tool
from hookonce.vocabulary.events import TOOL_END_EVENTS

if TYPE_CHECKING:
    from re import Pattern

_EXIT_CODE_DIGITS_LIMIT = 12  # digits: no exit code has so many, and Python refuses to read thousands


def build_tool(agent: Agent, facts: Facts, kind: str) -> Tool:
    """Build the Tool of the facts of a payload."""
    native = facts["tool"]
    if type(native) is not str:
        key = next((key for key, slot in agent.keys.items() if slot == "tool"), "tool")
        raise PayloadError("the tool name must be a string", f"$.{key}")
    raw = facts.get("input")
    name, server = resolve_tool_name(agent, native, facts)
    arguments = canonical_arguments(agent, native, name, raw if type(raw) is dict else as_object(raw))
    shape = agent.shape_readers.get(native)
    if shape is not None:
        name, arguments = shape(name, arguments)
    call = facts.get("call_id")
    return Tool(
        name=name,
        native=native,
        input=arguments,
        native_input=raw,
        result=build_result(agent, facts, name, kind) if kind in TOOL_END_EVENTS else None,
        call_id=call if call is None or type(call) is str else str(call),
        mcp_server=server,
    )


def resolve_tool_name(agent: Agent, native: str, facts: Facts) -> tuple[str, str | None]:
    """The canonical tool name, and the MCP server if the tool belongs to one."""
    canonical = agent.tools.get(native)
    if canonical is not None and "mcp_server" not in facts:
        return canonical, None
    server_and_tool = None if agent.mcp is None else agent.mcp(native, facts)
    if server_and_tool is None:
        return canonical or canonical_tool_name(agent, native), None
    server, tool = server_and_tool
    return f"mcp:{server}/{tool}", None if server == "?" else server


def canonical_tool_name(agent: Agent, native: str) -> str:
    """The canonical name of a tool by its own name alone; a table's name that ends in a star is a prefix."""
    if (canonical := agent.tools.get(native)) is not None:
        return canonical
    prefix_rows = (row for row in agent.tools if row[-1] == "*" and native.startswith(row[:-1]))
    return next((agent.tools[row] for row in prefix_rows), native)


def canonical_arguments(agent: Agent, native: str, name: str, arguments: Object) -> Object:
    """Arguments under their canonical names; an argument that no table knows keeps its name."""
    if name.startswith("mcp:"):
        return arguments
    tables = agent.arguments
    tool_table: Mapping[str, str] = tables.get(native) or tables.get(name) or {}
    shared_table: Mapping[str, str] = tables.get("*") or {}
    if not tool_table and not shared_table:
        return arguments
    canonical = {tool_table.get(key) or shared_table.get(key, key): value for key, value in arguments.items()}
    if len(canonical) == len(arguments):
        return canonical
    # Two have one name. The agent uses its own: what a model wrote beside it must not be judged in its place.
    by_rank = sorted(arguments.items(), key=lambda item: 2 if item[0] in tool_table else item[0] in shared_table)
    return {tool_table.get(key) or shared_table.get(key, key): value for key, value in by_rank}


def native_tool(agent: Agent, tool: Tool, *, own: bool) -> tuple[str, Any]:
    """The agent's own name and input of a tool call; `own` if the call came from this agent in the first place."""
    if own:
        return tool.native, tool.native_input
    if tool.name.startswith("mcp:") and agent.mcp_name is not None:
        server, _, name = tool.name[4:].partition("/")
        if server == "?":
            return tool.native, tool.input
        return agent.mcp_name(server, name), tool.input
    native = next((native for native, canonical in agent.tools.items() if canonical == tool.name), tool.native)
    return native, native_arguments(agent, native, tool.name, tool.input)


def native_arguments(agent: Agent, native: str, name: str, arguments: Object) -> Object:
    """Canonical arguments under the agent's own names."""
    tables = [table for key in ("*", name, native) if (table := agent.arguments.get(key))]
    native_names = {canonical_name: native_name for table in tables for native_name, canonical_name in table.items()}
    return {native_names.get(key, key): value for key, value in arguments.items()}


def as_object(raw: Any) -> Object:
    """Tool input is an object, or the JSON text of one; anything else is kept under `input`."""
    if raw is None:
        return {}
    if type(raw) is dict:
        return raw
    if type(raw) is str and raw.lstrip()[:1] == "{":
        try:
            inner = load_leniently(raw)
        except NestingError as problem:
            raise PayloadError(str(problem)) from None
        except ValueError:
            inner = None
        if type(inner) is dict:
            return inner
    return {"input": raw}


def build_result(agent: Agent, facts: Facts, name: str, kind: str) -> Result:
    """Build the Result by the agent's own function, else by `plain_result`; a failure event is never ok.

    Whether a command succeeded its exit code tells. Where nobody tells that, it is unknown: agents call a command
    successful that ran, or that still does.
    """
    result = plain_result(facts) if agent.result is None else agent.result(facts, name)
    duration = facts.get("duration")
    ok = False if kind == "tool_use_failure" else result.ok
    if ok and name == "shell" and result.exit_code is None:
        ok = None
    has_duration = type(duration) in (int, float)
    if not has_duration and ok is result.ok:
        return result
    return Result(
        ok=ok,
        exit_code=result.exit_code,
        error=result.error,
        duration_ms=duration if has_duration else result.duration_ms,
        output=result.output,
    )


def plain_result(facts: Facts) -> Result:
    """Result that is a success unless there is an error; output unchanged."""
    error = facts.get("error")
    return Result(ok=error is None, error=as_text(error), output=facts.get("output"))


def shell_result(facts: Facts, name: str, exit_pattern: "Pattern[str]", text: Any) -> Result:
    """Result whose exit code is found in the output text, in the one form that the agent itself writes."""
    error = facts.get("error")
    code: int | None = None
    if name == "shell":
        matches = (exit_pattern.search(part) for part in (text, error) if type(part) is str)
        digits = (match[1] for match in matches if match)
        code = next((int(number) for number in digits if len(number) < _EXIT_CODE_DIGITS_LIMIT), None)
    ok = error is None if code is None else code == 0
    return Result(ok=ok, exit_code=code, error=as_text(error), output=text)


def shell_result_reader(exit_pattern: "Pattern[str]") -> Callable[[Facts, str], Result]:
    """The `result` function of an agent whose output is a text with the exit code in it."""
    return lambda facts, name: shell_result(facts, name, exit_pattern, facts.get("output"))


def as_text(value: Any) -> str | None:
    """Text of a value that should be text: an object's message, else its JSON."""
    if value is None or type(value) is str:
        return value
    if type(value) is dict and type(value.get("message")) is str:
        message: str = value["message"]
        return message
    return dump(value).decode()


def result_text(result: Result) -> str:
    """Output or error as a text, for agents whose results are texts."""
    return as_text(result.output) or as_text(result.error) or ""


def text_parts(result: Result) -> list[Any]:
    """Output or error as a list of parts, as MCP tools return them."""
    return result.output if type(result.output) is list else [{"type": "text", "text": result_text(result)}]


def part_texts(content: Any) -> list[str] | None:
    """Texts of the parts of a model's content, a list or a single part; None if one of them is no text."""
    parts = content if type(content) is list else [content]
    texts: list[Any] = [part.get("text") if type(part) is dict else part for part in parts]
    return texts if all(type(text) is str for text in texts) else None


def line_span(first: Any, last: Any) -> Object:
    """`offset` and `limit` of the lines from first to last, as far as they are numbers in this order."""
    span: Object = {"offset": first} if type(first) is int else {}
    start = span.get("offset", 1)
    return span | {"limit": last - start + 1} if type(last) is int and last >= start else span


def shape_list(source: str, target: str) -> Callable[[str, Object], tuple[str, Object]]:
    """Shape function for a list of texts; the canonical argument holds them one per line."""

    def shape(name: str, arguments: Object) -> tuple[str, Object]:
        texts = arguments.get(source)
        if type(texts) is not list or not all(type(text) is str for text in texts):
            return name, arguments
        return name, arguments | {target: "\n".join(texts)}

    return shape


def mcp_splitter(prefix: str, separator: str) -> Callable[[str, Facts], tuple[str, str] | None]:
    """The `mcp` function of an agent whose joined names tell server and tool."""
    return lambda native, _: split_mcp_name(native, prefix, separator)


def split_mcp_name(native: str, prefix: str, separator: str) -> tuple[str, str] | None:
    """Server and tool of a joined name such as `mcp__server__tool`, split at the first separator."""
    if not native.startswith(prefix):
        return None
    server, boundary, tool = native[len(prefix) :].partition(separator)
    return (server, tool) if boundary and server and tool else None


# canonical name of a call's field ↔ native name
_BATCH_FIELDS = (("call_id", "tool_use_id"), ("status", "status"), ("output", "tool_response"))


def decode_batch(agent: Agent, batch: Any) -> list[Any]:
    """Decode each call of a batch: canonical name and arguments; a call of unknown shape stays unchanged."""
    return [_decode_call(agent, call) for call in batch] if type(batch) is list else []


def _decode_call(agent: Agent, call: Any) -> Any:
    if type(call) is not dict or type(call.get("tool_name")) is not str:
        return call
    native = call["tool_name"]
    name, _ = resolve_tool_name(agent, native, {})
    arguments = canonical_arguments(agent, native, name, as_object(call.get("tool_input")))
    if (shape := agent.shape_readers.get(native)) is not None:
        name, arguments = shape(name, arguments)
    outcome = {canon: call[key] for canon, key in _BATCH_FIELDS if call.get(key) is not None}
    return {"name": name, "native": native, "input": arguments} | outcome


def encode_batch(agent: Agent, batch: Any, *, own: bool) -> list[Any]:
    """Encode the calls of a batch in the agent's own names; `own` if they came from this agent in the first place."""
    return [_encode_call(agent, call, own=own) for call in batch] if type(batch) is list else []


def _encode_call(agent: Agent, call: Any, *, own: bool) -> Any:
    if type(call) is not dict or "native" not in call:
        return call
    native_input = native_arguments(agent, call["native"], call["name"], call["input"])
    tool = Tool(name=call["name"], native=call["native"], input=call["input"], native_input=native_input)
    native, arguments = native_tool(agent, tool, own=own)
    outcome = {key: call[canon] for canon, key in _BATCH_FIELDS if canon in call}
    return {"tool_name": native, "tool_input": arguments} | outcome


_FILE_HEADERS = {"*** Add File: ": "create", "*** Update File: ": "update", "*** Delete File: ": "delete"}
_MOVE_HEADER = "*** Move to: "


def list_patch_files(patch: str) -> list[Object]:
    """The files of a patch, each with its operation."""
    files: list[Object] = []
    for line in patch.splitlines():
        if line.startswith(_MOVE_HEADER) and files:
            files[-1]["moved_to"] = line[len(_MOVE_HEADER) :].strip()
        for header, operation in _FILE_HEADERS.items():
            if line.startswith(header):
                files.append({"path": line[len(header) :].strip(), "operation": operation})
    return files


def shape_patch(name: str, arguments: Object) -> tuple[str, Object]:
    """Shape a patch call: file_write if every file is new, else file_edit; adds `files`, and `path` for one file."""
    patch = arguments.get("patch")
    files = list_patch_files(patch) if type(patch) is str else []
    if not files:
        return name, arguments
    patch_arguments = arguments | {"files": files}
    if len(files) == 1:
        patch_arguments["path"] = files[0]["path"]
    is_new = all(file["operation"] == "create" for file in files)
    return ("file_write" if is_new else "file_edit"), patch_arguments

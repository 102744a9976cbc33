"""The ordinary way to read a tool call: names and arguments into the canon, the outcome into a Result."""

from re import Pattern
from typing import Any

from msgspec import DecodeError
from msgspec.json import decode as parse

from hookonce.errors import PayloadError
from hookonce.model import Agent, Facts, Object, Result, Tool
from hookonce.texts import dump

_LONG = 12  # digits: no exit code has so many, and Python refuses to read thousands
ENDS = frozenset({"after_tool_execute", "tool_use_failure"})


def tool_of(agent: Agent, facts: Facts, kind: str) -> Tool:
    """The tool call that the facts tell of."""
    native = facts["tool"]
    if type(native) is not str:
        key = next((key for key, slot in agent.keys.items() if slot == "tool"), "tool")
        raise PayloadError("the tool name must be a string", f"$.{key}")
    raw = facts.get("input")
    name, server = tool_name(agent, native, facts)
    given = as_object(raw)
    arguments = canonical(agent, native, name, given)
    shape = agent.shapes.get(native)
    if shape is not None:
        name, arguments = shape(name, arguments)
    call = facts.get("call_id")
    return Tool(
        name=name,
        native=native,
        input=arguments,
        native_input=raw,
        result=result_of(agent, facts, name, kind) if kind in ENDS else None,
        call_id=call if call is None or type(call) is str else str(call),
        mcp_server=server,
    )


def tool_name(agent: Agent, native: str, facts: Facts) -> tuple[str, str | None]:
    """The canonical name, and the MCP server if it is one of an MCP server's tools."""
    known = agent.tools.get(native)
    if known is not None and "mcp_server" not in facts:
        return known, None
    found = None if agent.mcp is None else agent.mcp(native, facts)
    if found is None:
        return known or named(agent, native), None
    server, tool = found
    return f"mcp:{server}/{tool}", None if server == "?" else server


def named(agent: Agent, native: str) -> str:
    """The canonical name of a tool by its own name alone.

    Some agents name a tool after what it works with: their tables end such a name in a star.
    """
    if (known := agent.tools.get(native)) is not None:
        return known
    stars = (row for row in agent.tools if row[-1] == "*" and native.startswith(row[:-1]))
    return next((agent.tools[row] for row in stars), native)


def canonical(agent: Agent, native: str, name: str, given: Object) -> Object:
    """The arguments under their canonical names; a name that is nobody's stays as it is."""
    if name.startswith("mcp:"):
        return given
    tables = agent.arguments
    mine = tables.get(native) or tables.get(name)
    usual = tables.get("*")
    if mine is None:
        if usual is None:
            return given
        return {usual.get(key, key): value for key, value in given.items()}
    if usual is None:
        return {mine.get(key, key): value for key, value in given.items()}
    return {mine.get(key) or usual.get(key, key): value for key, value in given.items()}


def native_tool(agent: Agent, tool: Tool, *, own: bool) -> tuple[str, Any]:
    """The agent's own name and input of a tool call; `own` when the call was this agent's to begin with."""
    if own:
        return tool.native, tool.native_input
    if tool.name.startswith("mcp:") and agent.mcp_name is not None:
        server, _, name = tool.name[4:].partition("/")
        if server == "?":
            return tool.native, tool.input
        return agent.mcp_name(server, name), tool.input
    native = next((mine for mine, known in agent.tools.items() if known == tool.name), tool.native)
    return native, native_arguments(agent, native, tool.name, tool.input)


def native_arguments(agent: Agent, native: str, name: str, given: Object) -> Object:
    """Canonical arguments under the agent's own names."""
    tables = [table for key in ("*", name, native) if (table := agent.arguments.get(key))]
    back = {canon: mine for table in tables for mine, canon in table.items()}
    return {back.get(key, key): value for key, value in given.items()}


def as_object(raw: Any) -> Object:
    """Tool input is an object, or the JSON text of one; anything else is kept under `input`."""
    if raw is None:
        return {}
    if type(raw) is dict:
        return raw
    if type(raw) is str and raw[:1] == "{":
        try:
            inner = parse(raw)
        except (DecodeError, RecursionError, UnicodeError):
            inner = None
        if type(inner) is dict:
            return inner
    return {"input": raw}


def result_of(agent: Agent, facts: Facts, name: str, kind: str) -> Result:
    """The agent's own reading of an outcome, else the ordinary one; a failure event is never ok."""
    result = plain_result(facts) if agent.result is None else agent.result(facts, name)
    duration = facts.get("duration")
    timed = type(duration) in (int, float)
    if not timed and (kind != "tool_use_failure" or result.ok is False):
        return result
    return Result(
        ok=False if kind == "tool_use_failure" else result.ok,
        exit_code=result.exit_code,
        error=result.error,
        duration_ms=duration if timed else result.duration_ms,
        output=result.output,
    )


def plain_result(facts: Facts) -> Result:
    """Success unless there is an error; output as given."""
    error = facts.get("error")
    return Result(ok=error is None, error=as_text(error), output=facts.get("output"))


def shell_result(facts: Facts, name: str, form: Pattern[str], text: Any) -> Result:
    """An outcome whose exit code stands in the text, in the one form that the agent itself writes there."""
    error = facts.get("error")
    code: int | None = None
    if name == "shell":
        for part in (text, error):
            if type(part) is str and (found := form.search(part)) and len(found.group(1)) < _LONG:
                code = int(found.group(1))
                break
    ok = error is None if code is None else code == 0
    return Result(ok=ok, exit_code=code, error=as_text(error), output=text)


def as_text(value: Any) -> str | None:
    """Text of a value that should be text: an object's message, else its JSON."""
    if value is None or type(value) is str:
        return value
    if type(value) is dict and type(value.get("message")) is str:
        message: str = value["message"]
        return message
    return dump(value).decode()


def split_mcp(native: str, prefix: str, joint: str) -> tuple[str, str] | None:
    """Server and tool of a joined name such as `mcp__server__tool`, split at the first joint."""
    if not native.startswith(prefix):
        return None
    server, found, tool = native[len(prefix) :].partition(joint)
    return (server, tool) if found and server and tool else None

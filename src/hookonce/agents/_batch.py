"""Several tool calls in one event, as the agents that speak of batches spell them."""

from typing import Any

from hookonce.agents._tool import as_object, canonical, native_arguments, native_tool, tool_name
from hookonce.model import Agent, Tool

# canonical name of a call's field ↔ native name
_FIELDS = (("call_id", "tool_use_id"), ("status", "status"), ("output", "tool_response"))


def calls(agent: Agent, given: Any) -> list[Any]:
    """Each call of a batch with its canonical name and arguments; a call of an unknown shape as it is."""
    return [_call(agent, call) for call in given] if type(given) is list else []


def _call(agent: Agent, call: Any) -> Any:
    if type(call) is not dict or type(call.get("tool_name")) is not str:
        return call
    native = call["tool_name"]
    name, _ = tool_name(agent, native, {})
    arguments = canonical(agent, native, name, as_object(call.get("tool_input")))
    if (shape := agent.shapes.get(native)) is not None:
        name, arguments = shape(name, arguments)
    rest = {canon: call[key] for canon, key in _FIELDS if call.get(key) is not None}
    return {"name": name, "native": native, "input": arguments} | rest


def native_calls(agent: Agent, known: Any, *, own: bool) -> list[Any]:
    """The calls of a batch in the agent's own spelling; `own` when they were this agent's to begin with."""
    return [_back(agent, call, own=own) for call in known] if type(known) is list else []


def _back(agent: Agent, call: Any, *, own: bool) -> Any:
    if type(call) is not dict or "native" not in call:
        return call
    given = native_arguments(agent, call["native"], call["name"], call["input"])
    tool = Tool(name=call["name"], native=call["native"], input=call["input"], native_input=given)
    native, arguments = native_tool(agent, tool, own=own)
    rest = {key: call[canon] for canon, key in _FIELDS if canon in call}
    return {"tool_name": native, "tool_input": arguments} | rest

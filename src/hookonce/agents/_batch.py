"""Several tool calls in one event, as the agents that speak of batches spell them."""

from typing import Any

from hookonce.agents._tool import as_object, canonical_arguments, native_arguments, native_tool, resolve_tool_name
from hookonce.model import Agent, Tool

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

"""Generator of src/hookonce/agents/signatures.json: by what a payload of each agent is recognised."""

from msgspec.json import encode
from msgspec.json import format as indent

from hookonce import agents
from hookonce.model import Agent

_FIELDS = ("home", "signature_keys", "permission_modes", "recognise_keys")


def pages() -> dict[str, str]:
    """The table as JSON."""
    table = {agent.name: _signature_of(agent) for agent in agents.load_all()}
    return {"src/hookonce/agents/signatures.json": indent(encode(table)).decode() + "\n"}


def _signature_of(agent: Agent) -> dict[str, object]:
    values = {name: getattr(agent, name) for name in _FIELDS if getattr(agent, name)}
    return {name: _sort(value) for name, value in values.items()}


def _sort(value: object) -> object:
    """Sets as lists in order, so that the same table is always the same text."""
    if isinstance(value, frozenset):
        return sorted(value)
    return [_sort(item) for item in value] if isinstance(value, tuple) else value

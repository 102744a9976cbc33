"""Provider data: what only one agent knows of a hook, the keys of its entry and its placement in the configuration."""

from msgspec.structs import replace

from hookonce.agents._config.points import canonical_event_of, config_event_of
from hookonce.base.jsontext import as_dict
from hookonce.model import Agent, Hook, Object

PLACEMENT_KEY = "hookonce"  # our own key in provider_data: where and how an entry stood


def own_keys(agent: Agent, hook: Hook) -> Object:
    """The keys of an entry that only this agent knows."""
    return without_keys(hook.provider_data.get(agent.name, {}), PLACEMENT_KEY)


def placement_of(agent: Agent, hook: Hook) -> Object:
    """The placement of a hook in this agent's configuration (event, group, matcher); {} if it is no object."""
    return as_dict(hook.provider_data.get(agent.name, {}).get(PLACEMENT_KEY))


def own_matcher(agent: Agent, hook: Hook) -> str | None:
    """The native matcher that a hook came with."""
    text = placement_of(agent, hook).get("matcher")
    return text if type(text) is str else None


def own_event(agent: Agent, hook: Hook) -> str | None:
    """The native event that a hook came with, if it is of the hook's canonical event."""
    event = placement_of(agent, hook).get("event")
    return event if type(event) is str and canonical_event_of(agent, event) == hook.event else None


def native_event_of(agent: Agent, hook: Hook) -> str | None:
    """The native event of a hook: the one that it came with, else the first of its canonical event."""
    return own_event(agent, hook) or config_event_of(agent, hook.event)


def build_provider_data(agent: Agent, keys: Object, placement: Object) -> dict[str, Object]:
    """Agent-only keys and placement, as `Hook.provider_data` carries them through manifests and other agents."""
    data = keys | ({PLACEMENT_KEY: placement} if placement else {})
    return {agent.name: data} if data else {}


def with_provider_data(agent: Agent, hook: Hook, keys: Object, placement: Object) -> Hook:
    """The hook with these data for one agent; those for others stay."""
    others = without_keys(hook.provider_data, agent.name)
    return replace(hook, provider_data=others | build_provider_data(agent, keys, placement))


def add_placement(agent: Agent, hook: Hook, placement: Object) -> Hook:
    """The hook with more in its placement."""
    return with_provider_data(agent, hook, own_keys(agent, hook), placement_of(agent, hook) | placement)


def without_keys(document: Object, *keys: str) -> Object:
    """A copy of an object without some keys."""
    return {key: value for key, value in document.items() if key not in keys}

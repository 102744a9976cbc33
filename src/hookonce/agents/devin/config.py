"""Devin config codec: groups under their key, or bare in a file of nothing but hooks."""

from hookonce.agents._config import groups
from hookonce.agents._config.provider_data import add_placement, placement_of
from hookonce.model import Agent, Gap, Hook, Object, Wording


def render(agent: Agent, hooks: list[tuple[int, Hook]], wording: Wording) -> tuple[Object, list[Gap]]:
    """Hooks under their key, or bare if that is how they stood in a file of nothing but hooks."""
    document, gaps = groups.render(agent, hooks, wording)
    bare = bool(hooks) and all(placement_of(agent, hook).get("bare") is True for _, hook in hooks)
    return (document["hooks"] if bare else document), gaps


def parse(agent: Agent, document: Object) -> tuple[list[Hook], list[Gap]]:
    """The hooks of a configuration, or of a file of nothing but hooks, which must name an event that is known."""
    if "hooks" in document:
        return groups.parse(agent, document)
    events = {native: items for native, items in document.items() if type(items) is list}
    if events.keys().isdisjoint(agent.events):
        return [], []
    hooks, gaps = groups.parse(agent, {"hooks": events})
    return [add_placement(agent, hook, {"bare": True}) for hook in hooks], gaps

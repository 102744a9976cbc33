"""Native event of a hook: where it stands in an agent's configuration, and what it can no longer do there."""

from collections.abc import Callable, Iterator
from typing import get_args

from hookonce.agents._config.gaps import handler_gap, lost_gap
from hookonce.agents._config.points import config_events, effect_of, point_of
from hookonce.agents._config.provider_data import native_event_of, own_event, own_keys
from hookonce.model import Agent, Gap, HandlerType, Hook
from hookonce.vocabulary.names import hook_label

IndexedHooks = list[tuple[int, Hook]]  # with their indices in the manifest
Resolve = Callable[[Agent, int, Hook], tuple[str | None, list[Gap]]]


def resolve_event(agent: Agent, index: int, hook: Hook) -> tuple[str | None, list[Gap]]:
    """The native event of a hook, None if it has none, and the gaps of its blocking power there."""
    native = native_event_of(agent, hook)
    if native is None:
        return None, [lost_gap(index, hook, "event", f"{agent.title} has no event for {hook.event}")]
    is_own_kind = hook.handler.type not in get_args(HandlerType) and own_keys(agent, hook)
    if hook.handler.type not in agent.config.handlers and not is_own_kind:
        return None, [handler_gap(agent, index, hook)]
    whole = native.partition(" with ")[0]  # an event may be a case of another, which is called in its place
    is_case = whole != native and whole in config_events(agent)
    point = point_of(agent, native)
    if point.install == "never" and own_event(agent, hook) is None and not is_case:
        return None, [lost_gap(index, hook, "event", f"{native} of {agent.title} {point.why}")]
    return native, blocking_gaps(agent, index, hook, native)


def blocking_gaps(agent: Agent, index: int, hook: Hook, *natives: str) -> list[Gap]:
    """The gap of a hook's blocking power at its native events, which are alike in that; none if there is none."""
    point, names = point_of(agent, natives[0]), ", ".join(natives)
    can_block = bool(point.capabilities & {"prevent", "retry"})
    if hook.blocking == (can_block and not hook.handler.background):
        return []
    if hook.blocking and can_block:
        effect, why = "observes", "it runs in the background, where the agent does not wait for its decision"
    elif hook.blocking:
        why = f"{names} of {agent.title} can only be observed; nothing is prevented there"
        effect = effect_of(hook, point)
    else:
        why = f"{agent.title} lets any hook on {names} refuse; the manifest says that this one only looks on"
        effect = "prevents"
    note = f"{hook_label(hook)}: {why}"
    return [Gap(where=f"$.hooks[{index}]", capability="blocking", strategy="warn", effect=effect, note=note)]


def iterate_hooks(
    agent: Agent, hooks: IndexedHooks, gaps: list[Gap], resolve: Resolve = resolve_event
) -> Iterator[tuple[int, Hook, str]]:
    """Each hook that has a native event, with its index and that event; the gaps of all are added to `gaps`."""
    for index, hook in hooks:
        native, hook_gaps = resolve(agent, index, hook)
        gaps += hook_gaps
        if native is not None:
            yield index, hook, native

"""What a conversion leaves behind besides what the target's own file cannot say: each loss as a gap."""

from typing import get_args

from hookonce.agents import config_of, own_place
from hookonce.manifest.matcher import matcher_problems
from hookonce.model import Agent, Gap, HandlerType, Hook, Json

_EVERYTHING = frozenset({"", "*", ".*"})
_NEEDS = {"command": "command", "http": "url", "prompt": "prompt", "agent": "prompt"}


def _who(index: int, hook: Hook) -> str:
    return hook.name or f"Hook {index + 1}"


def _lost(index: int, hook: Hook, capability: str, why: str) -> Gap:
    note = f"{_who(index, hook)}: {why}"
    return Gap(where=f"$.hooks[{index}]", capability=capability, strategy="exclude", effect="lost", note=note)


def is_known(hook: Hook) -> bool:
    """Whether a handler is of a kind that manifests have, and not some agent's own."""
    return hook.handler.type in get_args(HandlerType)


def impossible(index: int, hook: Hook) -> Gap | None:
    """Why a hook can stand in no other agent's file: it has nothing to run, or fits no tool at all."""
    needed = _NEEDS.get(hook.handler.type)
    if needed is not None and not getattr(hook.handler, needed) and not hook.handler.platform:
        return _lost(index, hook, "handler", f"it has no {needed} to run")
    if hook.matcher == []:  # an empty text means everything to most agents
        return _lost(index, hook, "matcher", "its matcher is an empty list, which fits no tool")
    return None


def unsayable(index: int, hook: Hook) -> Gap | None:
    """Why a hook can stand in no manifest."""
    if not is_known(hook):
        return _lost(index, hook, "handler", f"a manifest has no handlers of type {hook.handler.type}")
    if is_unreadable(hook.matcher):
        return _lost(index, hook, "matcher", f"a manifest cannot hold the matcher {hook.matcher}")
    return impossible(index, hook)


def is_unreadable(matcher: Json) -> bool:
    """Whether a manifest with this matcher would be refused."""
    return matcher is not None and any(matcher_problems(matcher, "$"))


def left_behind(source: Agent, index: int, hook: Hook) -> list[Gap]:
    """What only the source understood: a matcher on something else than tools, and keys of its own."""
    gaps: list[Gap] = []
    place = own_place(source, hook)
    text = place.get("matcher")
    fate = "prevents" if hook.blocking else "observes"
    if type(text) is str and text not in _EVERYTHING and hook.matcher is None:
        note = f"{_who(index, hook)}: {source.title} runs it only for {text!r}; here it runs for all"
        where = f"$.hooks[{index}].matcher"
        gaps.append(Gap(where=where, capability="matcher", strategy="warn", effect=fate, note=note))
    group = place.get("group")
    known = {key for key in hook.provider_data.get(source.name, {}) if key != "hookonce"}
    known |= set(group) if type(group) is dict else set()
    if known and is_known(hook):
        note = f"{_who(index, hook)}: {', '.join(sorted(known))} means something to {source.title} alone"
        where = f"$.hooks[{index}].provider_data"
        gaps.append(Gap(where=where, capability="provider_data", strategy="warn", effect=fate, note=note))
    return gaps


def opened(target: Agent, hooks: list[tuple[int, Hook]], told: list[Gap]) -> list[Gap]:
    """Hooks that are closed, on an agent that goes on when a hook is killed or cannot be started."""
    config = config_of(target)
    if config.closed is not None or config.language == "code" or (config.crash, config.late) == ("closed", "closed"):
        return []
    known = {gap.where for gap in told}
    note = f"{target.title} goes on when a hook is killed; what can be closed is closed by our client"
    return [
        Gap(where=where, capability="on_failure", strategy="warn", effect="prevents", note=note)
        for index, hook in hooks
        if hook.on_failure == "closed" and (where := f"$.hooks[{index}].on_failure") not in known
    ]

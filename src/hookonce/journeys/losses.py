"""What a conversion leaves behind besides what the target's own file cannot say: each loss as a gap."""

from typing import get_args

from hookonce.agents import config_of, narrowed, own_place
from hookonce.agents.configs.entry import called, lost
from hookonce.journeys.effects import ON_FAILURE, is_gone
from hookonce.manifest.fields import NEEDS
from hookonce.manifest.load import dump_hook
from hookonce.manifest.matcher import matcher_problems
from hookonce.manifest.problems import problems_of
from hookonce.manifest.side import side
from hookonce.model import Agent, Gap, HandlerType, Hook, Json, Manifest, Object

_EVERYTHING = frozenset({"", "*", ".*"})


def is_known(hook: Hook) -> bool:
    """Whether a handler is of a kind that manifests have, and not some agent's own."""
    return hook.handler.type in get_args(HandlerType)


def impossible(index: int, hook: Hook) -> Gap | None:
    """Why a hook can stand in no other agent's file: it has nothing to run, or fits no tool at all."""
    needed = NEEDS.get(hook.handler.type)
    if needed is not None and not getattr(hook.handler, needed) and not hook.handler.platform:
        return lost(index, hook, "handler", f"it has no {needed} to run")
    if hook.matcher == []:  # an empty text means everything to most agents
        return lost(index, hook, "matcher", "its matcher is an empty list, which fits no tool")
    return None


def unsayable(index: int, hook: Hook) -> Gap | None:
    """Why a hook can stand in no manifest."""
    if not is_known(hook):
        return lost(index, hook, "handler", f"a manifest has no handlers of type {hook.handler.type}")
    if is_unreadable(hook.matcher):
        return lost(index, hook, "matcher", f"a manifest cannot hold the matcher {hook.matcher}")
    return impossible(index, hook) or _faulty(index, hook)


def _faulty(index: int, hook: Hook) -> Gap | None:
    """Why a manifest with this hook would be refused."""
    faults, _ = problems_of({"spec": "hooks/0.1", "hooks": [dump_hook(hook)]})
    if not faults:
        return None
    field = faults[0][0].removeprefix("$.hooks[0].")
    return lost(index, hook, field.partition(".")[0], f"a manifest cannot hold it: {field}: {faults[0][1]}")


def is_unreadable(matcher: Json) -> bool:
    """Whether a manifest with this matcher would be refused."""
    return matcher is not None and any(matcher_problems(matcher, "$"))


def left_behind(source: Agent, index: int, hook: Hook) -> list[Gap]:
    """What only the source understood: a matcher on something else than tools, and keys of its own."""
    gaps: list[Gap] = []
    place = own_place(source, hook)
    text = place.get("matcher")
    fate = "prevents" if hook.blocking else "observes"
    # A text that tells more than the tools, as one about a command does, bears a mark.
    beyond = hook.matcher is None or place.get("narrows") is True
    if type(text) is str and text not in _EVERYTHING and beyond:
        why: str | None = f"{source.title} runs it only for {text!r}; here it runs for all"
    else:
        why = narrowed(source, hook.matcher)
    if why is not None:
        note, where = f"{called(index, hook)}: {why}", f"$.hooks[{index}].matcher"
        gaps.append(Gap(where=where, capability="matcher", strategy="warn", effect=fate, note=note))
    data = hook.provider_data.get(source.name, {})
    system = "powershell" if data.get("shell") == "powershell" else place.get("system")
    if type(system) is str:
        note = f"{called(index, hook)}: its command is for {system} alone, and fails in any other shell"
        where = f"$.hooks[{index}].handler"
        gaps.append(Gap(where=where, capability="platform_commands", strategy="warn", effect="observes", note=note))
    group = place.get("group")
    known = {key for key in hook.provider_data.get(source.name, {}) if key != "hookonce"}
    known |= set(group) if type(group) is dict else set()
    if known and is_known(hook):
        note = f"{called(index, hook)}: {', '.join(sorted(known))} means something to {source.title} alone"
        where = f"$.hooks[{index}].provider_data"
        gaps.append(Gap(where=where, capability="provider_data", strategy="warn", effect=fate, note=note))
    return gaps


def switched_off(source: Agent, document: Object, hooks: list[Hook]) -> list[Gap]:
    """The hooks of a file that turns them all off: they do not run at home, and shall not begin to elsewhere."""
    keys = next((keys for _, keys, value in config_of(source).switches if _is_set(document, keys, value)), None)
    if keys is None:
        return []
    why = f"{'.'.join(keys)} turns it off in {source.title}"
    return [lost(index, hook, "switch", why) for index, hook in enumerate(hooks)]


def _is_set(found: Json, keys: tuple[str, ...], value: Json) -> bool:
    for key in keys:
        found = found.get(key) if type(found) is dict else None
    return type(found) is type(value) and bool(found == value)


def opened(target: Agent, hooks: list[tuple[int, Hook]], told: list[Gap], wrapped: set[int]) -> list[Gap]:
    """Hooks that are closed, inside a wrapper that is not, or on an agent that goes on when a hook fails."""
    config = config_of(target)
    shut = config.closed is not None or config.language == "code" or (config.crash, config.late) == ("closed", "closed")
    known = {gap.where for gap in told}
    return [
        _unsaid(index, hook, "on_failure", _WRAPPED if index in wrapped else f"{target.title} {_GOES_ON}")
        for index, hook in hooks
        if hook.on_failure == "closed" and (index in wrapped or not shut) and _at(index, "on_failure") not in known
    ]


_WRAPPED = "our wrapper around it lets the action go on when the hook fails, is missing or takes too long"
_GOES_ON = "lets the action go on when a hook fails, is killed or cannot be started"
# fields that hardly any agent's file has a place for, and that are missed there; what is only shown is not
_MISSED = {
    "may_allow": "cannot be told whether its allow counts",
    "files": "knows nothing of the files that belong to it",
    "timeout_action": "lets the action go on when it comes too late",
}


def _at(index: int, capability: str) -> str:
    return f"$.hooks[{index}].{capability}"


def _unsaid(index: int, hook: Hook, capability: str, why: str) -> Gap:
    fate = "prevents" if hook.blocking and capability not in ON_FAILURE else "observes"
    note = f"{called(index, hook)}: {why}"
    return Gap(where=_at(index, capability), capability=capability, strategy="warn", effect=fate, note=note)


def unplaced(
    target: Agent, hooks: list[tuple[int, Hook]], again: list[Hook], told: list[Gap], wrapped: set[int]
) -> list[Gap]:
    """Fields that matter and that the target does not read again; what a wrapper carries is not missed."""
    known = {gap.where for gap in told}
    meant = [(index, hook) for index, hook in hooks if not is_gone(index, told)]
    plain = [hook for _, hook in meant]
    entries = side(Manifest(spec="", hooks=plain), [*enumerate(plain)], again)["hooks"]
    gaps: list[Gap] = []
    for (index, hook), entry in zip(meant, entries, strict=False):  # behind them stands what only the target has
        fields = entry.get("fields", {})
        missed = {*fields.get("hook", ()), *fields.get("handler", ())}
        carried = {"may_allow"} if index in wrapped else set()
        carried |= {"timeout_action"} if hook.handler.timeout_action != "block" else set()
        gaps += [
            _unsaid(index, hook, name, f"{target.title} {why}")
            for name, why in _MISSED.items()
            if name in missed - carried and _at(index, name) not in known
        ]
    return gaps

"""Losses of a conversion: what the target's own file cannot say, each as a gap, with one effect for each hook."""

import re

from msgspec.structs import replace

from hookonce.model import Gap

FAILURE_CAPABILITIES = frozenset({"on_failure", "timeout_action"})  # these gaps say what becomes of a hook that has failed
_POWER_CAPABILITIES = frozenset({"blocking", "event"})
_EFFECTS_BY_POWER = ("observes", "later", "prevents")
_HOOK_INDEX = re.compile(r"\$\.hooks\[(\d+)\]")


def is_lost(index: int, gaps: list[Gap]) -> bool:
    """Whether a hook is lost as a whole."""
    return any(gap.effect == "lost" and gap.where == f"$.hooks[{index}]" for gap in gaps)


def unify_effects(gaps: list[Gap]) -> list[Gap]:
    """Give all gaps of a hook one effect: lost, else what is left of its power, else the least of them."""
    effects = {index: _hook_effect(index, gaps) for index in set(map(_hook_index, gaps))}
    return [_with_effect(gap, effects[_hook_index(gap)]) for gap in gaps]


def _hook_index(gap: Gap) -> int | None:
    """The hook that a gap is about; there are gaps about none."""
    match = _HOOK_INDEX.match(gap.where)
    return None if match is None else int(match[1])


def _hook_effect(index: int | None, gaps: list[Gap]) -> str | None:
    if index is None or is_lost(index, gaps):
        return None if index is None else "lost"
    hook_gaps = [gap for gap in gaps if _hook_index(gap) == index and gap.capability not in FAILURE_CAPABILITIES]
    effects = [gap.effect for gap in hook_gaps if gap.capability in _POWER_CAPABILITIES] or [gap.effect for gap in hook_gaps]
    return next((effect for effect in _EFFECTS_BY_POWER if effect in effects), "observes")


def _with_effect(gap: Gap, effect: str | None) -> Gap:
    if effect is None:
        return gap
    if effect == "lost":  # as a whole: no part of it is anywhere
        return replace(gap, where=f"$.hooks[{_hook_index(gap)}]", effect=effect)
    return replace(gap, effect="observes" if gap.capability in FAILURE_CAPABILITIES else effect)

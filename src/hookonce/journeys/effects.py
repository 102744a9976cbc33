"""What becomes of a hook: one word for it, however many gaps it has."""

import re

from msgspec.structs import replace

from hookonce.model import Gap

ON_FAILURE = frozenset({"on_failure", "timeout_action"})  # these gaps say what becomes of a hook that has failed
_POWER = frozenset({"blocking", "event"})
_WEAKEST_FIRST = ("observes", "later", "prevents")
_INDEX = re.compile(r"\$\.hooks\[(\d+)\]")


def is_gone(index: int, gaps: list[Gap]) -> bool:
    """Whether a hook is lost as a whole."""
    return any(gap.effect == "lost" and gap.where == f"$.hooks[{index}]" for gap in gaps)


def settled(gaps: list[Gap]) -> list[Gap]:
    """The gaps with one effect for each hook: lost, else what is left of its power, else the least of them."""
    fates = {index: _fate(index, gaps) for index in set(map(_index, gaps))}
    return [_settled(gap, fates[_index(gap)]) for gap in gaps]


def _index(gap: Gap) -> int | None:
    """The hook that a gap is about; there are gaps about none."""
    found = _INDEX.match(gap.where)
    return None if found is None else int(found[1])


def _fate(index: int | None, gaps: list[Gap]) -> str | None:
    if index is None or is_gone(index, gaps):
        return None if index is None else "lost"
    own = [gap for gap in gaps if _index(gap) == index and gap.capability not in ON_FAILURE]
    words = [gap.effect for gap in own if gap.capability in _POWER] or [gap.effect for gap in own]
    return next((word for word in _WEAKEST_FIRST if word in words), "observes")


def _settled(gap: Gap, fate: str | None) -> Gap:
    if fate is None:
        return gap
    if fate == "lost":  # as a whole: no part of it is anywhere
        return replace(gap, where=f"$.hooks[{_index(gap)}]", effect=fate)
    return replace(gap, effect="observes" if gap.capability in ON_FAILURE else fate)

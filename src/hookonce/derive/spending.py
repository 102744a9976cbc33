"""Tokens: the sum of what was told, each model call counted once whoever tells of it."""

from msgspec import Struct
from msgspec.structs import asdict, astuple, replace

from hookonce.canon.tellers import MODEL, counting, teller
from hookonce.model import Event, Usage

FIELDS = Usage.__struct_fields__


class Spending(Struct, frozen=True, kw_only=True):
    """Sums by who has told them, and the pieces of the model's answer that is still coming in."""

    sums: dict[str, Usage] = {}
    piece: Usage | None = None


def step(spending: Spending, event: Event) -> Spending:
    """The sums after an event."""
    source = teller(event)
    if source != MODEL:
        spending = _closed(spending)
    if source is None or event.usage is None:
        return spending
    if source != MODEL:
        return _added(spending, source, event.usage)
    whole = replace(spending, piece=_most(spending.piece, event.usage))
    return _closed(whole) if event.data.get("finish_reason") else whole


def total(spending: Spending) -> Usage | None:
    """What the session has used, as far as anybody has told; None where nobody has."""
    sums = _closed(spending).sums
    found = None
    for source in counting(sums):
        found = sums[source] if found is None else _plus(found, sums[source])
    return found


def tokens(usage: Usage | None) -> int | None:
    """All tokens of a usage in one number.

    Where tokens written to a cache are told, those read from one are not among the input; else they are.
    """
    if usage is None or usage.total_tokens is not None:
        return None if usage is None else usage.total_tokens
    known = [usage.input_tokens, usage.output_tokens]
    if usage.cache_write_tokens is not None or (usage.cache_read_tokens or 0) > (usage.input_tokens or 0):
        known += [usage.cache_read_tokens, usage.cache_write_tokens]
    told = [count for count in known if count is not None]
    return sum(told) if told else None


def _closed(spending: Spending) -> Spending:
    if spending.piece is None:
        return spending
    return replace(_added(spending, MODEL, spending.piece), piece=None)


def _added(spending: Spending, source: str, usage: Usage) -> Spending:
    return replace(spending, sums=spending.sums | {source: _plus(spending.sums.get(source), usage)})


def _plus(one: Usage | None, other: Usage) -> Usage:
    """The sum; a count that neither tells stays unknown. The whole is told for each part, or made of it."""
    made = replace(other, total_tokens=tokens(other))
    if one is None:
        return made
    pairs = zip(FIELDS, astuple(one), astuple(made), strict=True)
    return Usage(**{name: _sum(left, right) for name, left, right in pairs})


def _sum(left: int | None, right: int | None) -> int | None:
    return left if right is None else right if left is None else left + right


def _most(one: Usage | None, other: Usage) -> Usage:
    """Pieces of one answer tell what it has come to so far."""
    if one is None:
        return other
    told = {name: count for name, count in asdict(other).items() if count is not None}
    return Usage(**{name: max(getattr(one, name) or 0, told.get(name, 0)) or None for name in FIELDS})

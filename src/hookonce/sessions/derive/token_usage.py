"""Token usage of a session: sums by source, each model call counted once whoever reports it."""

from msgspec import Struct
from msgspec.structs import asdict, astuple, replace

from hookonce.model import Event, Usage
from hookonce.vocabulary.usage_sources import MODEL, counting_sources, usage_source_of

USAGE_FIELDS = Usage.__struct_fields__


class Spending(Struct, frozen=True, kw_only=True):
    """Usage by source, and the partial usage of a model answer that is still streaming."""

    sums: dict[str, Usage] = {}
    partial_usage: Usage | None = None


def update_spending(spending: Spending, event: Event) -> Spending:
    """The usage after an event."""
    source = usage_source_of(event)
    if source != MODEL:
        spending = _close_partial(spending)
    if source is None or event.usage is None:
        return spending
    if source != MODEL:
        return _add_usage(spending, source, event.usage)
    new_spending = replace(spending, partial_usage=max_usage(spending.partial_usage, event.usage))
    return _close_partial(new_spending) if event.data.get("finish_reason") else new_spending


def total_usage(spending: Spending, sources: frozenset[str] | None = None) -> Usage | None:
    """The usage as far as reported, None if nothing was; of a part of a session, `sources` count in all of it."""
    sums = _close_partial(spending).sums
    usage_sum = None
    for source in counting_sources(sums) if sources is None else sources & sums.keys():
        usage_sum = sums[source] if usage_sum is None else _sum_usage(usage_sum, sums[source])
    return usage_sum


def token_count(usage: Usage | None) -> int | None:
    """Total tokens of a usage; where cache writes are reported, cache reads are not part of the input."""
    if usage is None or usage.total_tokens is not None:
        return None if usage is None else usage.total_tokens
    counts = [usage.input_tokens, usage.output_tokens]
    if usage.cache_write_tokens is not None or (usage.cache_read_tokens or 0) > (usage.input_tokens or 0):
        counts += [usage.cache_read_tokens, usage.cache_write_tokens]
    present_counts = [count for count in counts if count is not None]
    return sum(present_counts) if present_counts else None


def _close_partial(spending: Spending) -> Spending:
    if spending.partial_usage is None:
        return spending
    return replace(_add_usage(spending, MODEL, spending.partial_usage), partial_usage=None)


def _add_usage(spending: Spending, source: str, usage: Usage) -> Spending:
    return replace(spending, sums=spending.sums | {source: _sum_usage(spending.sums.get(source), usage)})


def _sum_usage(first: Usage | None, second: Usage) -> Usage:
    """A count that neither reports stays unknown. Totals are reported, or computed per part."""
    complete_usage = replace(second, total_tokens=token_count(second))
    if first is None:
        return complete_usage
    pairs = zip(USAGE_FIELDS, astuple(first), astuple(complete_usage), strict=True)
    return Usage(**{name: _sum_counts(first_count, second_count) for name, first_count, second_count in pairs})


def _sum_counts(first: int | None, second: int | None) -> int | None:
    return first if second is None else second if first is None else first + second


def max_usage(first: Usage | None, second: Usage) -> Usage:
    """Pieces of a streaming answer report running totals."""
    if first is None:
        return second
    counts = {name: count for name, count in asdict(second).items() if count is not None}
    return Usage(**{name: max(getattr(first, name) or 0, counts.get(name, 0)) or None for name in USAGE_FIELDS})

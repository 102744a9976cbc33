"""Token usage of sessions: sums by source of the report, and which sources count.

Law: spend is the sum, over all sessions, of what the sources report that count in it.

Some models charge more for a request whose input exceeds a tier. Sums are kept apart by the last of all tiers
that a call exceeds, whatever its model costs now: prices change, and a sum cannot be split afterwards.
"""

from bisect import bisect_left

INPUT_TIERS = (0, 32_000, 100_000, 128_000, 200_000, 256_000, 272_000)  # all that the list of prices has


def total_input_tokens(input_tokens: int, cache_read: int, cache_write: int) -> int:
    """All input of a call; less than its parts cannot be all: some agents report only what is new."""
    return input_tokens + cache_read + cache_write if input_tokens < cache_read + cache_write else input_tokens


def find_input_tier(input_tokens: int) -> int:
    """The last tier that a number of input tokens exceeds."""
    return INPUT_TIERS[max(bisect_left(INPUT_TIERS, input_tokens) - 1, 0)]

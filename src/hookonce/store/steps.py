"""Long requests: some models cost more for a request with more input than a step. Sums are kept apart by it.

Every call is counted under the last of all steps that it exceeds, whatever its model costs now: prices change, and
what a sum was made of cannot be told afterwards.
"""

from bisect import bisect_left

STEPS = (0, 32_000, 100_000, 128_000, 200_000, 256_000, 272_000)  # all that the list of prices has


def given(told: int, read: int, written: int) -> int:
    """All input of a call; what is less than its parts cannot be all of it: some agents tell only what is new."""
    return told + read + written if told < read + written else told


def step(tokens: int) -> int:
    """The last step that a number of input tokens exceeds."""
    return STEPS[max(bisect_left(STEPS, tokens) - 1, 0)]

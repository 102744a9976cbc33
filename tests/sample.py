"""The part of a large set of cases that every run takes; HOOKONCE_EXHAUSTIVE=1 takes all of them, in many minutes."""

import os

EXHAUSTIVE = "HOOKONCE_EXHAUSTIVE" in os.environ


def part(cases, of, first=0):
    """Every so manieth case, beginning with another one for each caller that counts; all of them when exhaustive."""
    return [*cases] if EXHAUSTIVE else [*cases][first % of :: of]

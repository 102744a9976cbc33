"""The JSON in the specifications' texts, taken out of them as it stands."""

import json
import re
from functools import cache
from itertools import product

from tests.shared import seed_text

_PSEUDO = re.compile(r"\w+( \| \w+)+")


@cache
def blocks(number):
    """Every JSON object that begins a line of a specification, in their order."""
    text, found, end = seed_text(number), [], 0
    for start in re.finditer(r"^\{", text, re.MULTILINE):
        if start.start() >= end:
            block, end = json.JSONDecoder().raw_decode(text, start.start())
            found.append(block)
    return found


def only(number, *keys):
    """The blocks of a specification that have these keys."""
    return [block for block in blocks(number) if set(keys) <= block.keys()]


def spelled_out(part):
    """Each document that a block with values such as `"new | resume"` stands for."""
    if isinstance(part, dict):
        return [dict(zip(part, values, strict=True)) for values in product(*map(spelled_out, part.values()))]
    if isinstance(part, str) and _PSEUDO.fullmatch(part):
        return part.split(" | ")
    return [part]

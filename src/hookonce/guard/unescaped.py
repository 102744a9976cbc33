"""Secret detection in text: one RE2 set of hints says what may be there, the matching patterns say where.

`find_secrets` returns spans, `mask_secrets` puts `[secret:KIND]` in their place and leaves the rest readable.
Escapes are undone before: `ghp_ab\\` and `cd` on the next line are one word, `%3D` is a sign, `\\u0022` a quotation
mark, and terminal colours are nothing.
"""

from bisect import bisect_right
from collections.abc import Callable
from re import compile as pattern

# Whether there may be something to undo, in a text or in its JSON, for the set of hints.
ESCAPE_HINT = (
    r"%[0-9A-Fa-f]{2}"  # of a URL
    r"|(?:\x1b|\\(?:u001[bB]|x1[bB]|033|e))\["  # of a terminal
    r"|\\[ux][0-9A-Fa-f]{2}"  # of JSON, or of a shell
    r"|\\\r?\n|\\\\\\(?:r\\+)?n"  # a line that goes on
)
_ESCAPE_SEQUENCE = pattern(
    r"\\\r?\n|\\{3,}(?:r\\+)?n"
    r"|(?:\x1b|\\+(?:u001[bB]|x1[bB]|033|e))\[[0-9;]*[A-Za-z]"
    r"|(?:%|\\+u00|\\+x)(?P<code>[0-9A-Fa-f]{2})"
)

TextSpan = tuple[int, int]


def unescape(text: str) -> tuple[str, Callable[[int, int], TextSpan]]:
    """The text without escapes, and a function that maps its spans to the original text."""
    parts: list[str] = []
    plain_starts, source_starts = [0], [0]  # where pieces begin, in both texts; an escape is a piece of its own
    position = length = 0
    for escape in _ESCAPE_SEQUENCE.finditer(text):
        code = escape["code"]
        parts += [text[position : escape.start()], chr(int(code, 16)) if code else ""]
        length += escape.start() - position
        plain_starts += [length, length + len(parts[-1])]
        source_starts += [escape.start(), escape.end()]
        length, position = plain_starts[-1], escape.end()
    parts.append(text[position:])

    def source_span(start: int, end: int) -> TextSpan:
        first, last = bisect_right(plain_starts, start) - 1, bisect_right(plain_starts, end - 1) - 1
        source_end = source_starts[last] + end - plain_starts[last]  # of a piece that is written as it is meant
        if last % 2:  # an escape, which is longer than what it means
            source_end = source_starts[last + 1]
        return (source_starts[first] + (0 if first % 2 else start - plain_starts[first]), source_end)

    return "".join(parts), source_span

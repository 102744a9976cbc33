r"""A text as whoever reads it in the end sees it: what shells join, terminals swallow and URLs spell out is undone.

`ghp_ab\` and `cd` on the next line are one word, `%3D` is a sign, `\u0022` a quotation mark, and colours are nothing.
"""

from bisect import bisect_right
from collections.abc import Callable
from re import compile as pattern

# Whether there may be something to undo, in a text or in its JSON, for the set of hints.
HINT = (
    r"%[0-9A-Fa-f]{2}"  # of a URL
    r"|(?:\x1b|\\(?:u001[bB]|x1[bB]|033|e))\["  # of a terminal
    r"|\\[ux][0-9A-Fa-f]{2}"  # of JSON, or of a shell
    r"|\\\r?\n|\\\\\\(?:r\\+)?n"  # a line that goes on
)
_ESCAPE = pattern(
    r"\\\r?\n|\\{3,}(?:r\\+)?n"
    r"|(?:\x1b|\\+(?:u001[bB]|x1[bB]|033|e))\[[0-9;]*[A-Za-z]"
    r"|(?:%|\\+u00|\\+x)(?P<code>[0-9A-Fa-f]{2})"
)

Span = tuple[int, int]


def unescaped(text: str) -> tuple[str, Callable[[int, int], Span]]:
    """The text that is meant, and where a part of it stands in the text as it is written."""
    parts: list[str] = []
    meant, written = [0], [0]  # where pieces begin, in both texts; an escape is a piece of its own
    at = length = 0
    for escape in _ESCAPE.finditer(text):
        code = escape["code"]
        parts += [text[at : escape.start()], chr(int(code, 16)) if code else ""]
        length += escape.start() - at
        meant += [length, length + len(parts[-1])]
        written += [escape.start(), escape.end()]
        length, at = meant[-1], escape.end()
    parts.append(text[at:])

    def place(start: int, end: int) -> Span:
        first, last = bisect_right(meant, start) - 1, bisect_right(meant, end - 1) - 1
        ends = written[last] + end - meant[last]  # of a piece that is written as it is meant
        if last % 2:  # an escape, which is longer than what it means
            ends = written[last + 1]
        return (written[first] + (0 if first % 2 else start - meant[first]), ends)

    return "".join(parts), place

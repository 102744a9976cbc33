"""Texts for a terminal: escaping of what comes from others, counts with their nouns."""


def escape_unprintable(text: str) -> str:
    """Escape a text to one line, with nothing in it that a terminal would obey or hide."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def pluralize(count: int, noun: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"

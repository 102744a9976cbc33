"""Escaping of texts that are shown on a terminal and come from others."""


def escape_unprintable(text: str) -> str:
    """Escape a text to one line, with nothing in it that a terminal would obey or hide."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)

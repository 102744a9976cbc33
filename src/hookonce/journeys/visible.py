"""Texts of others on a terminal."""


def visible(text: str) -> str:
    """A text on one line, with nothing in it that a terminal would obey or hide."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)

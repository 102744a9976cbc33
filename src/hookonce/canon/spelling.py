"""What was probably meant by a name that nothing has."""

from collections.abc import Iterable


def near(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?` where something has nearly that name, else nothing."""
    from difflib import get_close_matches

    spelt = {word.lower(): word for word in known}
    found = get_close_matches(name.lower(), spelt, n=1)
    return f"; did you mean {spelt[found[0]]}?" if found else ""

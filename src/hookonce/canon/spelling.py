"""What was probably meant by a name that nothing has."""

from collections.abc import Iterable


def suggest_name(name: str, candidates: Iterable[str]) -> str:
    """`; did you mean …?` where something has nearly that name, else nothing."""
    from difflib import get_close_matches

    name_by_lower = {word.lower(): word for word in candidates}
    matches = get_close_matches(name.lower(), name_by_lower, n=1)
    return f"; did you mean {name_by_lower[matches[0]]}?" if matches else ""

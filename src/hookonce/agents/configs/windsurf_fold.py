"""One hook out of entries under several events, and back: lists that are read side by side."""

from collections import Counter

Key = tuple[str, bytes]  # the moment of an entry and what it says; equal keys cannot be told apart


def folded(lists: dict[str, list[Key]]) -> list[tuple[Key, list[str]]]:
    """What stands at the head of several lists at once is one; the order within each list is kept."""
    rest = {name: list(keys) for name, keys in lists.items()}
    found: list[tuple[Key, list[str]]] = []
    while heads := {name: keys[0] for name, keys in rest.items() if keys}:
        key = _next(list(heads.values()), list(rest.values()))
        names = [name for name, head in heads.items() if head == key]
        for name in names:
            del rest[name][0]
        found.append((key, names))
    return found


def _next(heads: list[Key], lists: list[list[Key]]) -> Key:
    """A head that is not still to come elsewhere, so that it is taken from all of its lists at once."""
    ripe = (head for head in heads if all(head not in keys or keys[0] == head for keys in lists))
    return next(ripe, heads[0])


def layered(groups: list[list[str]]) -> list[list[str]]:
    """Groups of names as reading side by side would find them: first each name once, then the second ones."""
    counts = Counter(name for names in groups for name in names)
    return [[name for name in counts if counts[name] > depth] for depth in range(max(counts.values(), default=0))]

"""Windsurf config codec: no matchers and no timeouts, but an event for each kind of tool.

A hook with several tools is one entry under several events. Reading folds the lists back, side by side: equal
entries at the heads of several lists are one hook.
"""

from collections import Counter

EntryKey = tuple[str, bytes]  # the moment of an entry and what it says; equal keys cannot be told apart


def fold_lists(lists: dict[str, list[EntryKey]]) -> list[tuple[EntryKey, list[str]]]:
    """The lists merged: equal keys at the heads of several lists are one; the order within each list is kept."""
    rest = {name: list(keys) for name, keys in lists.items()}
    folds: list[tuple[EntryKey, list[str]]] = []
    while heads := {name: keys[0] for name, keys in rest.items() if keys}:
        key = _next_head(list(heads.values()), list(rest.values()))
        names = [name for name, head in heads.items() if head == key]
        for name in names:
            del rest[name][0]
        folds.append((key, names))
    return folds


def _next_head(heads: list[EntryKey], lists: list[list[EntryKey]]) -> EntryKey:
    """A head that is not still to come elsewhere, so that it is taken from all of its lists at once."""
    candidates = (head for head in heads if all(head not in keys or keys[0] == head for keys in lists))
    return next(candidates, heads[0])


def layer_names(groups: list[list[str]]) -> list[list[str]]:
    """Groups of names as folding would find them: first each name once, then the second ones."""
    counts = Counter(name for names in groups for name in names)
    return [[name for name in counts if counts[name] > depth] for depth in range(max(counts.values(), default=0))]

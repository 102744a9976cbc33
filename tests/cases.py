"""Many small cases in one test: a table of thousands is collected and told as a few, and a failure names its case."""

import functools
import inspect
from collections import defaultdict

import pytest


def cases(names, table, *, by=None, ids=str):
    """Call a test with each row of a table, all of them in one go or those together that have something in common.

    As with parametrize a row is one value, or one for each of the names; `by` says by its first value with which others
    it belongs together, and `ids` what its values are called. Fixtures are shared by the rows of a group. All rows are
    tried; what they raise is told together, each with its row.
    """
    names = [names] if isinstance(names, str) else names
    groups = defaultdict(list)
    for row in table if len(names) > 1 else ((one,) for one in table):
        groups[by(row[0]) if by else "all"].append(row)

    def decorate(test):
        known = inspect.signature(test)
        others = [one for one in known.parameters.values() if one.name not in names]
        group = inspect.Parameter("_rows", inspect.Parameter.KEYWORD_ONLY)

        @functools.wraps(test)
        def all_of_them(_rows, **fixtures):
            problems = []
            for row in _rows:
                try:
                    test(**dict(zip(names, row, strict=True)), **fixtures)
                except Exception as problem:  # noqa: BLE001  the other rows are tried too
                    problem.add_note(" ".join(map(ids, row)))
                    problems.append(problem)
            if problems:
                raise ExceptionGroup(f"{len(problems)} of {len(_rows)} cases", problems)

        all_of_them.__signature__ = known.replace(parameters=[*others, group])
        return pytest.mark.parametrize("_rows", groups.values(), ids=groups)(all_of_them)

    return decorate

"""Records of runs in which real agents were given an answer."""

import json
from functools import cache

import pytest

from tests.shared import SHARED


@cache
def _records(client):
    file = SHARED / "facts" / "lab-results" / f"{client}.json"
    if not file.exists():
        return None
    found = json.loads(file.read_text(encoding="utf-8"))
    return found if type(found) is dict else {record["case"]: record for record in found}


def record(client, case):
    """What happened in a case; the test is skipped where the records are absent."""
    records = _records(client)
    if records is None:
        pytest.skip("results of real runs are not here")
    return records[case]

"""hookonce bench: what is told, not how fast it is."""

import pytest
from jsonschema import Draft202012Validator

from hookonce.formats.schema import load_schema
from tests.cli.command import run

KEYS = ("case", "way", "callers", "payload")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """One short round."""
    scratch = tmp_path_factory.mktemp("bench")
    ran = run("bench", "--quick", "--rounds", "1", "--json", TMPDIR=str(scratch))
    assert 0 == ran.code, ran.err
    assert [] == list(scratch.iterdir())
    return ran.documents()[0]


@pytest.mark.slow
def test_a_quick_run_tells_one_object_of_the_published_shape(report):
    assert [] == [error.message for error in Draft202012Validator(load_schema("bench")).iter_errors(report)]
    assert 1 == report["rounds"]


@pytest.mark.slow
def test_every_case_is_measured_directly_and_through_a_shell_or_told_with_a_reason(report):
    ways = {(row["case"], row["way"]) for row in report["rows"]}
    measured = {case for case, _ in ways}
    absent = {one["case"] for one in report["skipped"]}

    assert {"nothing", "echo", "no hooks", "cold", "python -I -S -c pass"} <= measured | absent
    assert {(case, way) for case in measured for way in ("direct", "sh -c")} <= ways
    assert len(report["rows"]) == len({tuple(row[key] for key in KEYS) for row in report["rows"]})
    assert all(one["reason"] for one in report["skipped"])


@pytest.mark.slow
def test_no_call_fails_or_gets_a_wrong_answer(report):
    assert [] == [row for row in report["rows"] if row["errors"] or row["wrong"]]


@pytest.mark.slow
def test_ratios_are_of_the_numbers_that_are_told(report):
    rows = {(row["case"], row["callers"]): row for row in report["rows"] if (row["way"], row["payload"]) == ("direct", 1024)}

    assert {("no hooks", "nothing"), ("cold", "python -I -S -c pass")} <= {(one["case"], one["to"]) for one in report["ratios"]}
    for one in report["ratios"]:
        own, other = (rows[one[name], one["callers"]] for name in ("case", "to"))
        quotient = own[one["of"]] / other[one["of"]]
        assert one["value"] == pytest.approx(quotient, abs=0.01)


@pytest.mark.parametrize("number", ["0", "-1", "1001", "many", "²"])
def test_a_strange_number_of_rounds_is_wrong_usage(number):
    ran = run("bench", f"--rounds={number}")

    assert 64 == ran.code
    assert "from 1 to 1000" in ran.err

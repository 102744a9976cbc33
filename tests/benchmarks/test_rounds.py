"""Rounds of the repository's latency benchmark: which calls a case gets, and what is done before each."""

import json
import sys
from types import SimpleNamespace

import pytest
from blocks import BenchCell, BlockRunner
from cases import CALL_NUMBER_MARKER, BenchCase, build_payload
from rounds import QUICK_PLAN, BenchPlan, _build_cells, _skip_failures, run_rounds

from hookonce.client.daemon_endpoints import FLUSH
from hookonce.errors import HookonceError
from hookonce.lab.bench_cases import FLOOR, FUNCTION, NO_HOOKS, SDK_IMPORT
from hookonce.lab.bench_report import DIRECT, KB


def case(name=NO_HOOKS, **more):
    return BenchCase(**{"name": name, "command": ["/bin/true"], "environment": {}, "calls": 40} | more)


def test_a_quick_run_has_fewer_calls_of_the_same_cases_and_leaves_large_payloads_out():
    whole, quick = (set(map(cell_key, _build_cells(case(), plan))) for plan in (BenchPlan(), QUICK_PLAN))

    assert {1024} == {payload for *_, payload in quick}
    assert quick == {key for key in whole if key[-1] == KB}
    assert sum(cell.calls for cell in _build_cells(case(), QUICK_PLAN)) < sum(cell.calls for cell in _build_cells(case(), BenchPlan()))


def cell_key(cell):
    return cell.way, cell.callers, cell.pause_ms, cell.payload


@pytest.mark.parametrize(("name", "pauses", "callers"), [(FLOOR, {0, 50}, {1, 8}), (FUNCTION, {0, 50}, {1, 64}), (SDK_IMPORT, {0}, {1})])
def test_what_agents_wait_for_is_also_measured_with_a_pause_and_in_a_crowd(name, pauses, callers):
    cells = list(_build_cells(case(name), BenchPlan()))

    assert (pauses, callers) == ({cell.pause_ms for cell in cells}, {cell.callers for cell in cells})
    assert all(cell.calls >= cell.callers for cell in cells)


def test_a_payload_is_a_call_of_a_shell_with_a_number_of_its_own():
    text = build_payload(KB, "rm -rf /")

    assert "rm -rf /" == json.loads(text)["tool_input"]["command"]
    assert CALL_NUMBER_MARKER.encode() in text
    assert KB - 100 < len(text) < KB + 200


def test_every_cell_is_measured_once_in_each_round_until_there_is_no_time():
    cells, measured = [BenchCell(case=case(name), calls=1) for name in ("a", "b", "c")], []
    assert 4 == run_rounds(cells, 4, 60.0, measured.append, lambda _: None)

    assert all({id(cell) for cell in cells} == {id(cell) for cell in measured[n : n + 3]} for n in range(0, 12, 3))
    assert 1 == run_rounds(cells, 4, -1.0, measured.append, lambda _: None)


def test_a_case_that_fails_is_left_out_with_its_reason_and_costs_no_other_its_numbers():
    measured, reasons = [], {}

    def measure(cell):
        measured.append(cell.case.name)
        if cell.case.name == "bad":
            raise HookonceError("it takes too long")

    cells = [BenchCell(case=case(name), calls=1) for name in ("good", "bad")]
    assert 3 == run_rounds(cells, 3, 60.0, _skip_failures(measure, reasons), lambda _: None)

    assert {"bad": "it takes too long"} == reasons
    assert (3, 1) == (measured.count("good"), measured.count("bad"))


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    return BlockRunner(tmp_path_factory.mktemp("blocks"))


def test_what_has_to_be_done_before_each_call_is_done_before_each(blocks):
    done = []
    result = blocks.run_block(BenchCell(case=case(before_call=lambda: done.append(1)), calls=3))

    assert (3, 0, 0, 3) == (len(done), result.errors, result.wrong, len(result.call_ns))


def test_what_a_daemon_has_put_off_is_done_before_the_next_case(blocks, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("blocks.query_status", lambda command, _, socket_file: asked.append((command, socket_file)))
    blocks.run_block(BenchCell(case=case(home=SimpleNamespace(runtime_dir=lambda: tmp_path)), calls=2))

    assert [(FLUSH, tmp_path / "socket")] == asked


def test_a_case_is_asked_about_its_own_command(blocks):
    script = "import json, sys; print(json.load(sys.stdin)['tool_input']['command'])"
    asked = case(command=[sys.executable, "-I", "-S", "-c", script], shell_command="git push", expected=b"git push\n")

    assert 0 == blocks.run_block(BenchCell(case=asked, calls=1)).wrong


def test_a_pause_is_a_row_of_its_own_and_no_part_of_the_time(blocks):
    for pause_ms in (0, 50):
        blocks.measure(BenchCell(case=case("pause"), calls=2, pause_ms=pause_ms))

    rows = {row.pause_ms: row for row in blocks.rows() if row.case == "pause"}
    assert {(0, DIRECT), (50, DIRECT)} == {(pause, row.way) for pause, row in rows.items()}
    assert 0 < rows[50].p50_ms < 50

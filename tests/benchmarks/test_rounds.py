"""Rounds of the repository's latency benchmark."""

from cases import BenchCase
from rounds import QUICK_PLAN, _build_cells


def test_a_quick_run_leaves_large_payloads_out():
    case = BenchCase(name="warm", command=["/bin/true"], environment={}, calls=4)

    assert {1024} == {cell.payload for cell in _build_cells([case], QUICK_PLAN)}

"""Whether a module keeps to the protocol is found out by trying it; each kind of failure by its own reason."""

import sys
from pathlib import Path
from time import monotonic

import pytest

from hookonce.modules.conformance import SETS, Wanted, check
from hookonce.modules.descriptor import Descriptor, Transport
from tests.handlers.processes import eventually, running
from tests.modules.broken import BROKEN

PROGRAM = str(Path(__file__).with_name("broken.py"))


def described(name):
    command = [sys.executable, PROGRAM, name]
    return Descriptor(
        name="broken", kind="tool", transport=Transport(type="stdio", command=command), capabilities=[]
    )


@pytest.mark.covers("AMP-32", "AMP-25", "AMP-11")
def test_a_module_that_works_passes_every_case():
    report = check(described("say"), Wanted(op="hello"))
    assert (True, SETS["all"]) == (report.passed, tuple(one.case for one in report.cases))
    assert {"passed"} == {one.state for one in report.cases}
    assert all(one.transcript for one in report.cases if one.case != "stderr")


@pytest.mark.covers("AMP-32")
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_module_fails_for_its_own_reason_in_time_and_leaves_nothing(name):
    began, (case, reason) = monotonic(), BROKEN[name]
    report = check(described(name), Wanted(op="hello", timeout=2.0))
    failed = [one for one in report.cases if one.state == "failed"]
    assert not report.passed
    assert (case, True) == (failed[0].case, reason in failed[0].reason), failed[0].reason
    assert monotonic() - began < 60
    assert eventually(lambda: not running(f"{PROGRAM}\0{name}"))


def test_a_program_that_is_not_there_fails_at_once():
    missing = Descriptor(
        name="x", kind="tool", transport=Transport(type="stdio", command=["/nowhere/at/all"]), capabilities=[]
    )
    (only,) = check(missing).cases
    assert ("health", "failed", "cannot be started: No such file or directory") == (only.case, only.state, only.reason)


def test_without_an_operation_that_needs_no_arguments_invoke_is_skipped_and_says_what_to_do():
    report = check(described("say"), Wanted(cases=("describe", "invoke")))
    assert ("skipped", True) == (report.cases[-1].state, "--op" in report.cases[-1].reason)

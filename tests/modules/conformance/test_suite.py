"""Whether a module keeps to the protocol is found out by trying it; each kind of failure by its own reason."""

import sys
from pathlib import Path
from time import monotonic

import pytest

from hookonce.modules.conformance.suite import CASE_SETS, ConformanceOptions, check_module
from hookonce.modules.protocol.descriptor import Descriptor, Transport
from hookonce.modules.server.http_server import expose_over_http
from tests.handlers.processes import eventually, running
from tests.modules.conformance.broken import BROKEN
from tests.modules.host.test_http import HEAD, canned

PROGRAM = str(Path(__file__).with_name("broken.py"))


def described(name):
    command = [sys.executable, PROGRAM, name]
    return Descriptor(
        name="broken", kind="tool", transport=Transport(type="stdio", command=command), capabilities=[]
    )


@pytest.mark.covers("AMP-32", "AMP-25", "AMP-11")
def test_a_module_that_works_passes_every_case():
    report = check_module(described("say"), ConformanceOptions(op="hello"))
    assert (True, CASE_SETS["all"]) == (report.passed, tuple(one.case for one in report.cases))
    assert {"passed"} == {one.state for one in report.cases}
    assert all(one.transcript for one in report.cases if one.case != "stderr")


@pytest.mark.part(3)
@pytest.mark.covers("AMP-32")
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_module_fails_for_its_own_reason_in_time_and_leaves_nothing(name):
    began, (case, reason) = monotonic(), BROKEN[name]
    report = check_module(described(name), ConformanceOptions(op="hello", timeout=2.0))
    failed = [one for one in report.cases if one.state == "failed"]
    assert not report.passed
    assert (case, True) == (failed[0].case, reason in failed[0].reason), failed[0].reason
    assert monotonic() - began < 60
    assert eventually(lambda: not running(f"{PROGRAM}\0{name}"))


OVER_HTTP = {
    "wrong_status": "its status is not ok but 'fine'",
    "hangs": "gave no answer in 0.5 s",
    "wrong_id": "with the id somebody else",
    "exits": "ended with code 3",
}


@pytest.mark.part(2)
@pytest.mark.covers("AMP-32")
@pytest.mark.parametrize("name", OVER_HTTP)
def test_a_broken_module_fails_over_http_too_where_that_can_be_seen(name):
    with expose_over_http(described(name)) as one:
        first, *rest = check_module(one, ConformanceOptions(timeout=0.5)).cases
    assert ("failed", True) == (first.state, OVER_HTTP[name] in first.reason), first.reason
    assert {"skipped"} == {tried.state for tried in rest}
    assert eventually(lambda: not running(f"{PROGRAM}\0{name}"))


@pytest.mark.covers("AMP-32", "AMP-12")
def test_a_module_that_works_passes_over_http_but_for_what_cannot_be_tried():
    with expose_over_http(described("say")) as one:
        report = check_module(one, ConformanceOptions(op="hello"))
    assert (True, {"crash", "order", "stderr"}) == (report.passed, {one.case for one in report.cases if one.state == "skipped"})


@pytest.mark.covers("AMP-32")
def test_a_server_that_drips_is_tried_in_bounded_time():
    with canned(*[bytes([byte]) for byte in HEAD] * 20, pause=0.05) as (url, _):
        transport = Transport(type="http", url=url)
        report = check_module(Descriptor(name="x", kind="tool", transport=transport, capabilities=[]), ConformanceOptions(timeout=0.3))
    assert "gave no answer in 0.3 s" == report.cases[0].reason


def test_a_program_that_is_not_there_fails_at_once():
    missing = Descriptor(
        name="x", kind="tool", transport=Transport(type="stdio", command=["/nowhere/at/all"]), capabilities=[]
    )
    (only,) = check_module(missing).cases
    told = "/nowhere/at/all cannot be started: No such file or directory"
    assert ("health", "failed", told) == (only.case, only.state, only.reason)


def test_without_an_operation_that_needs_no_arguments_invoke_is_skipped_and_says_what_to_do():
    report = check_module(described("say"), ConformanceOptions(cases=("describe", "invoke")))
    assert ("skipped", True) == (report.cases[-1].state, "--op" in report.cases[-1].reason)


def test_a_program_that_dies_is_quoted_with_how_it_ended():
    """
    What it said last is mostly why.
    """
    command = [sys.executable, "-c", "import sys; print('no such library', file=sys.stderr); sys.exit(3)"]
    dying = Descriptor(name="x", kind="tool", transport=Transport(type="stdio", command=command), capabilities=[])

    first = check_module(dying).cases[0]

    assert first.reason.endswith(": it ended with code 3; it said last: no such library")

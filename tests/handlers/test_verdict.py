"""The table of decisions: what a hook's exit code and answer mean, row by row."""

from itertools import product

import pytest
from msgspec.structs import astuple, replace

from hookonce.dispatch.dialect import parse_hif_output
from hookonce.handlers.command import OperationResult
from hookonce.handlers.verdict import Rights, verdict
from hookonce.model import Decision, Handler, Hook

# blocking, on_failure; blocking: false with closed is no manifest
KINDS = [(True, None), (True, "open"), (True, "closed"), (False, None), (False, "open")]
ANY = "any"
TABLE = [
    # blocking, code, stdout, what it means when open, and when closed
    (ANY, 0, "", None, None),
    (ANY, 0, " \n", None, None),
    (ANY, 0, "{}", None, None),
    (ANY, 0, '{"reason": "r"}', None, None),
    (ANY, 0, '{"decision": null}', None, None),
    (ANY, 0, '{"reason": 5, "unknown": []}', None, None),
    (ANY, 0, '{"decision": "allow"}', "allow", "allow"),
    (ANY, 0, '{"decision": "deny"}', "deny", "deny"),
    (ANY, 0, '{"decision": "deny", "reason": 5, "continue": "x", "updated_input": "y"}', "deny", "deny"),
    (ANY, 0, '{"decision": "ask"}', "ask", "ask"),
    (ANY, 0, '{"decision": "ask", "updated_input": 7}', "ask", "ask"),
    (ANY, 0, "not JSON", "error", "deny"),
    (ANY, 0, '{"decision": "deny"', "error", "deny"),
    (ANY, 0, '{"decision": "deny"} trailing', "error", "deny"),
    (ANY, 0, '["deny"]', "error", "deny"),
    (ANY, 0, '"deny"', "error", "deny"),
    (ANY, 0, '{"decision": "DENY"}', "error", "deny"),
    (ANY, 0, '{"decision": {}}', "error", "deny"),
    (ANY, 0, '{"updated_input": "ls"}', "error", "deny"),
    (True, 2, "", "deny", "deny"),
    (True, 2, "{}", "deny", "deny"),
    (True, 2, '{"decision": "allow"}', "deny", "deny"),
    (True, 2, '{"decision": "ask"}', "deny", "deny"),
    (True, 2, "not JSON", "deny", "deny"),
    (False, 2, "", "error", None),
    (False, 2, '{"decision": "deny"}', "error", None),
    (ANY, 1, "", "error", "deny"),
    (ANY, 1, '{"decision": "deny"}', "error", "deny"),
    (ANY, 1, '{"decision": "allow"}', "error", "deny"),
    (ANY, 3, "{}", "error", "deny"),
    (ANY, 127, "", "error", "deny"),
    (ANY, 255, '{"decision": "deny"}', "error", "deny"),
    (ANY, "ended by signal 9", "", "error", "deny"),
    (ANY, "ended by signal 15", '{"decision": "deny"}', "error", "deny"),
    (ANY, "not started: no such file", "", "error", "deny"),
]
ROWS = [
    (blocking, failure, code, stdout, closed if failure == "closed" else opened)
    for (wanted, code, stdout, opened, closed), (blocking, failure) in product(TABLE, KINDS)
    if wanted in (ANY, blocking)
]


def hook(blocking=True, failure=None, action=None):
    """A hook as a manifest has it."""
    handler = Handler(type="command", command="guard", timeout_action=action)
    return Hook(event="before_tool_execute", name="guard", handler=handler, blocking=blocking, on_failure=failure)


def judged(one, code, stdout="", stderr="", rights=Rights(may_allow=True)):  # noqa: B008  it is frozen
    """The verdict of a run that ended like this."""
    ran = OperationResult(code=code if type(code) is int else None, failure=None if type(code) is int else code, stdout=stdout.encode(), stderr=stderr.encode())
    return verdict(one, ran, parse_hif_output(stdout), rights)


@pytest.mark.covers("HIF-17", "HIF-18", "HIF-19", "HIF-20", "HIF-21", "HIF-80", "HIF-81", "HIF-82", "HIF-84", "HIF-85", "HIF-X12")
@pytest.mark.parametrize(("blocking", "failure", "code", "stdout", "expected"), ROWS)
def test_every_row_of_the_table_holds(blocking, failure, code, stdout, expected):
    """
    Whatever the exit code and the answer, for hooks that may block and those that may not, open and closed.
    """
    found = judged(hook(blocking, failure), code, stdout)

    outcome = None if expected == "error" else expected
    failed = expected == "error" or (failure == "closed" and expected == "deny" and not stated(code, stdout))
    assert (outcome, failed) == (found.decision.outcome, found.failure is not None)


def stated(code, stdout):
    """Whether the hook itself has refused."""
    return code == 2 or (code == 0 and '"decision": "deny"' in stdout and parse_hif_output(stdout) is not None)


@pytest.mark.covers("HIF-75", "HIF-80")
@pytest.mark.parametrize(
    ("blocking", "failure", "action", "expected"),
    [
        (True, None, None, None),
        (True, "open", "warn", None),
        (True, "open", "block", "deny"),
        (True, None, "block", "deny"),
        (True, "closed", None, "deny"),
        (True, "closed", "warn", None),
        (True, "closed", "block", "deny"),
        (False, None, None, None),
        (False, None, "warn", None),
        (False, "open", "block", None),
    ],
)
def test_a_hook_that_is_late_does_what_it_says_of_that(blocking, failure, action, expected):
    """
    timeout_action counts for hooks that may block; a closed one without it refuses.
    """
    found = judged(hook(blocking, failure, action), "timeout", '{"decision": "deny"}')

    assert (expected, "timeout") == (found.decision.outcome, found.failure)


@pytest.mark.covers("HIF-19", "HIF-22", "HIF-80")
@pytest.mark.parametrize(
    ("stdout", "stderr", "reason"),
    [
        ('{"decision": "allow", "reason": "fine"}', "not today\n", "not today"),
        ('{"reason": "said in JSON"}', " \n", "said in JSON"),
        ("not JSON", "", "refused by the hook guard"),
    ],
)
def test_the_reason_of_exit_code_two_is_stderr_and_else_the_answer_s(stdout, stderr, reason):
    """
    Somebody is always told why.
    """
    assert Decision(outcome="deny", reason=reason, by="guard") == judged(hook(), 2, stdout, stderr).decision


def test_what_a_refusal_tells_besides_is_kept():
    """
    Context, a message and the end of the turn hold also when the exit code refuses; new input does not.
    """
    said = '{"context": "c", "system_message": "m", "continue": false, "updated_input": {"command": "ls"}}'

    assert Decision(outcome="deny", reason="no", context="c", system_message="m", proceed=False, by="guard") == judged(hook(), 2, said, "no").decision


def test_an_allow_counts_only_from_who_may_allow():
    """
    Anybody else's is no opinion, and the loss is named; what else was said is kept.
    """
    said = '{"decision": "allow", "reason": "fine", "context": "c"}'

    assert Decision(outcome="allow", reason="fine", context="c", by="guard") == judged(hook(), 0, said).decision
    decision, failure, (gap,) = astuple(judged(hook(), 0, said, rights=Rights()))
    assert (Decision(context="c"), None, "may_allow") == (decision, failure, gap.capability)


@pytest.mark.covers("HIF-X11")
@pytest.mark.parametrize("said", ['{"decision": "deny"}', '{"decision": "ask"}', '{"continue": false}', '{"updated_input": {}}'])
def test_a_hook_that_may_not_block_only_looks_on_where_that_is_asked_for(said):
    """
    The specification's table lets its deny count; a user who wants it to look on is warned of what that costs.
    """
    strict = Rights(may_allow=True, strict=True)
    with_context = said[:-1] + ', "context": "c"}'

    assert parse_hif_output(said) == replace(judged(hook(), 0, said, rights=strict).decision, by=None)
    assert parse_hif_output(said) == replace(judged(hook(blocking=False), 0, said).decision, by=None)
    decision, failure, (gap,) = astuple(judged(hook(blocking=False), 0, with_context, rights=strict))
    assert (Decision(context="c"), None, "blocking") == (decision, failure, gap.capability)


def test_an_agent_s_own_reading_of_codes_counts_for_hooks_that_may_block():
    """
    A hook that speaks as one agent's scripts do has refused when that agent says so; but not if it may not block.
    """
    refused = Decision(outcome="deny", reason="hook errored")
    ran = OperationResult(code=1)

    assert "deny" == verdict(hook(), ran, refused, Rights(), has_own_exit_codes=True).decision.outcome
    assert Decision() == verdict(hook(blocking=False), ran, refused, Rights(), has_own_exit_codes=True).decision
    assert Decision() == verdict(hook(), OperationResult(code=2), Decision(), Rights(), has_own_exit_codes=True).decision

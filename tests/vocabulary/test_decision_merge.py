"""One decision of many: the laws of merging, over sets of hooks."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce.model import Decision
from hookonce.vocabulary.decision_merge import merge_decisions

STRICTNESS = [None, "allow", "ask", "deny"]
SETS = 1_000


def hook(number, bits):
    """What a hook says, each text told apart by who said it; each bit is something that it says or leaves out."""
    outcome = STRICTNESS[bits % 4]
    said = [bool(bits >> place & 1) for place in range(2, 9)]
    ends = said[0] and said[1]
    return Decision(
        outcome=outcome,
        reason=f"reason {number}" if said[2] and (outcome or ends) else None,
        context=f"context {number}" if said[3] else None,
        updated_input={"command": f"command {number}"} if said[4] else None,
        updated_output=f"output {number}" if said[5] else None,
        proceed=False if ends else None,
        system_message=f"message {number}" if said[6] else None,
        suppress_output=True if said[0] else None,
        by=f"hook {number}" if outcome else None,
    )


sets = st.lists(st.integers(0, 511), max_size=6).map(lambda all_bits: [hook(*one) for one in enumerate(all_bits)])


def order_free_fields(decision):
    """What of a decision does not depend on who spoke first."""
    return decision.outcome, decision.proceed, decision.suppress_output


def parts(text):
    """Who has said something of a joined text, in the order of their turn."""
    return [int(line.rpartition(" ")[2]) for line in (text or "").splitlines()]


@settings(max_examples=SETS)
@given(sets, st.integers(0, 6), st.integers(0, 6))
def test_the_laws_of_merging_hold(said, one, other):
    """
    For every set of hooks: the strictest word wins, in whatever order, grouped in whatever way, however often said.
    """
    together = merge_decisions(said)

    assert together.outcome == max((each.outcome for each in said), key=STRICTNESS.index, default=None)
    assert (together.proceed is False) == any(each.proceed is False for each in said)
    assert bool(together.suppress_output) == any(each.suppress_output for each in said)
    is_commutative(said, [*said[one:], *said[:one]][:: 1 if other % 2 else -1])
    is_associative(said, *sorted((one, other)))
    is_idempotent(said)
    is_in_order(said)


def is_commutative(said, shuffled):
    """Another order of hooks changes the order of texts, and which rewrite is the last, and nothing else."""
    one, other = merge_decisions(said), merge_decisions(shuffled)
    assert order_free_fields(one) == order_free_fields(other)
    for name in ("reason", "context", "system_message"):
        assert sorted(parts(getattr(one, name))) == sorted(parts(getattr(other, name)))


def is_associative(said, low, high):
    """However the hooks are grouped, they say the same together."""
    assert merge_decisions(said) == merge_decisions([merge_decisions(said[:low]), merge_decisions(said[low:high]), merge_decisions(said[high:])])


def is_idempotent(said):
    """A hook that repeats itself adds nothing, and all of them together add nothing to what they said."""
    together = merge_decisions(said)
    assert together == merge_decisions([together]) == merge_decisions([together, together])
    assert together == merge_decisions([each for each in said for _ in range(2)])
    assert order_free_fields(together) == order_free_fields(merge_decisions(said + said))


def is_in_order(said):
    """Texts stand in the order of the hooks, and the last rewrite has seen those before it."""
    together = merge_decisions(said)
    for name in ("context", "system_message"):
        assert parts(getattr(together, name)) == [n for n, each in enumerate(said) if getattr(each, name)]
    if together.outcome is not None:
        winners = [n for n, each in enumerate(said) if each.outcome == together.outcome and each.reason]
        assert parts(together.reason) == winners
    for name in ("updated_input", "updated_output"):
        new = [value for each in said if (value := getattr(each, name)) is not None]
        assert getattr(together, name) == (new[-1] if new else None)


@pytest.mark.parametrize("order", list(permutations([Decision(), Decision(outcome="allow"), Decision(outcome="deny", reason="no")])))
def test_nobody_s_deny_is_hidden(order):
    """
    Neither silence nor an allow before or after it takes a refusal back.
    """
    assert ("deny", "no") == (merge_decisions(order).outcome, merge_decisions(order).reason)


def test_nothing_said_is_no_opinion():
    """
    No hooks, and hooks that say nothing, are the same.
    """
    assert Decision() == merge_decisions([]) == merge_decisions([Decision(), Decision()])


def test_a_reason_without_an_outcome_explains_nothing():
    """
    It is told only where it is the reason why the turn ends.
    """
    ends = Decision(proceed=False, reason="enough")

    assert Decision() == merge_decisions([Decision(reason="by the way")])
    assert ends == merge_decisions([Decision(reason="by the way"), ends])
    assert Decision(outcome="deny", reason="no", proceed=False) == merge_decisions([ends, Decision(outcome="deny", reason="no")])


def test_who_decided_is_named():
    """
    Only those whose word won, separated by commas.
    """
    deny = Decision(outcome="deny", by="a")

    assert "a, c" == merge_decisions([deny, Decision(outcome="ask", by="b"), replace(deny, by="c"), deny]).by

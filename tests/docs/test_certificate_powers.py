"""The marks of the matrix follow the certificate."""

import pytest
from certificate_powers import proven_events
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce import agents
from hookonce.inspect.agent_matrix import build_sheet
from hookonce.model import Point
from tests.lab.prove.sample_certificates import DENIALS, certificate

NATIVE = "PreToolUse"
WHOLE = [f"fires:{NATIVE}", f"context:{NATIVE}", "rewrite", *DENIALS]
STATES = ("held", "contradicted", "unreachable", "untried")


def row(made, event=NATIVE, agent=None):
    """The row of an event in the sheet of the agent that a certificate is about."""
    agent = agent or agents.load(made.agent)
    points = build_sheet(agent, proofs={made.agent: proven_events(made)}).points
    return next(one for one in points if one.event == event)


def without(*claims):
    return [one for one in WHOLE if one not in claims]


def test_an_event_is_proven_if_it_came_and_every_power_was_seen():
    """
    The mark names the version; nothing else of the row changes.
    """
    made = row(certificate("codex", "0.1.2", *WHOLE))

    assert ("proven", "0.1.2", [], None) == (made.proof, made.proven_on, made.contradicted, made.contradicted_on)
    assert row(certificate("codex")) == replace(made, proof="captured", proven_on=None)


@pytest.mark.parametrize("claim", WHOLE)
@pytest.mark.parametrize("state", ["contradicted", "untried", "absent"])
def test_one_claim_that_has_not_held_takes_the_mark_away(claim, state):
    """
    The event, each refusal, the rewrite and the context are all needed.
    """
    more = {} if state == "absent" else {state: [claim]}
    made = row(certificate("codex", "0.1.2", *without(claim), **more))

    assert ("captured", None) == (made.proof, made.proven_on)
    assert ([claim] if state == "contradicted" else []) == made.contradicted
    assert ("0.1.2" if state == "contradicted" else None) == made.contradicted_on


def test_refusals_that_cannot_be_reached_are_not_asked_for():
    """
    An agent without sub-agents can be proven; one of which no refusal was seen cannot.
    """
    some = row(certificate("codex", "1.0.0", *without("deny:agent"), unreachable=["deny:agent"]))
    none = row(certificate("codex", "1.0.0", *without(*DENIALS), unreachable=DENIALS))

    assert ("proven", "captured") == (some.proof, none.proof)


@pytest.mark.parametrize(
    ("event", "needed"), [("UserPromptSubmit", ["prompt", "context:UserPromptSubmit"]), ("Stop", ["stop"]), ("SessionEnd", [])]
)
def test_other_events_have_claims_of_their_own(event, needed):
    """
    A prompt is refused, a stop is kept from, and where a hook only observes it is enough that the event came.
    """
    whole = [f"fires:{event}", *needed]

    assert "proven" == row(certificate("codex", "1.0.0", *whole), event).proof
    for claim in whole:
        assert "captured" == row(certificate("codex", "1.0.0", *(set(whole) - {claim})), event).proof


def test_a_power_for_which_there_is_no_claim_is_not_proven():
    """
    That a tool's result was taken back is seen by nobody, so the event is not proven though it came.
    """
    made = row(certificate("codex", "1.0.0", *WHOLE, "fires:PostToolUse", "context:PostToolUse"), "PostToolUse")

    assert {"prevents", "context"} == set(made.powers)
    assert "captured" == made.proof


def test_a_call_that_did_not_run_is_no_rewrite():
    """
    Where an agent cannot take new input the claim holds because nothing ran: that shows no power.
    """
    assert ("prevents",) == proven_events(certificate("qwen-code", "1.0.0", *WHOLE)).capabilities_by_event[NATIVE][:1]
    assert "rewrites" not in proven_events(certificate("qwen-code", "1.0.0", *WHOLE)).capabilities_by_event[NATIVE]
    assert "rewrites" in proven_events(certificate("codex", "1.0.0", *WHOLE)).capabilities_by_event[NATIVE]


@pytest.mark.parametrize("claim", ["ask", "closed:crash", "open:late", "daemon-death", "claude-script"])
def test_what_fails_at_a_tool_call_is_told_there(claim):
    """
    A contradiction that is about no power still belongs to the event, which is not called proven beside it.
    """
    made = row(certificate("codex", "1.0.0", *WHOLE, contradicted=[claim]))

    assert ("captured", [claim]) == (made.proof, made.contradicted)


def test_what_is_about_no_event_is_told_of_the_agent():
    """
    An agent that behaves differently with hookonce keeps its marks, and the sheet says so.
    """
    made = certificate("codex", "1.0.0", *WHOLE, contradicted=["transparent"])

    assert ["transparent"] == build_sheet(agents.load("codex"), proofs={"codex": proven_events(made)}).certificate.contradicted
    assert ("proven", []) == (row(made).proof, row(made).contradicted)


@given(st.fixed_dictionaries({claim: st.sampled_from(STATES) for claim in WHOLE}))
def test_proven_and_contradicted_exclude_each_other(states):
    """
    Whatever a certificate says, the mark is never more than what it shows.
    """
    told = {state: [claim for claim, found in states.items() if found == state] for state in STATES}
    made = row(certificate("codex", "1.0.0", *told.pop("held"), **told))

    assert set(told["contradicted"]) == set(made.contradicted)
    if made.proof == "proven":
        assert not told["contradicted"]
        assert not told["untried"]
        assert all(states[claim] == "held" for claim in WHOLE if claim not in DENIALS)


def test_a_table_that_grows_loses_its_mark():
    """
    A certificate shows nothing of a power that the table has learnt of since.
    """
    agent = agents.load("codex")
    made = certificate("codex", "1.0.0", "fires:SessionEnd")
    more = {**agent.config.points, "SessionEnd": Point(capabilities=frozenset({"prevent"}))}

    assert "proven" == row(made, "SessionEnd").proof
    assert "captured" == row(made, "SessionEnd", replace(agent, config=replace(agent.config, points=more))).proof

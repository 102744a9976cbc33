"""What we answer is what the agent would understand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import config_events, point_of
from hookonce.model import Decision
from hookonce.vocabulary.decision_merge import weaken

ABLE = [name for name in agents.AGENTS if agents.load(name).reply is not None]
GIVEN = {"command": "git push", "timeout": 5}

words = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1).map(lambda text: f"because {text}")
decisions = st.builds(
    Decision,
    outcome=st.sampled_from(["allow", "ask", "deny", None]),
    reason=words,
    context=st.none() | words,
    updated_input=st.none() | st.just(GIVEN | {"command": "git status"}) | st.just({"command": "ls"}),
    proceed=st.sampled_from([None, False]),
    system_message=st.none() | words,
).map(lambda one: one if one.outcome or one.proceed is False else replace(one, reason=None))


def meant(agent, native, decision):
    """What an event can hold of a decision."""
    given_input = GIVEN
    if agents.canonical_event_of(agent, native) in {"before_prompt", "prompt_transformed"} and decision.updated_input is not None:
        given_input, decision = {"prompt": "old"}, replace(decision, updated_input={"prompt": "new"})
    return replace(weaken(decision, point_of(agent, native), given_input)[0], by=None)


@pytest.mark.part(2)
@pytest.mark.parametrize("name", ABLE)
@given(decision=decisions)
def test_an_answer_is_read_as_it_was_meant(name, decision):
    """
    For every agent, event and decision: what the point can hold arrives, and nothing else does.
    """
    agent = agents.load(name)
    for native in config_events(agent):
        said = meant(agent, native, decision)
        if said != Decision():
            assert said == agent.read_reply(native, agent.reply(native, said, said.updated_input)), native

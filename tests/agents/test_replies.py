"""What we answer is what the agent would understand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import natives, point_of
from hookonce.canon.weaken import weaken
from hookonce.model import Decision

ABLE = [name for name in agents.AGENTS if agents.load(name).reply is not None]
POINTS = [(name, native) for name in ABLE for native in natives(agents.load(name))]
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


@pytest.mark.parametrize(("name", "native"), POINTS)
@given(decision=decisions)
def test_an_answer_is_read_as_it_was_meant(name, native, decision):
    """
    For every agent, event and decision: what the point can hold arrives, and nothing else does.
    """
    agent = agents.load(name)
    given_input = GIVEN
    if agents.kind_of(agent, native) in {"before_prompt", "prompt_transformed"} and decision.updated_input is not None:
        given_input, decision = {"prompt": "old"}, replace(decision, updated_input={"prompt": "new"})
    meant, _ = weaken(decision, point_of(agent, native), given_input)
    if meant == Decision():
        return

    understood = agent.read_reply(native, agent.reply(native, meant, meant.updated_input))

    assert replace(meant, by=None) == understood

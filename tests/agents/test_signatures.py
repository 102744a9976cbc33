"""Signatures by which a payload is recognised before its agent is loaded."""

import itertools

from hookonce import agents
from hookonce.agents.signatures import SIGNATURES
from tests.dispatch.pipeline_cases import goldens


def test_every_agent_has_the_signature_of_its_table():
    """
    The file beside the tables says what they say; make docs writes it.
    """
    assert list(agents.AGENTS) == list(SIGNATURES)
    for agent in agents.load_all():
        signature = SIGNATURES[agent.name]
        assert (agent.home, agent.permission_modes) == (signature.home, signature.permission_modes)
        assert ([*agent.signature_keys], [*agent.recognise_keys]) == (signature.signature_keys, signature.recognise_keys)
        assert (agent.recognise is None) == (not agent.recognise_keys)


def test_a_payload_without_the_keys_is_not_recognised():
    """
    Whatever any agent's payload has or lacks: no agent's own function knows it where its keys are not there.
    """
    recognisers = [agent for agent in agents.load_all() if agent.recognise is not None]
    counts = dict.fromkeys((agent.name for agent in recognisers), 0)
    for _, _, payload, _ in goldens():
        lesser = [{key: value for key, value in payload.items() if key != left_out} for left_out in payload]
        for document, agent in itertools.product((payload, *lesser), recognisers):
            if agent.recognise(document) is not None:
                counts[agent.name] += 1
                assert any(keys <= document.keys() for keys in agent.recognise_keys), (agent.name, sorted(document))

    assert all(counts.values()), counts

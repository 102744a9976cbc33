"""What the format promises of conversions, from manifests to agents and back."""

import subprocess
from collections import Counter

import pytest
from hypothesis import given, note

from hookonce import agents
from hookonce.convert.conversion import convert
from hookonce.errors import HookonceError
from hookonce.manifest.degrade import capabilities_of, degrade, strategy_of
from hookonce.manifest.load import build_manifest
from hookonce.model import Handler, Hook, Manifest
from hookonce.vocabulary.decision_merge import CAPABILITIES
from hookonce.vocabulary.events import CANONICAL_EVENTS
from tests.manifest.manifests import valid

ABLE = list(agents.AGENTS)
# A generated program carries its hooks whole, with fields that it does not use.
FILED = [name for name in ABLE if agents.load(name).config.language != "code"]
COMMAND = {"type": "command", "command": "./check.sh"}


def document(**fields):
    """A manifest with one hook."""
    return {"spec": "hooks/1.0", "hooks": [{"event": "before_tool_execute", "blocking": True, "handler": COMMAND} | fields]}


@pytest.mark.covers("HIF-1", "HIF-91")
@given(given_document=valid)
def test_nothing_disappears_in_silence(given_document):
    """
    Every hook of any manifest arrives at any agent, or is named as lost; the result has been read again.
    """
    for agent in map(agents.load, ABLE):
        note(agent.name)
        made = convert(given_document, None, agent)

        lost = {gap.where for gap in made.gaps if gap.effect == "lost"}
        arrived, _ = agent.config.parse(agent, made.document)
        assert made.is_verified
        assert lost <= {f"$.hooks[{index}]" for index in range(len(given_document["hooks"]))}
        assert len(given_document["hooks"]) == len(arrived) + len(lost)


@pytest.mark.covers("HIF-91")
@given(given_document=valid)
def test_what_an_agent_lacks_is_told(given_document):
    """
    Each capability that a hook needs and an agent lacks has a gap, with the strategy that was chosen.
    """
    manifest = build_manifest(given_document)
    needed = [(f"$.hooks[{i}]", one, strategy_of(hook, one)) for i, hook in enumerate(manifest.hooks) for one in capabilities_of(hook)]
    for name in ABLE:
        note(name)
        supported = agents.load(name).config.capabilities

        result = degrade(manifest, supported)

        lacking = [one for one in needed if one[1] not in supported]
        assert Counter(lacking) == Counter((gap.where, gap.capability, gap.strategy) for gap in result.gaps)
        gone = {gap.where for gap in result.gaps if gap.effect == "lost"}
        assert {f"$.hooks[{index}]" for index, _ in result.hooks} == {f"$.hooks[{index}]" for index in range(len(manifest.hooks))} - gone


@pytest.mark.covers("HIF-57", "HIF-X13")
def test_a_guard_or_an_error():
    """
    Where a hook must block and cannot do its work, a guard is written that refuses, or nothing at all.
    """
    rewriting = document(degradation={"input_rewrite": "block"})
    windsurf = agents.load("windsurf")

    made = convert(rewriting, None, windsurf)

    (hook,) = windsurf.config.parse(windsurf, made.document)[0]
    assert 2 == subprocess.run(["sh", "-c", hook.handler.command], capture_output=True, check=False).returncode
    with pytest.raises(HookonceError, match="allows no guard in its place"):
        convert(rewriting, None, windsurf, on_block="error")


@pytest.mark.covers("HIF-57", "HIF-59")
def test_the_strictest_strategy_decides():
    """
    A guard rather than an absence, an absence rather than half a hook; every gap tells what became of the whole.
    """
    hook = Hook(event="before_tool_execute", handler=Handler(type="http", url="https://x.example/", background=True, cwd="x"))

    def fate(**strategies):
        one = Hook(event=hook.event, handler=hook.handler, degradation=strategies)
        result = degrade(Manifest(spec="hooks/1.0", hooks=[one]), frozenset())
        return [kept.on_failure for _, kept in result.hooks], {gap.effect for gap in result.gaps}

    assert ([None], {"observes"}) == fate()
    assert ([], {"lost"}) == fate(http_handler="exclude", async_execution="warn")
    assert (["closed"], {"prevents"}) == fate(http_handler="exclude", async_execution="block")


@pytest.mark.covers("HIF-76")
@pytest.mark.parametrize("name", ABLE)
def test_a_status_message_goes_without_a_word(name):
    """
    What is shown while a hook runs is written where there is a place for it, and dropped elsewhere without a gap.
    """
    agent = agents.load(name)

    spoken = convert(document(handler=COMMAND | {"status_message": "checking"}), None, agent)

    assert convert(document(), None, agent).gaps == spoken.gaps
    (hook,) = agent.config.parse(agent, spoken.document)[0]
    can = "status_message" in agent.config.handlers["command"]
    assert hook.handler.status_message == "checking" if can else name not in FILED or hook.handler.status_message is None


@pytest.mark.covers("HIF-86")
@pytest.mark.parametrize("name", FILED)
@pytest.mark.parametrize("event", ["session_start", "before_prompt", "agent_stop"])
def test_a_matcher_means_nothing_where_there_is_no_tool(name, event):
    """
    The same is written with and without one, and a gap says that it has no effect.
    """
    agent = agents.load(name)

    bare = convert(document(event=event), None, agent)
    matched = convert(document(event=event, matcher="shell"), None, agent)

    assert bare.document == matched.document
    assert bare.gaps == [gap for gap in matched.gaps if gap.capability != "matcher"]
    lost = any(gap.effect == "lost" for gap in bare.gaps)
    assert lost or ["matcher"] == [gap.capability for gap in matched.gaps if gap not in bare.gaps]


@pytest.mark.covers("HIF-X7")
def test_gemini_can_rewrite_input():
    """
    A hook that rewrites is no guard there.
    """
    made = convert(document(degradation={"input_rewrite": "block"}), None, agents.load("gemini-cli"))

    assert [] == made.gaps
    assert "./check.sh" == made.document["hooks"]["BeforeTool"][0]["hooks"][0]["command"]


@pytest.mark.covers("HIF-64")
@pytest.mark.parametrize("event", [row.name for row in CANONICAL_EVENTS if row.group == "exclusive"])
def test_what_one_agent_alone_has_can_be_hooked_there(event):
    """
    Each event that the format gives to a single agent has a place in some agent's file, and comes back from there.
    """
    homes = []
    for agent in map(agents.load, ABLE):
        made = convert(document(event=event, blocking=False), None, agent)
        back = convert(made.document, agent, None).document["hooks"]
        homes += [agent.name for hook in back if hook["event"] in {event, "file_changed"}]

    assert homes


@pytest.mark.covers("HIF-64", "HIF-103")
@pytest.mark.parametrize("capability", CAPABILITIES)
def test_every_capability_is_served_where_it_is_and_degraded_where_it_is_not(capability):
    """
    On each agent that has it nothing is said of it, and on each that has not there is a gap with its strategy.
    """
    needs = {
        "structured_output": {"blocking": True},
        "input_rewrite": {"degradation": {"input_rewrite": "block"}},
        "llm_evaluated": {"handler": {"type": "prompt", "prompt": "ok?"}},
        "http_handler": {"handler": {"type": "http", "url": "https://x.example/"}},
        "async_execution": {"blocking": False, "handler": COMMAND | {"async": True}},
        "platform_commands": {"handler": COMMAND | {"platform": {"windows": "x.ps1"}}},
        "custom_env": {"handler": COMMAND | {"env": {"A": "1"}}},
        "configurable_cwd": {"handler": COMMAND | {"cwd": "tools"}},
    }
    told, having = {}, {name for name in ABLE if capability in agents.load(name).config.capabilities}
    for name in ABLE:
        made = convert(document(**needs[capability]), None, agents.load(name))
        told[name] = [gap.strategy for gap in made.gaps if gap.capability == capability]

    assert having
    assert len(having) < len(ABLE)
    assert {name: [] if name in having else [CAPABILITIES[capability]] for name in ABLE} == told

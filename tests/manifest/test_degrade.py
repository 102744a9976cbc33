"""What becomes of hooks on agents that can do less."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce.manifest.degrade import capabilities_of, degrade, strategy_of
from hookonce.model import Handler, Hook, Manifest
from hookonce.vocabulary.decision_merge import CAPABILITIES

COMMAND = Handler(type="command", command="./check.sh")
EVERYTHING = frozenset(CAPABILITIES)


def hook(**fields):
    """A plain hook, changed in some of its fields."""
    handler = Handler(type="command", command="./check.sh", **fields.pop("handler", {}))
    return Hook(**({"event": "before_tool_execute", "handler": handler} | fields))


def degrade_hook(one, *supported):
    """A single hook on an agent with these capabilities."""
    return degrade(Manifest(spec="hooks/1.0", hooks=[one]), frozenset(supported))


@pytest.mark.covers("HIF-72", "HIF-95", "HIF-103")
@pytest.mark.parametrize(
    ("one", "needs"),
    [
        (hook(), set()),
        (hook(capabilities=["http_handler", "input_rewrite", "async_execution"]), set()),
        (hook(blocking=True), {"structured_output"}),
        (hook(degradation={"input_rewrite": "block"}), {"structured_output", "input_rewrite"}),
        (hook(degradation={"input_rewrite": "warn"}), {"structured_output", "input_rewrite"}),
        (Hook(event="agent_stop", handler=Handler(type="prompt", prompt="ok?")), {"llm_evaluated"}),
        (Hook(event="agent_stop", handler=Handler(type="http", url="https://x")), {"http_handler"}),
        (hook(handler={"background": True}), {"async_execution"}),
        (hook(handler={"platform": {"windows": "x.ps1"}}), {"platform_commands"}),
        (hook(handler={"platform": {"beos": "x"}}), set()),
        (hook(handler={"env": {"A": "1"}, "cwd": "tools"}), {"custom_env", "configurable_cwd"}),
    ],
)
def test_capabilities_are_inferred(one, needs):
    """
    What a hook needs follows from what it says, never from what it lists.
    """
    assert needs == capabilities_of(one)


@pytest.mark.covers("HIF-56", "HIF-60")
def test_the_author_decides_before_the_registry():
    """
    A strategy of the author's beats the default of the capability.
    """
    defaults = dict.fromkeys(["structured_output", "http_handler", "async_execution", "platform_commands", "custom_env", "configurable_cwd"], "warn")
    defaults |= {"input_rewrite": "block", "llm_evaluated": "exclude"}
    assert defaults == {name: strategy_of(hook(), name) for name in CAPABILITIES}
    for name, default in defaults.items():
        for strategy in ("block", "warn", "exclude"):
            assert strategy == strategy_of(hook(degradation={name: strategy}), name)
            other = next(each for each in CAPABILITIES if each != name)
            assert default == strategy_of(hook(degradation={other: strategy}), name)


@pytest.mark.covers("HIF-57", "HIF-102")
@pytest.mark.parametrize("name", ["guard", "it's $(touch x); `id` \"q\"\n; exit 0"])
def test_a_hook_that_cannot_rewrite_becomes_a_guard(name, tmp_path):
    """
    The guard really refuses with a reason, whatever the hook is called.
    """
    rewriting = hook(name=name, degradation={"input_rewrite": "block"})
    result = degrade_hook(rewriting, "structured_output")

    ((_, kept),) = result.hooks
    done = subprocess.run(["sh", "-c", kept.handler.command], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (2, "", []) == (done.returncode, done.stdout, list(tmp_path.iterdir()))
    assert done.stderr.startswith("blocked: this agent lacks input_rewrite")
    assert kept.blocking


@pytest.mark.covers("HIF-58")
def test_less_is_better_than_nothing():
    """
    A hook that loses a convenience runs without it, and the loss is a gap.
    """
    result = degrade_hook(hook(handler={"env": {"A": "1"}, "cwd": "tools", "timeout": 5}))

    assert [(0, hook(handler={"timeout": 5}))] == result.hooks
    assert ["configurable_cwd", "custom_env"] == [gap.capability for gap in result.gaps]


@pytest.mark.covers("HIF-59", "HIF-71")
def test_what_an_agent_cannot_judge_is_left_out():
    """
    A hook for a language model is excluded where there is none, by event and prompt if it has no name.
    """
    result = degrade_hook(Hook(event="agent_stop", handler=Handler(type="prompt", prompt="ok?")))

    assert ([], ["lost"]) == (result.hooks, [gap.effect for gap in result.gaps])
    assert result.gaps[0].note.startswith("agent_stop ok? needs")


def test_a_module_is_left_out_or_guarded(tmp_path):
    """
    No agent can ask one; where its failure would refuse, so does its absence.
    """
    module = Hook(event="before_tool_execute", name="m", handler=Handler(type="module", file="m.json"), blocking=True)
    absent = degrade_hook(module, *EVERYTHING)
    guarded = degrade_hook(replace(module, on_failure="closed"), *EVERYTHING)

    assert ([], ["lost"], ["prevents"]) == (absent.hooks, [gap.effect for gap in absent.gaps], [gap.effect for gap in guarded.gaps])
    ((_, guard),) = guarded.hooks
    assert 2 == subprocess.run(["sh", "-c", guard.handler.command], capture_output=True, cwd=tmp_path, check=False).returncode


hooks = st.builds(
    hook,
    blocking=st.booleans(),
    degradation=st.dictionaries(st.sampled_from(sorted(CAPABILITIES)), st.sampled_from(["block", "warn", "exclude"])),
    handler=st.fixed_dictionaries(
        {}, optional={"background": st.booleans(), "env": st.just({"A": "1"}), "cwd": st.just("x"), "platform": st.just({"linux": "y"})}
    ),
)


@given(st.lists(hooks, min_size=1, max_size=5), st.frozensets(st.sampled_from(sorted(CAPABILITIES))))
def test_nothing_goes_without_a_gap(given_hooks, supported):
    """
    A hook that is changed or gone has a gap; order is kept; degrading twice changes nothing more.
    """
    manifest = Manifest(spec="hooks/1.0", hooks=given_hooks)

    result = degrade(manifest, supported)

    places = [index for index, _ in result.hooks]
    told = {gap.where for gap in result.gaps}
    assert sorted(places) == places
    for index, before in enumerate(given_hooks):
        after = dict(result.hooks).get(index)
        assert after == before or f"$.hooks[{index}]" in told
    assert degrade(manifest, EVERYTHING).gaps == []

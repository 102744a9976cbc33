"""The document that keeps what an agent's own file cannot hold."""

import json

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce import agents
from hookonce.base.jsontext import dump
from hookonce.manifest.degrade import degrade
from hookonce.manifest.http_script import to_http_handler
from hookonce.manifest.load import build_manifest
from hookonce.manifest.sidecar import build_sidecar, fields_without_place, restore_manifest
from hookonce.model import Handler, Hook, Manifest
from tests.agents._config.node import plain_wording
from tests.laws.strategies import json_values
from tests.manifest.manifests import valid

ABLE = list(agents.AGENTS)
CLAUDE = agents.load("claude-code")


def write_sidecar(agent, manifest):
    """What the agent reads from the file that was made for it, and the document beside that file, as files keep it."""
    fitting = degrade(manifest, agent.config.capabilities)
    document, _ = agent.config.render(agent, fitting.hooks, plain_wording)
    read, _ = agent.config.parse(agent, json.loads(dump(document)))
    return Manifest(spec="hooks/0.1", hooks=read), json.loads(dump(build_sidecar(manifest, fitting.hooks, read)))


def manifest(*hooks):
    """A manifest of some hooks."""
    return Manifest(spec="hooks/1.0", hooks=[*hooks], extra={"x_top": 1})


def hook(command="./a.sh", **fields):
    """A hook that an agent can hold, changed in some of its fields."""
    return Hook(**{"event": "before_tool_execute", "blocking": True, "handler": Handler(type="command", command=command, timeout=5)} | fields)


@pytest.mark.covers("HIF-1", "HIF-9", "HIF-X18")
@given(document=valid)
def test_file_and_side_document_are_the_manifest(document):
    """
    What any agent reads, joined with what stands beside its file, is the manifest to the last field.
    """
    meant = build_manifest(document)
    for name in ABLE:
        note(name)
        read, beside = write_sidecar(agents.load(name), meant)

        assert meant == restore_manifest(read, beside)


@given(document=valid)
def test_it_does_not_matter_whether_http_is_a_command_yet(document):
    """
    A reader that has already made HTTP handlers of commands gets the same, from any agent's file.
    """
    meant = build_manifest(document)
    for name in ABLE:
        note(name)
        read, beside = write_sidecar(agents.load(name), meant)

        hooks = [replace(one, handler=to_http_handler(one.handler)) for one in read.hooks]

        assert meant == restore_manifest(replace(read, hooks=hooks), beside)


def test_only_what_the_file_cannot_say_is_beside_it():
    """
    A hook that the agent holds whole has no fields there; a name has, and a switch of the agent's own has not.
    """
    whole, named, closed = hook("./a.sh"), hook("./b.sh", name="guard", may_allow=True), hook("./c.sh", on_failure="closed")
    _, beside = write_sidecar(CLAUDE, manifest(whole, named, closed))

    assert [{}, {"hook": {"name": {"meant": "guard"}, "may_allow": {"meant": True}}}, {}] == [one["fields"] for one in beside["hooks"]]


def test_a_field_is_what_was_read_and_what_was_meant():
    """
    Differences are told by name, in the hook, its handler and the data of agents.
    """
    meant = hook(provider_data={"kiro": {"a": 1}}, handler=Handler(type="command", command="x", timeout_action="block"), blocking=False)
    read = hook(handler=Handler(type="command", command="x"))

    assert {
        "hook": {"blocking": {"read": True}},
        "handler": {"timeout_action": {"meant": "block"}},
        "provider_data": {"kiro": {"meant": {"a": 1}}},
    } == fields_without_place(meant, read)


def test_what_somebody_changed_in_the_file_stands():
    """
    A timeout that was edited stays, and the name comes back all the same; a hook may have gone, and another come.
    """
    read, beside = write_sidecar(CLAUDE, manifest(hook(name="guard"), hook("./gone.sh", name="gone")))
    edited = replace(read.hooks[0], handler=replace(read.hooks[0].handler, timeout=60))
    added = hook("./new.sh")

    found = restore_manifest(replace(read, hooks=[added, edited]), beside).hooks

    assert [("guard", 60), (None, 5)] == [(one.name, one.handler.timeout) for one in found]
    assert added == found[1]


def test_a_field_that_was_edited_since_is_not_overwritten():
    """
    A matcher that the agent could not hold is put back only while the file says what it said.
    """
    codex = agents.load("codex")
    meant = manifest(hook(matcher=[], name="n"))
    read, beside = write_sidecar(codex, meant)
    edited = [replace(read.hooks[0], matcher="web_fetch")]

    assert [] == restore_manifest(read, beside).hooks[0].matcher
    (found,) = restore_manifest(replace(read, hooks=edited), beside).hooks
    assert ("web_fetch", "n") == (found.matcher, found.name)


def test_what_the_agent_cannot_hold_at_all_comes_back():
    """
    A hook that was left out, and one of which only a guard was written, come back in their places.
    """
    lost = Hook(event="agent_stop", handler=Handler(type="prompt", prompt="ok?"), name="judge")
    rewriting = hook(degradation={"input_rewrite": "block"}, provider_data={"zed": {"a": 1}})
    meant = manifest(lost, hook(), rewriting)
    read, beside = write_sidecar(agents.load("windsurf"), meant)

    assert len(read.hooks) == 2
    assert meant == restore_manifest(read, beside)


def test_a_hook_that_became_two_is_one_again():
    """
    What the file says twice, and the manifest once, comes back once.
    """
    meant = manifest(hook(name="n"))
    read = [hook(), hook("./half.sh")]

    assert meant == restore_manifest(Manifest(spec="hooks/0.1", hooks=read), build_sidecar(meant, [(0, hook())], read))


@given(json_values | st.fixed_dictionaries({"hooks": st.lists(json_values)}))
def test_any_document_is_borne(beside):
    """
    A document that is not ours changes no hook and raises nothing.
    """
    read = manifest(hook(), hook("./b.sh"))

    assert read.hooks == restore_manifest(read, beside).hooks


@given(st.data())
def test_a_broken_document_makes_no_broken_hook(data):
    """
    Whatever stands in a document of ours, no hook is lost but second halves, and each that comes back is one.
    """
    read, beside = write_sidecar(CLAUDE, manifest(hook(name="a"), hook("./b.sh", name="b")))
    for entry in beside["hooks"]:
        for part in ("hook", "handler", "provider_data"):
            names = st.sampled_from(["event", "type", "command", "platform", "matcher", "name", "claude-code"])
            entry["fields"][part] = data.draw(st.dictionaries(names, st.fixed_dictionaries({}, optional={"read": json_values, "meant": json_values}), max_size=3))
        entry["index"] = data.draw(st.integers() | json_values)
        entry["lost"] = data.draw(json_values)

    found = restore_manifest(read, beside)

    assert len(found.hooks) >= sum(entry["index"] is not None for entry in beside["hooks"])
    assert all(type(one.event) is str and type(one.handler.command) is str for one in found.hooks)

"""Which calls are refused when we fail: those that a hook has to judge, as far as anybody knows of it."""

from pathlib import Path

import pytest

from hookonce import agents
from hookonce.dispatch import fail_mode
from hookonce.dispatch.select import CandidateHook
from hookonce.errors import PayloadError
from hookonce.manifest.discover import ManifestSource
from hookonce.model import Handler, Hook

UNREAD = PayloadError("half of it is missing")


def candidate(event=None, obstacle=None, **more):
    """A hook of the user's, or a file of which nothing can be used."""
    hook = None if event is None else Hook(event=event, handler=Handler(type="command", command="x"), **{"blocking": True} | more)
    return CandidateHook(source=ManifestSource(scope="user", path=Path("/u/hooks.json")), hook=hook, obstacle=obstacle)


def refused(event, *candidates, problem=None):
    """Whether a call of that event is refused."""
    return fail_mode.find_refusal(event, None, candidates, problem) is not None


@pytest.mark.parametrize("obstacle", [None, "manifest", "guard"])
def test_what_a_closed_hook_has_to_judge_is_refused(obstacle):
    """
    Its own event and no other; an open hook refuses nothing, and neither does one that policy forbids.
    """
    closed = candidate("before_tool_execute", obstacle, on_failure="closed")

    assert [True, False] == [refused(event, closed) for event in ("before_tool_execute", "before_prompt")]
    assert not refused("before_tool_execute", candidate("before_tool_execute", obstacle))
    assert not refused("before_tool_execute", candidate("before_tool_execute", "policy", on_failure="closed"))


def test_a_closed_hook_for_finished_tools_judges_failed_ones_too():
    """
    But one for failed tools does not judge the others.
    """
    finished, failed = (candidate(event, on_failure="closed") for event in ("after_tool_execute", "tool_use_failure"))

    assert [True, True] == [refused("tool_use_failure", one) for one in (finished, failed)]
    assert [True, False] == [refused("after_tool_execute", one) for one in (finished, failed)]


def test_what_cannot_be_read_is_refused_wherever_a_hook_may_block():
    """
    Also an open one: whoever wrote it must not choose that nobody judges it. The reason says what is wrong.
    """
    blocking, watching = candidate("before_tool_execute"), candidate("before_tool_execute", blocking=False)

    assert "half of it is missing" in fail_mode.find_refusal("before_tool_execute", None, [blocking], UNREAD)
    assert [False, False] == [refused(event, one, problem=UNREAD) for event, one in (("before_prompt", blocking), ("before_tool_execute", watching))]


def test_a_manifest_that_cannot_be_used_refuses_what_it_refused_before(monkeypatch):
    """
    What was closed when the refusals were last prepared is so still.
    """
    monkeypatch.setattr(fail_mode, "_saved_event_types", lambda: {"before_prompt"})

    assert [True, False] == [refused(event, candidate(obstacle="manifest")) for event in ("before_prompt", "before_tool_execute")]
    assert not refused("before_prompt", candidate(obstacle="trust"))


def test_a_pause_holds_where_something_fails(monkeypatch):
    """
    Then nobody is asked, and nobody is missed.
    """
    monkeypatch.setattr(fail_mode, "find_candidates", lambda *_, **__: [candidate("before_prompt", on_failure="closed")])
    for is_paused in (False, True):
        monkeypatch.setattr(fail_mode.pause, "is_paused", lambda paused=is_paused: paused)

        assert is_paused == (fail_mode.find_refusal("before_prompt", None) is None)


def test_no_refusal_of_a_stop_is_prepared():
    """
    Without us nobody would count how often an agent was kept from stopping.
    """
    lines = {tuple(line.split("|")[:2]) for line in fail_mode._iter_lines({"agent_stop", "subagent_stop", "before_tool_execute"})}

    assert ("claude-code", "PreToolUse") in lines
    kinds = {agents.canonical_event_of(agents.load(name), native) for name, native in lines if name in agents.AGENTS}
    assert {"before_tool_execute"} == kinds

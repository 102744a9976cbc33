"""Transparent is an agent that does its errand, and does the same with hookonce; two that do nothing are not."""

import re

import pytest
from msgspec.structs import replace

from hookonce.lab.experiments import transparent
from hookonce.lab.fakes.conversation import ChatMessage, Conversation
from tests.lab.experiments.test_experiments import dies, nothing, quits
from tests.lab.simulated_agent import TOOLS, Standing


def other_request(run):
    said = [*run.requests[-1].conversation.messages, ChatMessage("user", "by the way")]
    return replace(run, requests=[*run.requests[:-1], replace(run.requests[-1], conversation=Conversation(messages=said, tools=TOOLS))])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda run: replace(run, code=1), "the exit code is 1, and 0 without it"),
        (lambda run: replace(run, files=run.files | {"more.txt": ""}), "other files: more.txt"),
        (lambda run: replace(run, files=run.files | {"shell.txt": ""}), "other files: shell.txt"),
        (lambda run: replace(run, requests=run.requests[:-1]), "requests only without hookonce, 0 only with it"),
        (lambda run: replace(run, requests=[*run.requests, run.requests[-1]]), "0 requests only without hookonce, 1"),
        (other_request, "'user: by the way' instead of"),
    ],
)
def test_whatever_differs_is_told(change, told):
    claim = transparent.try_transparency(Standing(spoil=change))
    assert "contradicted" == claim.state
    assert told in claim.evidence


@pytest.mark.parametrize(
    "behaviour", [nothing, dies, quits, lambda run: replace(run, code=None), lambda run: replace(run, mcp_calls=[])]
)
def test_two_runs_that_are_alike_in_doing_nothing_show_nothing(behaviour):
    stage = Standing()
    plays = stage.play
    stage.play = lambda *words, **more: behaviour(plays(*words, **more))

    claim = transparent.try_transparency(stage)

    assert "contradicted" == claim.state
    assert "even without hookonce" in claim.evidence


def test_ids_folders_and_times_may_differ():
    def spoil(run):
        said = [ChatMessage(one.role, f"{one.text} 0badc0ffee 12.5") for one in run.requests[0].conversation.messages]
        return replace(run, requests=[replace(run.requests[0], conversation=Conversation(messages=said, tools=TOOLS)), *run.requests[1:]])

    stage = Standing(spoil=spoil)
    plays = stage.play

    def both(*words, **more):
        run = plays(*words, **more)
        return replace_numbers(spoil(run)) if more.get("bare") else run

    stage.play = both
    assert "held" == transparent.try_transparency(stage).state


def replace_numbers(run):
    """The same run at another time, with other ids."""
    first = run.requests[0]
    said = [ChatMessage(one.role, re.sub("0badc0ffee 12.5", "fade00fade 3", one.text)) for one in first.conversation.messages]
    return replace(run, requests=[replace(first, conversation=Conversation(messages=said, tools=TOOLS)), *run.requests[1:]])

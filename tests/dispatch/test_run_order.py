"""Hooks that run at once, and hooks that end the rest."""

import json
import os
import time

import pytest

from hookonce.client import oneshot_call
from hookonce.dispatch.dispatcher import answer_call
from hookonce.store.spool.files import load_records
from tests.handlers.processes import eventually, running, word
from tests.manifest.projects import command, house, manifest, put

# Each waits until the other has begun: one after the other, both would run out of time.
MEET = "touch $HOME/{own}; i=0; until [ -e $HOME/{other} ]; do sleep 0.02; i=$((i + 1)); [ $i -lt 1500 ] || exit 3; done; echo '{answer}'"
PAYLOAD = {"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
DENY = '{"decision": "deny", "reason": "no"}'


@pytest.fixture
def home(monkeypatch, tmp_path):
    return house(monkeypatch, tmp_path)


def meet(own, other, answer="{}"):
    return MEET.format(own=own, other=other, answer=answer)


def ask(home, *hooks):
    """The answer to a call under these hooks of the user, and its record."""
    put(home / ".config/hookonce/hooks.json", manifest(*hooks))
    reply = answer_call(["claude-code", "PreToolUse"], json.dumps(PAYLOAD | {"cwd": str(home)}).encode(), dict(os.environ))
    return reply.stdout, next(reversed([*load_records()]), None)


def notes(record, capability):
    return [gap.note for gap in record.gaps if gap.capability == capability]


@pytest.mark.parametrize("more", [{"order": "any", "blocking": True}, {"dialect": "openhook"}], ids=["any", "observers"])
def test_hooks_whose_order_does_not_matter_run_at_once(home, more):
    """
    Those that say so, and those that only observe; their runs stand in the order of the manifest.
    """
    _, record = ask(home, command(f"{meet('a', 'b')}; sleep 0.3", name="slow", **more), command(meet("b", "a"), name="quick", **more))

    assert [("slow", None, 0), ("quick", None, 0)] == [(run.hook, run.failure, run.exit) for run in record.runs]


def test_order_stays_where_nobody_says_otherwise(home):
    """
    The second sees what the first has left, also between two groups.
    """
    first = command("echo x >$HOME/first", name="first")
    any_order = [command('[ -e "$HOME/first" ] && [ ! -e "$HOME/last" ] || exit 5', name=name, order="any") for name in "ab"]
    last = command('echo x >"$HOME/last"', name="last")
    _, record = ask(home, first, *any_order, last)

    assert [("first", 0), ("a", 0), ("b", 0), ("last", 0)] == [(run.hook, run.exit) for run in record.runs]


def test_a_hook_in_any_order_can_neither_allow_nor_change_the_input(home):
    """
    Its allow does not count; its new input must not be lost in silence, and is a refusal.
    """
    says = {name: f"echo '{json.dumps(answer)}'" for name, answer in {"yes": {"decision": "allow"}, "new": {"updated_input": {"command": "true"}}}.items()}
    allowed, _ = ask(home, command(says["yes"], name="yes", order="any", may_allow=True, blocking=True))
    told, record = ask(home, command(says["new"], name="new", order="any", blocking=True), command("true", order="any"))

    assert "allow" not in allowed
    assert "new has order: any, so it cannot change the input that other hooks see" in json.loads(told)["hookSpecificOutput"]["permissionDecisionReason"]
    assert [("deny", "new")] == [(record.decision.outcome, record.decision.by)]


@pytest.mark.parametrize("order", ["manifest", "any"])
def test_a_refusal_ends_the_rest_where_its_hook_says_so(home, order):
    """
    Later judges are not asked, those beside it are ended, observers are told; the record names whom it concerns.
    """
    mark = word()
    rest = f"touch $HOME/rest; sleep {mark}"
    wall = f"{'until [ -e $HOME/rest ]; do sleep 0.02; done; ' if order == 'any' else ''}echo '{DENY}'"
    hooks = [command(wall, name="wall", blocking=True, on_deny="stop", order=order), command(rest, name="rest", order=order), command("touch $HOME/told", dialect="openhook")]
    told, record = ask(home, *hooks)

    assert '"deny"' in told
    assert ["rest was not asked to the end, because wall had refused"] == notes(record, "on_deny")
    assert (order == "any", True) == ((home / "rest").exists(), eventually((home / "told").exists))
    assert ["wall", "before_tool_execute"] == [run.hook for run in record.runs]
    assert eventually(lambda: [] == running(mark), 20)


def test_without_that_word_everybody_is_asked(home):
    _, record = ask(home, command(f"echo '{DENY}'", name="wall", blocking=True), command("true", name="rest"))

    assert (["wall", "rest"], []) == ([run.hook for run in record.runs], notes(record, "on_deny"))


def test_the_deadline_of_the_call_ends_all_of_them(home):
    """
    Whoever answers for a client has a deadline of their own; it reaches through a group, and nothing runs on.
    """
    mark, begin = word(), time.monotonic()
    with oneshot_call.DeadlineGuard(begin + 0.5, None):
        told, _ = ask(home, *(command(f"sleep {mark}", name=name, order="any", blocking=True, on_failure="closed") for name in "ab"))
    assert (True, True) == ('"deny"' in told, time.monotonic() - begin < 20)
    assert eventually(lambda: [] == running(mark), 20)

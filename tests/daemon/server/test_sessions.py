"""What holds across the calls of a session also holds when a daemon answers them, and when it answers only some."""

import json

import pytest

from hookonce.dispatch import pause
from hookonce.dispatch.fail_mode import BROKEN_MANIFEST_REASON
from hookonce.store.spool.overlay import latest_records
from hookonce.trust.pin_store import revoke_pins
from tests.daemon.installed_home import SILENT, TOOL, command, payload, refused
from tests.handlers.processes import eventually, running, word

NO = command("echo no >&2; exit 2")
COUNTS = command('echo x >>"$HOME/ran"; sleep 0.2; echo no >&2; exit 2')
STOP = ["claude-code", "Stop", "--via", "claude-code/user"]
PROMPT = ["claude-code", "UserPromptSubmit", "--via", "claude-code/user"]
OTHER_DOOR = [*TOOL[:3], "cursor/user"]


def stopping(session="s", **more):
    """The agent wants to stop."""
    known = {"session_id": session, "transcript_path": "/t.jsonl", "cwd": "/", "hook_event_name": "Stop"}
    return json.dumps({**known, "stop_hook_active": False, **more}).encode()


def each(home, *ways):
    """The environments of callers, in a row: who asks a daemon and who does not."""
    return [home.cold_env if way == "cold" else home.env for way in ways]


# Two doors


@pytest.mark.parametrize("ways", [("warm", "warm"), ("warm", "cold"), ("cold", "warm")])
def test_a_call_through_two_doors_runs_its_hooks_once(warm, ways):
    """
    Both hear the same, and there is one record of it; whoever answers which door.
    """
    warm.hooks(COUNTS)
    given = payload(tool_use_id="toolu_1")
    endings = [
        warm.call(*words, given=given, env=env)
        for words, env in zip((TOOL, OTHER_DOOR), each(warm, *ways), strict=True)
    ]

    assert endings[0] == endings[1]
    assert refused(endings[0], "no")
    assert ["x"] == warm.lines("ran")
    assert eventually(lambda: 1 == len(vias(warm)), 20)  # a record is written after its answer
    assert ways != ("warm", "warm") or eventually(lambda: [["claude-code/user", "cursor/user"]] == vias(warm), 20)


def test_two_doors_at_once_run_hooks_once(warm):
    """
    Who comes second waits for the first.
    """
    warm.hooks(COUNTS)
    given = payload(tool_use_id="toolu_1")
    endings = warm.crowd([(TOOL, given), (OTHER_DOOR, given)])

    assert all(refused(ending, "no") for ending in endings)
    assert ["x"] == warm.lines("ran")


def test_the_same_door_twice_is_two_calls(warm):
    """
    An agent that asks again wants to know again.
    """
    warm.hooks(COUNTS)
    given = payload(tool_use_id="toolu_1")
    endings = [warm.call(*TOOL, given=given) for _ in range(2)]

    assert all(refused(ending, "no") for ending in endings)
    assert ["x", "x"] == warm.lines("ran")


def vias(home):
    """Through which doors the kept calls came."""
    with home.inside():
        return [sorted(one.event.origin.via) for one in latest_records() if one.event.origin]


# Stops


@pytest.mark.parametrize("ways", [["warm"] * 6, ["warm", "cold"] * 3])
def test_an_agent_is_kept_from_stopping_five_times_and_then_let_go(warm, ways):
    """
    The daemon and those without it count together; a person who speaks begins the count anew.
    """
    warm.hooks(command("echo go on >&2; exit 2", event="agent_stop"))
    endings = [warm.call(*STOP, given=stopping(), env=env) for env in each(warm, *ways)]

    assert all(b"go on" in ending[1] for ending in endings[:5])
    assert SILENT == endings[5]
    prompt = {"session_id": "s", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "do something else"}
    warm.call(*PROMPT, given=json.dumps(prompt).encode())
    assert b"go on" in warm.call(*STOP, given=stopping())[1]


# Depth


def test_a_hook_that_calls_us_is_known_by_its_depth(warm):
    """
    Three deep no hook runs any more, whoever answers.
    """
    deeper = f'echo $HOOKONCE_DEPTH >>"$HOME/ran"; cat | "{warm.client}" {" ".join(TOOL[:2])} >/dev/null'
    warm.hooks(command(deeper))
    warm.tool()
    assert ["1", "2", "3"] == warm.lines("ran")[:3]
    assert 3 == len(warm.lines("ran"))


def test_a_depth_that_somebody_only_claims_counts_for_nothing(warm):
    """
    A repository can set variables.
    """
    warm.hooks(NO)
    for env in each(warm, "warm", "cold"):
        assert refused(warm.tool(env={**env, "HOOKONCE_DEPTH": "9", "HOOKONCE_PARENT": "abc"}), "no")


# What people change meanwhile


def test_a_manifest_that_is_edited_counts_for_the_next_call(warm):
    """
    Again and again, also within a moment.
    """
    for number in range(20):
        warm.hooks(command(f"echo {number} >&2; exit 2"))
        assert refused(warm.tool(), str(number))
    warm.hooks()
    assert SILENT == warm.tool()
    warm.hooks(NO).unlink()
    assert SILENT == warm.tool()


@pytest.mark.parametrize("mode", ["open", "closed"])
def test_while_a_manifest_is_broken_its_last_good_version_counts(warm, mode):
    """
    The same as without a daemon; where hooks have to be asked, that is not enough.
    """
    file = warm.hooks(NO | {"on_failure": mode})
    assert refused(warm.tool(), "no")
    good = file.read_bytes()
    file.write_bytes(good[:-5])
    endings = [warm.tool(env=env) for env in each(warm, "warm", "cold")]

    assert endings[0] == endings[1]
    assert refused(endings[0], f"{BROKEN_MANIFEST_REASON}\nno" if mode == "closed" else "no")
    file.write_bytes(good)
    assert refused(warm.tool(), "no")


def test_a_pause_begins_and_ends_with_the_next_call(warm):
    """
    The kill switch needs nobody's leave.
    """
    warm.hooks(NO)
    assert refused(warm.tool(), "no")
    with warm.inside():
        pause.pause(60)
    assert SILENT == warm.tool()
    with warm.inside():
        pause.resume()
    assert refused(warm.tool(), "no")


def test_hooks_of_a_project_run_while_they_are_trusted_as_they_are(warm):
    """
    Not before somebody has agreed, not after an edit, and not after the trust was taken back.
    """

    def asked():
        return warm.call(*TOOL, given=payload(cwd=str(warm.where)))

    file = warm.hooks(NO, scope="project")
    assert SILENT == asked()
    warm.trust()
    assert refused(asked(), "no")
    good = file.read_bytes()
    warm.hooks(command("echo edited >&2; exit 2"), scope="project")
    assert SILENT == asked()
    file.write_bytes(good)
    assert refused(asked(), "no")
    with warm.inside():
        revoke_pins(warm.where)
    assert SILENT == asked()
    warm.trust()
    assert refused(asked(), "no")


def test_a_script_of_a_project_that_was_changed_does_not_run(warm):
    """
    What runs is what somebody has seen.
    """
    script = warm.where / "check.sh"
    script.write_text("#!/bin/sh\necho no >&2; exit 2\n")
    script.chmod(0o755)
    warm.hooks(command("./check.sh"), scope="project")
    warm.trust()
    given = payload(cwd=str(warm.where))
    assert refused(warm.call(*TOOL, given=given), "no")
    script.write_text("#!/bin/sh\necho other >&2; exit 2\n")

    assert not refused(warm.call(*TOOL, given=given), "other")


def test_hooks_whose_order_does_not_matter_run_at_once(warm):
    """
    Each waits until the other has begun; a refusal that ends the rest leaves nothing running.
    """
    waits = "touch $HOME/{0}; until [ -e $HOME/{1} ]; do sleep 0.02; done; {2}"
    mark = word()
    warm.hooks(
        command(waits.format("a", "b", f"sleep {mark}"), order="any"),
        command(waits.format("b", "a", "echo no >&2; exit 2"), order="any", on_deny="stop"),
    )
    before = warm.status()["answered"]

    assert refused(warm.tool(), "no")
    assert before < warm.status()["answered"]
    assert eventually(lambda: [] == running(mark), 20)

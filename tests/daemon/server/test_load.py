"""Many callers at once and for long: everybody is answered, and the daemon does not grow."""

import os
import time
from contextlib import suppress

import pytest

from tests.daemon.installed_home import SILENT, TOOL, command, payload, refused
from tests.daemon.server.test_sessions import STOP, stopping
from tests.handlers.processes import eventually

SLOW = int(os.environ.get("HOOKONCE_SLOW_HOOKS", "60"))
ROUNDS = int(os.environ.get("HOOKONCE_LOAD_ROUNDS", "60"))  # each a session of its own, of which 256 are followed
WAITS = '[ -e "$HOME/go" ] || cat "$HOME/gate"; echo "$NUMBER" >&2; exit 2'
PATIENT = ["claude-code", "PreToolUse", "--dialect", "claude-code", "--run", WAITS, "--scope", "user", "--timeout", "600"]
COMPACT = ["claude-code", "PreCompact", "--via", "claude-code/user"]
MOST = 12_000  # kilobytes by which a daemon may have grown; what leaks grows without end


@pytest.mark.slow
def test_plain_calls_are_answered_while_many_hooks_wait(warm, show):
    """
    Those whose hooks are slow get their own answers in the end, nobody another one's.
    """
    slow, gate = [], warm.home / "gate"
    os.mkfifo(gate)
    for number in range(SLOW):
        slow.append(warm.start(*PATIENT, env={**warm.env, "NUMBER": str(number)}))
        slow[-1].stdin.write(payload(session=f"s{number}"))
        slow[-1].stdin.close()
        assert number % 20 or SILENT == warm.call(*STOP, given=stopping(session=f"p{number}"))
    busy = warm.status()
    assert SILENT == warm.call(*STOP, given=stopping())
    show(f"{SLOW} slow hooks: {busy}")
    (warm.home / "go").touch()
    assert eventually(lambda: _are_let_go(gate, slow), 300)
    endings = []
    for call in slow:
        with call:
            endings.append((call.returncode, call.stdout.read(), call.stderr.read()))

    assert busy["under_way"] > 0
    assert [] == [number for number, ending in enumerate(endings) if not refused(ending, str(number))]
    assert 0 == warm.status()["under_way"]


def _are_let_go(gate, calls):
    """Open the gate for those who wait at it; whether all calls have ended."""
    with suppress(OSError):  # nobody waits just now
        os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
    return all([call.poll() is not None for call in calls])  # noqa: C419  each is asked, so that each is reaped


@pytest.mark.slow
def test_a_daemon_does_not_grow_with_what_it_has_answered(warm, show):
    """
    Calls with hooks and without, refused stops, edits, large payloads, and callers that are killed.
    """
    warm.hooks(command("echo no >&2; exit 2"), command("echo on >&2; exit 2", event="agent_stop"))
    before, after = _mixed(warm), _mixed(warm)
    show(f"{before} became {after}")

    assert before["pid"] == after["pid"]
    assert after["memory_kb"] - before["memory_kb"] < MOST
    assert 0 == after["under_way"]


def _mixed(home):
    """All sorts of calls; how the daemon is once all of them are recorded."""
    begin = time.monotonic()
    for number in range(1, ROUNDS + 1):
        name = f"{begin}-{number}"
        assert refused(home.tool(session=name), "no")
        assert home.call(*STOP, given=stopping(session=name))[1]
        assert SILENT == home.call(*COMPACT, given=payload(session=name, hook_event_name="PreCompact"))
        if number % 25 == 0:
            assert refused(home.tool("x" * 500_000, session=name), "no")
            with home.start(*TOOL) as killed:
                killed.kill()
    assert eventually(lambda: not home.status()["store"]["waiting"], 60)
    return home.status()

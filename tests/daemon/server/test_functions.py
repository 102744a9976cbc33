"""Functions behind the real client: the daemon has their files loaded, and none of them disturbs another's call."""

import pytest

from tests.daemon.installed_home import HOOK, TOOL, payload

GUARD = """
import os, time
from hookonce import deny, hook
@hook("before_tool_execute", tool="shell")
def guard(event):
    if event.command == "sleep": time.sleep(99)
    if event.command == "exit": os._exit(0)
    if event.command == "fill": bytearray(1 << 31)
    if event.command == "rm": return deny("no")
"""


def function(**more):
    """A hook that is a function, which has two seconds."""
    return HOOK | {"handler": {"type": "function", "file": "guard.py", "timeout": 2}} | more


def write(home, text=GUARD, folder=".config/hookonce"):
    """The file of the function, beside the manifest of the user."""
    (home.home / folder / "guard.py").write_text(text, encoding="utf-8")


def is_denied(ending):
    """Whether Claude Code was told no."""
    return b'"permissionDecision":"deny"' in ending[1]


@pytest.mark.parametrize("cold", [False, True])
def test_a_function_answers_whoever_answers_the_call(home, cold):
    """
    The daemon, or a process for one call.
    """
    home.hooks(function())
    write(home)
    env = home.cold_env if cold else home.env
    if not cold:
        home.warm()

    assert [True, False, True] == [is_denied(home.tool(name, env=env)) for name in ("rm", "ls", "rm")]


def test_one_that_sleeps_leaves_or_fills_the_memory_disturbs_nobody(warm):
    """
    Each ends by its own fail mode, and everybody else is answered meanwhile, by the same file.
    """
    warm.hooks(function(on_failure="closed"))
    write(warm)
    before = warm.status()["pid"]
    bad = ["sleep", "exit", "fill"] * 2
    asked = [(TOOL, payload(name, f"s{number}")) for number, name in enumerate([*bad, *["rm", "ls"] * 8])]

    endings = warm.crowd(asked)

    assert [True] * 6 + [True, False] * 8 == [is_denied(one) for one in endings]
    assert before == warm.status()["pid"]


def test_what_runs_is_what_was_seen(warm):
    """
    A project's file runs as it was when somebody agreed to it; edited, it does not run until they agree again.
    """
    warm.hooks(function(), scope="project")
    write(warm, folder="where")

    def answers():
        here = [payload(name, cwd=str(warm.where)) for name in ("rm", "cp")]
        return [is_denied(warm.call(*TOOL, given=one)) for one in here]

    before = answers()
    warm.trust()
    trusted = answers()
    write(warm, GUARD.replace('"rm"', '"cp"'), folder="where")
    edited = answers()
    warm.trust()

    assert [[False, False], [True, False], [False, False], [False, True]] == [before, trusted, edited, answers()]


def test_a_user_s_edit_counts_at_once(warm):
    """
    Their own files need nobody's word.
    """
    warm.hooks(function())
    write(warm)
    before = is_denied(warm.tool("cp"))
    write(warm, GUARD.replace('"rm"', '"cp"'))

    assert (False, True) == (before, is_denied(warm.tool("cp")))

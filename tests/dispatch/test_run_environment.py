"""Whose variables a hook has: the installation's where they choose code, unless it asks for the caller's and may."""

import pytest

from hookonce.dispatch.run import CallerContext, _hook_world
from hookonce.dispatch.select import SelectedHook
from hookonce.model import Handler, Hook
from tests.dispatch.event_factory import event

CALLER = CallerContext(environment={"PATH": "/theirs", "BASH_ENV": "/theirs", "HOOKONCE_MINE": "x", "ANSWER": "42"}, cwd="/")


@pytest.mark.parametrize(("fields", "is_callers"), [({}, False), ({"environment": "caller"}, True), ({"environment": "caller", "on_failure": "closed"}, False)])
def test_a_hook_that_must_be_asked_has_no_path_of_the_caller(fields, is_callers):
    """
    Whoever calls could have it run something else. Our own variables are nobody's but ours.
    """
    hook = Hook(event="before_tool_execute", handler=Handler(type="command", command="x"), blocking=True, **fields)

    world = _hook_world(SelectedHook(hook=hook, scope="user", folder="/u"), event(), CALLER)

    assert [is_callers] * 2 == [world.env.get(name) == "/theirs" for name in ("PATH", "BASH_ENV")]
    assert ("42", None) == (world.env.get("ANSWER"), world.env.get("HOOKONCE_MINE"))

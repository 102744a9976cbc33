"""Names of hooks in messages."""

import pytest

from hookonce.model import Handler, Hook
from hookonce.vocabulary.names import hook_label


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({"type": "command", "command": "./guard.sh --all"}, "agent_stop ./guard.sh --all"),
        ({"type": "command", "platform": {"windows": "g.ps1"}}, "agent_stop g.ps1"),
        ({"type": "http", "url": "https://a.example/x"}, "agent_stop https://a.example/x"),
        ({"type": "prompt", "prompt": "Is it\n safe?"}, "agent_stop Is it safe?"),
        ({"type": "command", "command": f"./{'x' * 100}"}, f"agent_stop ./{'x' * 57}…"),
        ({"type": "mcp_tool"}, "agent_stop a handler of type mcp_tool"),
    ],
)
def test_a_hook_is_called_by_its_event_and_by_what_it_runs(fields, label):
    """
    A number would send its reader to count entries of a file; a name of its own is better than both.
    """
    hook = Hook(event="agent_stop", handler=Handler(**fields))
    assert label == hook_label(hook)
    assert "guard" == hook_label(Hook(event="agent_stop", name="guard", handler=hook.handler))

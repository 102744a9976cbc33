"""Which hooks of a manifest are for an event: by its name, and by the tool where one is judged."""

from pathlib import Path

import pytest

from hookonce.dispatch.select import select_from_manifest
from hookonce.manifest.discover import ManifestSource
from hookonce.manifest.load import build_manifest
from hookonce.model import Tool
from tests.dispatch.event_factory import event

SHELL = Tool(name="shell", native="Bash", input={"command": "ls"})
ISSUE = Tool(name="mcp:github/create_issue", native="mcp__github__create_issue", mcp_server="github")


def select(one, hooks, scope="user"):
    """The hooks of a manifest that run for an event, as they are selected."""
    manifest = build_manifest({"spec": "hooks/1.0", "hooks": [{"handler": {"type": "command", "command": "true"}} | hook for hook in hooks]})
    return select_from_manifest(manifest, ManifestSource(scope=scope, path=Path("/u/hooks.json")), one)


def chosen(one, *hooks):
    """The numbers of the hooks that run for an event; each is an event's name and a matcher."""
    listed = [{"event": kind, "matcher": matcher, "name": str(number)} for number, (kind, matcher) in enumerate(hooks)]
    return [int(found.hook.name) for found in select(one, listed)]


@pytest.mark.parametrize("kind", ["before_tool_execute", "after_tool_execute", "tool_use_failure", "permission_request"])
def test_a_matcher_counts_wherever_a_tool_is_judged(kind):
    """
    Before it runs, after it, after it has failed, and where the user is asked for permission.
    """
    hooks = [(kind, matcher) for matcher in (None, "shell", "file_read", {"pattern": "^Bash$"}, ["find", "search"])]

    assert [0, 1, 3] == chosen(event(kind, tool=SHELL), *hooks)


def test_a_hook_for_finished_tools_hears_of_failed_ones():
    """
    But nobody who wants failures alone is told of the others.
    """
    hooks = [("after_tool_execute", None), ("tool_use_failure", None), ("after_tool_execute", "find")]

    assert [0, 1] == chosen(event("tool_use_failure", tool=SHELL), *hooks)
    assert [0] == chosen(event("after_tool_execute", tool=SHELL), *hooks)


def test_a_tool_of_a_server_is_known_by_both_names():
    """
    By its server, by its own name there, and by neither of another.
    """
    servers = [{"server": "github"}, {"server": "github", "tool": "create_issue"}, {"server": "github", "tool": "issue"}, {"server": "gitlab"}]

    assert [0, 1] == chosen(event(tool=ISSUE), *(("before_tool_execute", {"mcp": server}) for server in servers))
    assert [] == chosen(event(tool=SHELL), *(("before_tool_execute", {"mcp": server}) for server in servers))


@pytest.mark.parametrize(("scope", "may_allow"), [("project", False), ("user", True), ("organisation", True), ("system", True)])
def test_an_allow_counts_from_nobody_that_a_repository_writes(scope, may_allow):
    """
    A project's hook that says it may allow has no such right; elsewhere it has it if it says so.
    """
    hooks = [{"event": "before_tool_execute", "blocking": True, "may_allow": wish} for wish in (True, False)]

    assert [may_allow, False] == [found.may_allow for found in select(event(tool=SHELL), hooks, scope)]

"""Generated plugins under Node, with a host that only pretends to be the agent."""

import json
import shutil
import subprocess

import pytest

from hookonce import agents
from hookonce.model import Handler, Hook

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to run a plugin with")
# What no command may break out of its place with.
NASTY = ["'", '"', "`", "${process.exit(1)}", "$(false)", "*/", "/*", "//", "</script>", "<!--", "\u2028", "\u2029", "\n", "\\", "\\n", "\ufeff", "é", "%s"]


def plain_wording(hook, _):
    """Commands as they are."""
    return hook.handler.command


def hook(command, event="before_tool_execute", matcher=None, **more):
    """A hook with a command; `more` goes to the hook or to its handler, whoever knows it."""
    own = {key: more.pop(key) for key in list(more) if key in Handler.__struct_fields__ and key not in Hook.__struct_fields__}
    return Hook(event=event, matcher=matcher, handler=Handler(type="command", command=command, **own), **({"blocking": True} | more))


def render_file(name, *hooks):
    """The one file of these hooks, and the gaps."""
    agent = agents.load(name)
    made, gaps = agent.config.render(agent, list(enumerate(hooks)), plain_wording)
    (text,) = made["files"].values()
    return text, gaps


def run_plugin(folder, text, driver, steps):
    """What a plugin answers to some steps, in a folder of its own."""
    (folder / "plugin.mjs").write_text(text, encoding="utf-8")
    (folder / "driver.mjs").write_text(driver, encoding="utf-8")
    ran = subprocess.run(["node", "driver.mjs"], input=json.dumps(steps), cwd=folder, capture_output=True, check=False, text=True, timeout=60)
    assert (0, "") == (ran.returncode, ran.stderr)
    return json.loads(ran.stdout)

"""Real agents start our client without a shell, with its arguments; and without them, as versions before that do."""

import json

import pytest

from hookonce import agents
from hookonce.configure.install import plan_install
from hookonce.configure.locations import target_file
from hookonce.lab import drivers
from hookonce.lab.experiments.decisions import deny_rule
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.run import is_text_sent
from tests.integration.real import agent

pytestmark = pytest.mark.integration
EXEC = [name for name in agents.AGENTS if agents.load(name).config.exec_since]


def entries(path):
    """The document of a file, and the entries in it."""
    document = json.loads(path.read_text())
    return document, [entry for groups in document["hooks"].values() for group in groups for entry in group["hooks"]]


@pytest.mark.parametrize("has_args", [True, False], ids=["exec form", "args ignored"])
@pytest.mark.parametrize("name", EXEC)
def test_an_entry_without_a_shell_is_called_and_refuses(name, has_args, tmp_path):
    """
    It gets the payload, and what it refuses is not done; the model is told why.
    """
    bench = Bench(drivers.load_driver(name), agent(name), tmp_path / "cache")

    def change_form(home, roots):
        (change,) = plan_install(bench.agent, "user", roots, str(home.client), has_args=True)
        change.path.write_bytes(change.new)
        document, found = entries(target_file(bench.agent, "user", roots))
        assert all(entry["command"] == str(home.client) and entry["args"][0] == name for entry in found)
        if not has_args:
            for entry in found:
                del entry["args"]
            change.path.write_text(json.dumps(document))

    run = bench.play("refuse-shell", rules=[deny_rule("shell")], hooks=bench.hooks_for_all_events, change_home=change_form)

    assert "shell.txt" not in run.files
    assert is_text_sent(run, "the lab refuses to shell"), run.err[-1000:]
    assert {"session_start", "before_prompt", "before_tool_execute", "agent_stop"} <= {event["type"] for event in run.hook_events}

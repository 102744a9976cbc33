"""The real Codex reads what we write, and takes our word for its user's trust."""

import json
import subprocess

import pytest

from hookonce import agents
from hookonce.agents import config_events, point_of
from tests.cli.command import run
from tests.integration.real import agent

pytestmark = pytest.mark.integration


def listed(home, project):
    """What Codex itself says about the hooks that it finds; no model is asked for that."""
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "CODEX_HOME": str(home / ".codex")}
    with subprocess.Popen([agent("codex").program, "app-server"], env=env, cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:

        def ask(number, method, **params):
            server.stdin.write(json.dumps({"id": number, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            for line in server.stdout:
                answer = json.loads(line)
                if answer.get("id") == number:
                    return answer["result"]
            pytest.fail(f"Codex ended without an answer to {method}")

        ask(1, "initialize", clientInfo={"name": "tests", "title": "tests", "version": "0"})
        server.stdin.write(json.dumps({"method": "initialized"}) + "\n")
        hooks = [hook for found in ask(2, "hooks/list", cwds=[str(project)])["data"] for hook in found["hooks"]]
        server.stdin.close()
        server.terminate()
        server.wait(30)
    return hooks


@pytest.mark.parametrize("trust", [False, True])
def test_codex_finds_every_entry_and_trusts_them_if_its_user_said_so(tmp_path, trust):
    """
    One hook for each event of the default set, trusted only after --trust.
    """
    (tmp_path / ".codex").mkdir()
    (tmp_path / "project").mkdir()
    codex = agents.load("codex")

    installed = run("install", "codex", *(["--trust"] if trust else []), HOME=str(tmp_path))
    hooks = listed(tmp_path, tmp_path / "project")

    wanted = [native for native in config_events(codex) if point_of(codex, native).install == "default"]
    assert 0 == installed.code, installed.err
    assert len(wanted) == len(hooks)
    assert {"trusted" if trust else "untrusted"} == {hook["trustStatus"] for hook in hooks}

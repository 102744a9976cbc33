"""OpenCode driver: `opencode run` with a local provider; permissions granted by `--auto`."""

from pathlib import Path

from hookonce.base.jsontext import dump
from hookonce.lab.drivers import Driver, ExtraRun, RunEnv
from hookonce.lab.fakes.scenarios import MCP_ECHO, MCP_SERVER
from hookonce.model import Object

_DISABLED_FEATURES = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")


def _write_settings(env: RunEnv) -> None:
    folder = env.home / ".config/opencode"
    folder.mkdir(parents=True)
    (env.home / "tmp").mkdir()
    (folder / "opencode.json").write_bytes(dump(_settings(env)))
    _write_plugin_packages(folder)


def _settings(env: RunEnv) -> Object:
    provider = {
        "npm": "@ai-sdk/openai-compatible",  # built in
        "options": {"baseURL": f"{env.url}/v1", "apiKey": "no-key"},
        "models": {"scripted": {"tool_call": True, "limit": {"context": 200_000, "output": 8_000}}},
    }
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": "lab/scripted",
        "small_model": "lab/scripted",
        "provider": {"lab": provider},
        "mcp": {MCP_SERVER: {"type": "local", "command": env.mcp, "enabled": True}},
        "permission": {f"{MCP_SERVER}_{MCP_ECHO}": "ask"},  # everything else is allowed unless its user says otherwise
    }


def _write_plugin_packages(folder: Path) -> None:
    """What it would else install from the network before it loads a plugin, whether one needs it or not.

    It asks no more than whether the folder is there and the lock names the package. Ours does not need it.
    """
    manifest = {"dependencies": {"@opencode-ai/plugin": "*"}}
    (folder / "package.json").write_bytes(dump(manifest))
    (folder / "package-lock.json").write_bytes(dump({"lockfileVersion": 3, "packages": {"": manifest}}))
    (folder / "node_modules").mkdir()


DRIVER = Driver(
    agent="opencode",
    version="1.18.33",
    program="opencode-{platform}/bin/opencode",
    prepare=_write_settings,
    command=lambda env: [str(env.program), "run", "--auto", env.prompt],
    environment=lambda env: (
        {f"OPENCODE_DISABLE_{name}": "true" for name in _DISABLED_FEATURES} | {"TMPDIR": str(env.home / "tmp")}
    ),
    extra_arguments={"shell": {"description": "a command of the lab"}, "agent": {"subagent_type": "general"}},
    unreachable={
        "fires:session.deleted": "comes when a person deletes a session",
        "fires:permission.v2.asked": "belongs to a kind of session that `opencode run` does not begin",
        "fires:permission.updated": "is what older versions call permission.asked",
    },
    extra_runs=(ExtraRun(scenario="error"),),
    expected_events=frozenset({"file.edited", "permission.asked", "session.error"}),
)

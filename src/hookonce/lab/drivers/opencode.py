"""OpenCode driver: `opencode run` with a local provider; permissions granted by `--auto`."""

from hookonce.lab.drivers import Driver, ExtraRun, RunEnv
from hookonce.lab.fakes.scenarios import MCP_ECHO, MCP_SERVER
from hookonce.model import Json, Object

_FOLDER = ".config/opencode"
_DISABLED_FEATURES = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")


def _home_files(env: RunEnv) -> dict[str, Json]:
    """Settings, and what it would else install from the network before it loads a plugin, whether one needs it or not.

    It asks no more than whether the folder is there and the lock names the package. Ours does not need it.
    """
    packages = {"dependencies": {"@opencode-ai/plugin": "*"}}
    return {
        "tmp": None,
        f"{_FOLDER}/opencode.json": _settings(env),
        f"{_FOLDER}/package.json": packages,
        f"{_FOLDER}/package-lock.json": {"lockfileVersion": 3, "packages": {"": packages}},
        f"{_FOLDER}/node_modules": None,
    }


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


DRIVER = Driver(
    agent="opencode",
    version="1.18.33",
    program="opencode-{platform}/bin/opencode",
    home_files=_home_files,
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

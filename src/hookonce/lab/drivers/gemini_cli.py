"""Gemini CLI driver: one prompt, every tool approved, the folder trusted in its settings."""

from hookonce.base.jsontext import dump
from hookonce.lab.drivers import Driver, RunEnv
from hookonce.lab.fakes.scenarios import MCP_SERVER


def _write_settings(env: RunEnv) -> None:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "mcpServers": {MCP_SERVER: {"command": env.mcp[0], "args": env.mcp[1:], "trust": True}},
    }
    env.home.joinpath(".gemini").mkdir()
    env.home.joinpath(".gemini/settings.json").write_bytes(dump(settings))
    env.home.joinpath(".gemini/trustedFolders.json").write_bytes(dump({str(env.project): "TRUST_FOLDER"}))


def _command(env: RunEnv) -> list[str]:
    program = [str(env.node), str(env.program)] if env.node else [str(env.program)]
    return [*program, "-m", "gemini-2.5-flash", "-p", env.prompt, "-o", "json", "--approval-mode", "yolo"]


DRIVER = Driver(
    agent="gemini-cli",
    version="0.61.0",
    program="@google/gemini-cli/bundle/gemini.js",
    min_node_version=20,
    prepare=_write_settings,
    command=_command,
    environment=lambda env: {
        "GEMINI_API_KEY": "no-key",
        "GOOGLE_GEMINI_BASE_URL": env.url,
        "GEMINI_CLI_NO_RELAUNCH": "true",
    },
    extra_arguments={
        "shell": {"description": "a command of the lab"},
        "file_edit": {"instruction": "an edit of the lab"},
        "agent": {"agent_name": "generalist"},
    },
    unreachable={"fires:Notification": "comes only when a tool asks for confirmation, which needs a terminal"},
)

"""Gemini CLI driver: one prompt, every tool approved, the folder trusted in its settings."""

from hookonce.lab.drivers import Driver, RunEnv
from hookonce.lab.fakes.scenarios import MCP_SERVER
from hookonce.model import Json


def _home_files(env: RunEnv) -> dict[str, Json]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "mcpServers": {MCP_SERVER: env.mcp_entry | {"trust": True}},
    }
    folders = {str(env.project): "TRUST_FOLDER"}
    return {".gemini/settings.json": settings, ".gemini/trustedFolders.json": folders}


def _command(env: RunEnv) -> list[str]:
    return [*env.program_words, "-m", "gemini-2.5-flash", "-p", env.prompt, "-o", "json", "--approval-mode", "yolo"]


DRIVER = Driver(
    agent="gemini-cli",
    version="0.61.0",
    program="@google/gemini-cli/bundle/gemini.js",
    min_node_version=20,
    home_files=_home_files,
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

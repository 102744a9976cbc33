"""Gemini CLI in the lab: one prompt, every tool approved, the folder trusted as its user would."""

from hookonce.lab.driver import Driver, Stand
from hookonce.lab.scenarios import SERVER
from hookonce.texts import dump


def _prepare(stand: Stand) -> None:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "mcpServers": {SERVER: {"command": stand.mcp[0], "args": stand.mcp[1:], "trust": True}},
    }
    stand.home.joinpath(".gemini").mkdir()
    stand.home.joinpath(".gemini/settings.json").write_bytes(dump(settings))
    stand.home.joinpath(".gemini/trustedFolders.json").write_bytes(dump({str(stand.project): "TRUST_FOLDER"}))


def _words(stand: Stand) -> list[str]:
    started = [str(stand.node), str(stand.program)] if stand.node else [str(stand.program)]
    return [*started, "-m", "gemini-2.5-flash", "-p", stand.prompt, "-o", "json", "--approval-mode", "yolo"]


def _environment(stand: Stand) -> dict[str, str]:
    return {
        "GEMINI_API_KEY": "no-key",
        "GOOGLE_GEMINI_BASE_URL": stand.url,
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }


DRIVER = Driver(
    agent="gemini-cli",
    version="0.61.0",
    program="@google/gemini-cli/bundle/gemini.js",
    node=20,
    prepare=_prepare,
    words=_words,
    environment=_environment,
    more={
        "shell": {"description": "a command of the lab"},
        "file_edit": {"instruction": "an edit of the lab"},
        "agent": {"agent_name": "generalist"},
    },
    unreachable={"fires:Notification": "comes only when a tool asks for confirmation, which needs a terminal"},
)

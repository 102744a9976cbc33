"""Factory Droid in the lab: `droid exec` in its airgap, a model of ours among its custom ones, autonomy high."""

from hookonce.lab.driver import Driver, Stand
from hookonce.lab.scenarios import SERVER
from hookonce.texts import dump

_MODEL = "scripted"


def _prepare(stand: Stand) -> None:
    model = {
        "model": _MODEL,
        "displayName": _MODEL,
        "baseUrl": f"{stand.url}/v1",
        "apiKey": "no-key",
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 4096,
    }
    # Else its server is told to the model in some runs, and in others it comes too late for that.
    settings = {"customModels": [model], "blockOnMcpLoad": True}
    server = {"type": "stdio", "command": stand.mcp[0], "args": stand.mcp[1:]}
    stand.home.joinpath(".factory").mkdir()
    stand.home.joinpath(".factory/settings.json").write_bytes(dump(settings))
    stand.home.joinpath(".factory/mcp.json").write_bytes(dump({"mcpServers": {SERVER: server}}))


def _words(stand: Stand) -> list[str]:
    return [str(stand.program), "exec", "--auto", "high", "--model", f"custom:{_MODEL}", stand.prompt]


def _environment(stand: Stand) -> dict[str, str]:
    """Sub-agents are started as `droid`, so that has to be found."""
    return {
        "PATH": f"{stand.program.parent}:/usr/local/bin:/usr/bin:/bin",
        "FACTORY_AIRGAP_ENABLED": "true",
        "FACTORY_API_BASE_URL": stand.url,
        "FACTORY_TELEMETRY_INGEST_BASE_URL": f"{stand.url}/telemetry",
        "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
        "FACTORY_DISABLE_KEYRING": "true",
    }


DRIVER = Driver(
    agent="factory-droid",
    version="0.215.0",
    program="@factory/cli-{platform}/bin/droid",
    prepare=_prepare,
    words=_words,
    environment=_environment,
    more={
        "shell": {"riskLevelReason": "a command of the lab", "riskLevel": "low"},
        "agent": {"subagent_type": "worker"},
    },
    unreachable={
        "prompt": "`droid exec` has no event for its own prompt, only for the orders of sub-agents",
        "fires:Notification": "comes only with a dialog, which needs a terminal",
    },
)

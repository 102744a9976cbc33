"""Factory Droid driver: `droid exec` in its airgap, a custom model, autonomy high."""

from hookonce.lab.drivers import Driver, RunEnv
from hookonce.lab.fakes.scenarios import MCP_SERVER
from hookonce.model import Json

_MODEL = "scripted"


def _home_files(env: RunEnv) -> dict[str, Json]:
    model = {
        "model": _MODEL,
        "displayName": _MODEL,
        "baseUrl": f"{env.url}/v1",
        "apiKey": "no-key",
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 4096,
    }
    return {
        # Else its server is told to the model in some runs, and in others it comes too late for that.
        ".factory/settings.json": {"customModels": [model], "blockOnMcpLoad": True},
        ".factory/mcp.json": {"mcpServers": {MCP_SERVER: {"type": "stdio"} | env.mcp_entry}},
    }


DRIVER = Driver(
    agent="factory-droid",
    version="0.215.0",
    program="@factory/cli-{platform}/bin/droid",
    home_files=_home_files,
    command=lambda env: [str(env.program), "exec", "--auto", "high", "--model", f"custom:{_MODEL}", env.prompt],
    environment=lambda env: {
        "PATH": f"{env.program.parent}:/usr/local/bin:/usr/bin:/bin",  # sub-agents are started as `droid`
        "FACTORY_AIRGAP_ENABLED": "true",
        "FACTORY_API_BASE_URL": env.url,
        "FACTORY_TELEMETRY_INGEST_BASE_URL": f"{env.url}/telemetry",
        "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
        "FACTORY_DISABLE_KEYRING": "true",
    },
    extra_arguments={
        "shell": {"riskLevelReason": "a command of the lab", "riskLevel": "low"},
        "agent": {"subagent_type": "worker"},
    },
    unreachable={
        "prompt": "`droid exec` has no event for its own prompt, only for the orders of sub-agents",
        "fires:Notification": "comes only with a dialog, which needs a terminal",
    },
)

"""Copilot CLI driver: one prompt, offline, a local provider, tools allowed by name."""

from hookonce.lab.drivers import Driver, ExtraRun, RunEnv
from hookonce.lab.fakes.scenarios import MCP_SERVER

_ALLOWED_TOOLS = ("shell", "write", MCP_SERVER)  # reads and sub-agents are never asked about


def _command_without_tools(env: RunEnv) -> list[str]:
    return [str(env.program), "-p", env.prompt, "--no-auto-update"]


DRIVER = Driver(
    agent="copilot-cli",
    version="1.0.102",
    program="@github/copilot-{platform}/copilot",
    home_files=lambda env: {
        ".copilot/mcp-config.json": {
            "mcpServers": {MCP_SERVER: {"type": "local", **env.mcp_entry, "tools": ["*"]}},
        }
    },
    command=lambda env: [
        *_command_without_tools(env),
        *(word for name in _ALLOWED_TOOLS for word in ("--allow-tool", name)),
    ],
    environment=lambda env: {
        "COPILOT_PROVIDER_BASE_URL": f"{env.url}/v1",
        "COPILOT_PROVIDER_API_KEY": "no-key",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "XDG_CACHE_HOME": str(env.cache),  # the program unpacks itself there
    },
    extra_arguments={
        "shell": {"description": "a command of the lab"},
        "agent": {"agent_type": "general-purpose", "name": "lab"},
    },
    extra_runs=(
        ExtraRun(scenario="error"),
        ExtraRun(scenario="missing"),
        ExtraRun(scenario="refuse-shell", command=_command_without_tools),
    ),
    expected_events=frozenset(
        {"errorOccurred", "notification", "permissionRequest", "postToolUseFailure", "userPromptTransformed"}
    ),
)

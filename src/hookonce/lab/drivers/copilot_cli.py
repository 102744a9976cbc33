"""Copilot CLI in the lab: one prompt, offline, a model provider of ours, tools allowed by name."""

from hookonce.lab.driver import Driver, Stand, Trip
from hookonce.lab.scenarios import SERVER
from hookonce.texts import dump

_ALLOWED = ("shell", "write", SERVER)  # reads and sub-agents are never asked about


def _prepare(stand: Stand) -> None:
    servers = {SERVER: {"type": "local", "command": stand.mcp[0], "args": stand.mcp[1:], "tools": ["*"]}}
    stand.home.joinpath(".copilot").mkdir()
    stand.home.joinpath(".copilot/mcp-config.json").write_bytes(dump({"mcpServers": servers}))


def _words(stand: Stand) -> list[str]:
    return [*_asking(stand), *(word for name in _ALLOWED for word in ("--allow-tool", name))]


def _asking(stand: Stand) -> list[str]:
    """The call without any tool allowed."""
    return [str(stand.program), "-p", stand.prompt, "--no-auto-update"]


def _environment(stand: Stand) -> dict[str, str]:
    return {
        "COPILOT_PROVIDER_BASE_URL": f"{stand.url}/v1",
        "COPILOT_PROVIDER_API_KEY": "no-key",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "XDG_CACHE_HOME": str(stand.cache),  # the program unpacks itself there
    }


DRIVER = Driver(
    agent="copilot-cli",
    version="1.0.102",
    program="@github/copilot-{platform}/copilot",
    prepare=_prepare,
    words=_words,
    environment=_environment,
    more={
        "shell": {"description": "a command of the lab"},
        "agent": {"agent_type": "general-purpose", "name": "lab"},
    },
    trips=(Trip(scenario="error"), Trip(scenario="missing"), Trip(scenario="refuse-shell", words=_asking)),
    expects=frozenset(
        {
            "errorOccurred",
            "notification",
            "permissionRequest",
            "postToolUseFailure",
            "userPromptTransformed",
        }
    ),
)

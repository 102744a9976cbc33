"""Claude Code in the lab: print mode, a fake key, tools allowed by name."""

from hookonce.lab.driver import Driver, Stand, Trip
from hookonce.lab.mark import mark
from hookonce.lab.scenarios import SERVER
from hookonce.texts import dump

_TOOLS = f"Bash,Write,Edit,Read,WebFetch,Agent,Task,mcp__{SERVER}__echo"
_INTERACTIVE = "comes only where a person sits at a terminal"
_COMMAND = ".claude/commands/lab.md"  # a command of the project, which stands for a prompt


def _prepare(stand: Stand) -> None:
    servers = {SERVER: {"type": "stdio", "command": stand.mcp[0], "args": stand.mcp[1:]}}
    stand.home.joinpath("mcp.json").write_bytes(dump({"mcpServers": servers}))
    stand.home.joinpath(".claude").mkdir()
    stand.home.joinpath(".claude/settings.json").write_bytes(dump({"skipWebFetchPreflight": True}))


def _words(stand: Stand) -> list[str]:
    return [*_asking(stand), "--allowedTools", _TOOLS]


def _asking(stand: Stand, prompt: str | None = None) -> list[str]:
    """The call without any tool allowed."""
    words = [str(stand.program), "-p", prompt or stand.prompt, "--model", "claude-sonnet-4-5"]
    return [*words, "--output-format", "json", "--mcp-config", str(stand.home / "mcp.json")]


def _first_time(stand: Stand) -> list[str]:
    return [*_words(stand), "--init"]


def _other_model(stand: Stand) -> list[str]:
    return _asking(stand, "/model claude-haiku-4-5")


def _by_command(stand: Stand) -> list[str]:
    return [*_asking(stand, "/lab"), "--allowedTools", _TOOLS]


def _environment(stand: Stand) -> dict[str, str]:
    off = ("DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING")
    quiet = dict.fromkeys((*off, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "IS_SANDBOX"), "1")
    return quiet | {"ANTHROPIC_BASE_URL": stand.url, "ANTHROPIC_API_KEY": "no-key"}


DRIVER = Driver(
    agent="claude-code",
    version="2.1.325",
    program="@anthropic-ai/claude-code-{platform}/claude",
    prepare=_prepare,
    words=_words,
    environment=_environment,
    more={
        "shell": {"description": "a command of the lab"},
        "agent": {"subagent_type": "general-purpose", "run_in_background": False},
    },
    unreachable={
        "fires:Notification": _INTERACTIVE,
        "fires:PermissionDenied": "comes only from its own classifier of commands",
    },
    trips=(
        Trip(scenario="error"),
        Trip(scenario="walk"),
        Trip(scenario="refuse-shell", words=_asking),
        Trip(scenario="talk", words=_first_time, files={"CLAUDE.md": "Be short.\n"}),
        Trip(scenario="talk", words=_by_command, files={_COMMAND: mark("talk", "claude-code", "{dir}")}),
        Trip(scenario="tasks"),
        Trip(scenario="talk", words=_other_model),
    ),
    expects=frozenset(
        {
            "CwdChanged",
            "InstructionsLoaded",
            "PermissionRequest",
            "PostToolBatch",
            "PostToolUseFailure",
            "PreModelSwitch",
            "Setup",
            "TaskCompleted",
            "TaskCreated",
            "UserPromptExpansion",
        }
    ),
    comes_and_goes=frozenset({"FileChanged", "MessageDisplay", "PostModelSwitch", "StopFailure"}),
)

"""Claude Code driver: print mode, a fake key, tools allowed by name."""

from hookonce.lab.drivers import Driver, ExtraRun, RunEnv
from hookonce.lab.fakes.scenarios import MCP_SERVER, scenario_marker

_ALLOWED_TOOLS = f"Bash,Write,Edit,Read,WebFetch,Agent,Task,mcp__{MCP_SERVER}__echo"
_COMMAND_FILE = ".claude/commands/lab.md"  # a command of the project, which stands for a prompt


def _command(env: RunEnv, prompt: str | None = None) -> list[str]:
    return [*_command_without_tools(env, prompt), "--allowedTools", _ALLOWED_TOOLS]


def _command_without_tools(env: RunEnv, prompt: str | None = None) -> list[str]:
    arguments = [str(env.program), "-p", prompt or env.prompt, "--model", "claude-sonnet-4-5"]
    return [*arguments, "--output-format", "json", "--mcp-config", str(env.home / "mcp.json")]


def _environment(env: RunEnv) -> dict[str, str]:
    switches = ("DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING")
    variables = dict.fromkeys((*switches, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "IS_SANDBOX"), "1")
    return variables | {"ANTHROPIC_BASE_URL": env.url, "ANTHROPIC_API_KEY": "no-key"}


DRIVER = Driver(
    agent="claude-code",
    version="2.1.325",
    program="@anthropic-ai/claude-code-{platform}/claude",
    home_files=lambda env: {
        "mcp.json": {"mcpServers": {MCP_SERVER: {"type": "stdio"} | env.mcp_entry}},
        ".claude/settings.json": {"skipWebFetchPreflight": True},
    },
    command=_command,
    environment=_environment,
    extra_arguments={
        "shell": {"description": "a command of the lab"},
        "agent": {"subagent_type": "general-purpose", "run_in_background": False},
    },
    unreachable={
        "fires:Notification": "comes only where a person sits at a terminal",
        "fires:PermissionDenied": "comes only from its own classifier of commands",
    },
    extra_runs=(
        ExtraRun(scenario="error"),
        ExtraRun(scenario="walk"),
        ExtraRun(scenario="refuse-shell", command=_command_without_tools),
        ExtraRun(scenario="talk", command=lambda env: [*_command(env), "--init"], files={"CLAUDE.md": "Be short.\n"}),
        ExtraRun(
            scenario="talk",
            command=lambda env: _command(env, "/lab"),
            files={_COMMAND_FILE: scenario_marker("talk", "claude-code", "{dir}")},
        ),
        ExtraRun(scenario="tasks"),
        ExtraRun(scenario="talk", command=lambda env: _command_without_tools(env, "/model claude-haiku-4-5")),
    ),
    expected_events=frozenset(
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
    unsteady_events=frozenset({"FileChanged", "MessageDisplay", "PostModelSwitch", "StopFailure"}),
)

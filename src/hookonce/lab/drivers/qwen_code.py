"""Qwen Code driver: one prompt to a local OpenAI endpoint, every tool approved."""

from hookonce.base.jsontext import dump
from hookonce.lab.drivers import Driver, ExtraRun, RunEnv
from hookonce.lab.fakes.conversation import ModelToolCall
from hookonce.lab.fakes.scenarios import MCP_SERVER, scenario_marker
from hookonce.model import Json, Object

# 0.15.10 knows no exceptions from a proxy: it would look for the model where nobody listens.
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
_COMMAND_FILE = ".qwen/commands/lab.md"  # a command of the project, which stands for a prompt


def _home_files(env: RunEnv) -> dict[str, Json]:
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
        "model": {"name": "scripted"},
        "mcpServers": {MCP_SERVER: env.mcp_entry},
    }
    return {".qwen/settings.json": settings}


def _prompt_command(env: RunEnv, prompt: str) -> list[str]:
    return [*env.program_words, "-p", prompt, "-o", "json", "--approval-mode", "yolo"]


def _todo_call(subject: str, status: str) -> ModelToolCall:
    return ModelToolCall("todo_write", {"todos": [{"id": "1", "content": subject, "status": status}]})


def _settings_file(**settings: Object) -> dict[str, str]:
    return {".qwen/settings.json": dump(settings).decode()}


DRIVER = Driver(
    agent="qwen-code",
    version="0.24.4",
    program="@qwen-code/qwen-code/cli.js",
    min_node_version=22,
    home_files=_home_files,
    command=lambda env: _prompt_command(env, env.prompt),
    environment=lambda env: {
        **dict.fromkeys(_PROXIES, ""),
        "OPENAI_API_KEY": "no-key",
        "OPENAI_BASE_URL": f"{env.url}/v1",
        "OPENAI_MODEL": "scripted",
        "QWEN_CODE_NO_RELAUNCH": "true",
        "NODE_COMPILE_CACHE": str(env.cache / "compiled"),
    },
    tool_calls={
        "TaskCreate": lambda arguments, _: _todo_call(str(arguments["subject"]), "in_progress"),
        "TaskUpdate": lambda _arguments, _: _todo_call("A task", "completed"),
    },
    extra_arguments={
        "shell": {"is_background": False},
        "agent": {"subagent_type": "general-purpose", "run_in_background": False},
    },
    extra_runs=(
        ExtraRun(
            scenario="talk",
            command=lambda env: _prompt_command(env, "/lab"),
            files={_COMMAND_FILE: scenario_marker("talk", "qwen-code", "{dir}")},
        ),
        ExtraRun(scenario="tasks", files=_settings_file(tools={"todoWrite": {"enabled": True}})),
        ExtraRun(scenario="walk", files=_settings_file(model={"maxToolCallsPerTurn": 1})),
        ExtraRun(scenario="walk", files=_settings_file(context={"autoCompactThreshold": 0.01})),
    ),
    expected_events=frozenset(
        {
            "InstructionsLoaded",
            "Notification",
            "PostCompact",
            "PostToolBatch",
            "PostToolUseFailure",
            "PreCompact",
            "StopFailure",
            "TodoCompleted",
            "TodoCreated",
            "UserPromptExpansion",
        }
    ),
    unreachable={
        "fires:SessionEnd": "comes when a person leaves or clears a session at a terminal",
        "fires:PermissionRequest": "comes only where a person could answer, not in a run of a single prompt",
        "fires:PermissionDenied": "what a single prompt may not do is refused before any hook is asked",
    },
)

"""Qwen Code in the lab: one prompt to an OpenAI endpoint of ours, every tool approved."""

from hookonce.lab.driver import Driver, Stand, Trip
from hookonce.lab.mark import mark
from hookonce.lab.scenarios import SERVER
from hookonce.lab.talk import Call, Talk
from hookonce.model import Object
from hookonce.texts import dump

# 0.15.10 knows no exceptions from a proxy: it would look for the model where nobody listens.
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
_COMMAND = ".qwen/commands/lab.md"  # a command of the project, which stands for a prompt


def _prepare(stand: Stand) -> None:
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
        "model": {"name": "scripted"},
        "mcpServers": {SERVER: {"command": stand.mcp[0], "args": stand.mcp[1:]}},
    }
    stand.home.joinpath(".qwen").mkdir()
    stand.home.joinpath(".qwen/settings.json").write_bytes(dump(settings))


def _words(stand: Stand) -> list[str]:
    return _asking(stand, stand.prompt)


def _by_command(stand: Stand) -> list[str]:
    return _asking(stand, "/lab")


def _asking(stand: Stand, prompt: str) -> list[str]:
    started = [str(stand.node), str(stand.program)] if stand.node else [str(stand.program)]
    return [*started, "-p", prompt, "-o", "json", "--approval-mode", "yolo"]


def _environment(stand: Stand) -> dict[str, str]:
    return dict.fromkeys(_PROXIES, "") | {
        "OPENAI_API_KEY": "no-key",
        "OPENAI_BASE_URL": f"{stand.url}/v1",
        "OPENAI_MODEL": "scripted",
        "QWEN_CODE_NO_RELAUNCH": "true",
        "NODE_COMPILE_CACHE": str(stand.cache / "compiled"),
    }


def _begun(given: Object, _talk: Talk) -> Call:
    return _list(str(given["subject"]), "in_progress")


def _done(_given: Object, _talk: Talk) -> Call:
    return _list("A task", "completed")


def _list(subject: str, status: str) -> Call:
    """There is one list of tasks, which is always told whole."""
    return Call("todo_write", {"todos": [{"id": "1", "content": subject, "status": status}]})


def _set(**settings: Object) -> dict[str, str]:
    return {".qwen/settings.json": dump(settings).decode()}


DRIVER = Driver(
    agent="qwen-code",
    version="0.24.4",
    program="@qwen-code/qwen-code/cli.js",
    node=22,
    prepare=_prepare,
    words=_words,
    environment=_environment,
    calls={"TaskCreate": _begun, "TaskUpdate": _done},
    more={
        "shell": {"is_background": False},
        "agent": {"subagent_type": "general-purpose", "run_in_background": False},
    },
    trips=(
        Trip(scenario="talk", words=_by_command, files={_COMMAND: mark("talk", "qwen-code", "{dir}")}),
        Trip(scenario="tasks", files=_set(tools={"todoWrite": {"enabled": True}})),
        Trip(scenario="walk", files=_set(model={"maxToolCallsPerTurn": 1})),
        Trip(scenario="walk", files=_set(context={"autoCompactThreshold": 0.01})),
    ),
    expects=frozenset(
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
        "fires:PermissionRequest": "comes only where somebody could answer; a single prompt asks nobody",
        "fires:PermissionDenied": "what a single prompt may not do is refused before any hook is asked",
    },
)

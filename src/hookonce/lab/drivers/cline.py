"""Cline driver: one prompt, a local provider, tools approved by its command line."""

from hookonce.lab.drivers import Driver, ExtraRun, RunEnv
from hookonce.lab.fakes.conversation import ModelToolCall
from hookonce.lab.fakes.scenarios import MCP_SERVER
from hookonce.model import Json, Object

_PROVIDER, _FOLDER = "openai-compatible", ".cline/data/settings"
_DENY_RULE: Object = {"event": "before_tool_execute", "say": {"decision": "deny", "reason": "the lab refuses"}}


def _home_files(env: RunEnv) -> dict[str, Json]:
    """The files that `cline auth`, `cline mcp` and its settings would write."""
    settings = {"provider": _PROVIDER, "apiKey": "no-key", "model": "scripted", "baseUrl": f"{env.url}/v1"}
    entry = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    providers = {"version": 1, "lastUsedProvider": _PROVIDER, "modes": {}, "providers": {_PROVIDER: entry}}
    return {
        f"{_FOLDER}/providers.json": providers,
        f"{_FOLDER}/cline_mcp_settings.json": {"mcpServers": {MCP_SERVER: env.mcp_entry}},
        # Else it tries for eight seconds to reach its makers before it ends.
        f"{_FOLDER}/global-settings.json": {"telemetryOptOut": True, "autoUpdateEnabled": False},
    }


DRIVER = Driver(
    agent="cline",
    version="3.0.65",
    program="@cline/cli-{platform}/bin/cline",
    home_files=_home_files,
    command=lambda env: [str(env.program), "--json", env.prompt],
    # Without its hub, a daemon on a fixed port that the first run would start for the ones after it.
    environment=lambda _: {"CLINE_NO_AUTO_UPDATE": "1", "CLINE_SESSION_BACKEND_MODE": "local"},
    tool_calls={
        "shell": lambda arguments, _: ModelToolCall("run_commands", {"commands": [arguments["command"]]}),
        "file_read": lambda arguments, _: ModelToolCall("read_files", {"files": [{"path": arguments["path"]}]}),
        "file_write": lambda words, _: ModelToolCall("editor", {"path": words["path"], "new_text": words["content"]}),
        "web_fetch": lambda arguments, _: ModelToolCall("fetch_web_content", {"requests": [arguments]}),
    },
    extra_arguments={"agent": {"systemPrompt": "You work for the lab."}},
    unreachable={
        "fires:TaskResume": "a session can be resumed at a terminal only",
        "fires:TaskCancel": "comes when a person cancels the task",
        "fires:UserPromptSubmit": "never comes in a run of one prompt, with its hub or without",
    },
    extra_runs=(ExtraRun(scenario="error"), ExtraRun(scenario="refuse-shell", rules=(_DENY_RULE,))),
    unsteady_events=frozenset({"TaskError"}),  # it waits for nobody there
    ends_on_refusal=True,
)

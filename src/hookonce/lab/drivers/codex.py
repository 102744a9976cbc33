"""Codex driver: `codex exec` with a local provider; hooks are trusted by `install --trust`."""

from shlex import quote

from hookonce.base.jsontext import dump
from hookonce.lab.drivers import Driver, ExtraRun, RunEnv
from hookonce.lab.fakes.conversation import Conversation, ModelToolCall
from hookonce.lab.fakes.scenarios import MCP_SERVER
from hookonce.model import Json, Object

_SETTINGS = """\
model = "gpt-5.5"
model_provider = "lab"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.lab]
name = "lab"
base_url = {url}
wire_api = "responses"
env_key = "LAB_KEY"
request_max_retries = 0
stream_max_retries = 0

[mcp_servers.{server}]
command = {program}
args = {arguments}
"""
_COMPACT_NOTE = "comes only when a long conversation is shortened, or a program asks its app server for that"


def _home_files(env: RunEnv) -> dict[str, Json]:
    values = {"url": f"{env.url}/v1", "program": env.mcp[0], "arguments": env.mcp[1:]}
    texts = {name: dump(value).decode() for name, value in values.items()}
    return {".codex/config.toml": _SETTINGS.format(server=MCP_SERVER, **texts)}


def _command(env: RunEnv, *options: str) -> list[str]:
    return [str(env.program), "exec", "--json", "--skip-git-repo-check", *options, env.prompt]


def _shell_call(arguments: Object, conversation: Conversation) -> ModelToolCall:
    if "exec_command" in conversation.tools:
        return ModelToolCall("exec_command", {"cmd": arguments["command"]})
    if "shell_command" in conversation.tools:
        return ModelToolCall("shell_command", {"command": arguments["command"]})
    return ModelToolCall("shell", {"command": ["sh", "-c", arguments["command"]]})


def _write_call(arguments: Object, conversation: Conversation) -> ModelToolCall:
    lines = "".join(f"+{line}\n" for line in arguments["content"].splitlines())
    return _patch_call(f"*** Add File: {arguments['path']}\n{lines}", conversation)


def _edit_call(arguments: Object, conversation: Conversation) -> ModelToolCall:
    lines = f"-{arguments['old_text']}\n+{arguments['new_text']}\n"
    return _patch_call(f"*** Update File: {arguments['path']}\n@@\n{lines}", conversation)


def _patch_call(body: str, conversation: Conversation) -> ModelToolCall:
    text = f"*** Begin Patch\n{body}*** End Patch\n"
    offer = conversation.tools.get("apply_patch")
    return ModelToolCall("apply_patch", {"input": text} if offer is not None and not offer.takes_text else text)


DRIVER = Driver(
    agent="codex",
    version="0.166.0",
    program="@openai/codex-{platform}/vendor/*/bin/codex",
    install=("--trust",),
    home_files=_home_files,
    command=_command,
    environment=lambda env: {"LAB_KEY": "no-key", "CODEX_HOME": str(env.home / ".codex")},
    tool_calls={
        "shell": _shell_call,
        # There is no tool for reading: models do it with a command.
        "file_read": lambda words, talk: _shell_call({"command": f"cat {quote(words['path'])}"}, talk),
        "file_write": _write_call,
        "file_edit": _edit_call,
        "agent": lambda words, _: ModelToolCall("spawn_agent", {"message": words["prompt"]}, "multi_agent_v1"),
        "mcp": lambda arguments, _: ModelToolCall("echo", arguments, f"mcp__{MCP_SERVER}"),
    },
    unreachable={
        "fires:Interrupt": "comes when a person interrupts a turn",
        "fires:PreCompact": _COMPACT_NOTE,
        "fires:PostCompact": _COMPACT_NOTE,
    },
    # In its sandbox tools of MCP servers need an approval that nobody can give, unless a hook does.
    extra_runs=(
        ExtraRun(scenario="refuse-mcp", command=lambda env: _command(env, "-c", 'sandbox_mode="workspace-write"')),
    ),
    expected_events=frozenset({"PermissionRequest"}),
)

"""Codex in the lab: `codex exec` with a provider of ours; hooks are trusted as `install --trust` does it."""

from shlex import quote

from hookonce.lab.driver import Driver, Stand, Trip
from hookonce.lab.scenarios import SERVER
from hookonce.lab.talk import Call, Talk
from hookonce.model import Object
from hookonce.texts import dump

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
_NEVER = "comes when a person interrupts a turn"
_APP = "comes only when a long conversation is shortened, or a program asks its app server for that"


def _prepare(stand: Stand) -> None:
    folder = stand.home / ".codex"
    folder.mkdir()
    told = {"url": f"{stand.url}/v1", "program": stand.mcp[0], "arguments": stand.mcp[1:]}
    made = _SETTINGS.format(server=SERVER, **{name: dump(value).decode() for name, value in told.items()})
    (folder / "config.toml").write_text(made, encoding="utf-8")


def _words(stand: Stand) -> list[str]:
    return [str(stand.program), "exec", "--json", "--skip-git-repo-check", stand.prompt]


def _sandboxed(stand: Stand) -> list[str]:
    """Where tools of MCP servers need an approval that nobody can give, unless a hook does."""
    return [*_words(stand)[:-1], "-c", 'sandbox_mode="workspace-write"', stand.prompt]


def _environment(stand: Stand) -> dict[str, str]:
    return {"LAB_KEY": "no-key", "CODEX_HOME": str(stand.home / ".codex")}


def _shell(given: Object, talk: Talk) -> Call:
    if "exec_command" in talk.tools:
        return Call("exec_command", {"cmd": given["command"]})
    if "shell_command" in talk.tools:
        return Call("shell_command", {"command": given["command"]})
    return Call("shell", {"command": ["sh", "-c", given["command"]]})


def _read(given: Object, talk: Talk) -> Call:
    """There is no tool for reading: models do it with a command."""
    return _shell({"command": f"cat {quote(given['path'])}"}, talk)


def _write(given: Object, talk: Talk) -> Call:
    lines = "".join(f"+{line}\n" for line in given["content"].splitlines())
    return _patch(f"*** Add File: {given['path']}\n{lines}", talk)


def _edit(given: Object, talk: Talk) -> Call:
    return _patch(f"*** Update File: {given['path']}\n@@\n-{given['old_text']}\n+{given['new_text']}\n", talk)


def _patch(body: str, talk: Talk) -> Call:
    text = f"*** Begin Patch\n{body}*** End Patch\n"
    offer = talk.tools.get("apply_patch")
    return Call("apply_patch", {"input": text} if offer is not None and not offer.free else text)


def _agent(given: Object, _talk: Talk) -> Call:
    return Call("spawn_agent", {"message": given["prompt"]}, "multi_agent_v1")


def _mcp(given: Object, _talk: Talk) -> Call:
    return Call("echo", given, f"mcp__{SERVER}")


DRIVER = Driver(
    agent="codex",
    version="0.166.0",
    program="@openai/codex-{platform}/vendor/*/bin/codex",
    install=("--trust",),
    prepare=_prepare,
    words=_words,
    environment=_environment,
    calls={
        "shell": _shell,
        "file_read": _read,
        "file_write": _write,
        "file_edit": _edit,
        "agent": _agent,
        "mcp": _mcp,
    },
    unreachable={"fires:Interrupt": _NEVER, "fires:PreCompact": _APP, "fires:PostCompact": _APP},
    trips=(Trip(scenario="refuse-mcp", words=_sandboxed),),
    expects=frozenset(
        {
            "PermissionRequest",
        }
    ),
)

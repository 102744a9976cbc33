"""Cline in the lab: one prompt, a provider of ours, its tools approved as its command line does by itself."""

from hookonce.lab.driver import Driver, Stand, Trip
from hookonce.lab.scenarios import SERVER
from hookonce.lab.talk import Call, Talk
from hookonce.model import Object
from hookonce.texts import dump

_PROVIDER = "openai-compatible"
_REFUSED: Object = {"event": "before_tool_execute", "say": {"decision": "deny", "reason": "the lab refuses"}}


def _prepare(stand: Stand) -> None:
    """The files that `cline auth`, `cline mcp` and its settings would write."""
    folder = stand.home / ".cline/data/settings"
    folder.mkdir(parents=True)
    settings = {"provider": _PROVIDER, "apiKey": "no-key", "model": "scripted", "baseUrl": f"{stand.url}/v1"}
    entry = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    known = {"version": 1, "lastUsedProvider": _PROVIDER, "modes": {}, "providers": {_PROVIDER: entry}}
    servers = {SERVER: {"command": stand.mcp[0], "args": stand.mcp[1:]}}
    # Else it tries for eight seconds to reach its makers before it ends.
    quiet = {"telemetryOptOut": True, "autoUpdateEnabled": False}
    (folder / "providers.json").write_bytes(dump(known))
    (folder / "cline_mcp_settings.json").write_bytes(dump({"mcpServers": servers}))
    (folder / "global-settings.json").write_bytes(dump(quiet))


def _words(stand: Stand) -> list[str]:
    return [str(stand.program), "--json", stand.prompt]


def _environment(_stand: Stand) -> dict[str, str]:
    """Without its hub, a daemon on a fixed port that the first run would start for the ones after it."""
    return {"CLINE_NO_AUTO_UPDATE": "1", "CLINE_SESSION_BACKEND_MODE": "local"}


def _shell(given: Object, _talk: Talk) -> Call:
    return Call("run_commands", {"commands": [given["command"]]})


def _read(given: Object, _talk: Talk) -> Call:
    return Call("read_files", {"files": [{"path": given["path"]}]})


def _write(given: Object, _talk: Talk) -> Call:
    return Call("editor", {"path": given["path"], "new_text": given["content"]})


def _fetch(given: Object, _talk: Talk) -> Call:
    return Call("fetch_web_content", {"requests": [given]})


DRIVER = Driver(
    agent="cline",
    version="3.0.65",
    program="@cline/cli-{platform}/bin/cline",
    prepare=_prepare,
    words=_words,
    environment=_environment,
    calls={"shell": _shell, "file_read": _read, "file_write": _write, "web_fetch": _fetch},
    more={"agent": {"systemPrompt": "You work for the lab."}},
    unreachable={
        "fires:TaskResume": "a session can be resumed at a terminal only",
        "fires:TaskCancel": "comes when a person cancels the task",
        "fires:UserPromptSubmit": "never comes in a run of one prompt, with its hub or without",
    },
    trips=(Trip(scenario="error"), Trip(scenario="refuse-shell", rules=(_REFUSED,))),
    comes_and_goes=frozenset({"TaskError"}),  # it waits for nobody there
    fragile=True,
)

"""OpenCode in the lab: `opencode run` with a provider of ours; what it would ask a person is granted by `--auto`."""

from pathlib import Path

from hookonce.lab.driver import Driver, Stand, Trip
from hookonce.lab.scenarios import ECHO, SERVER
from hookonce.model import Object
from hookonce.texts import dump

_OFF = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")


def _prepare(stand: Stand) -> None:
    folder = stand.home / ".config/opencode"
    folder.mkdir(parents=True)
    _temporary(stand).mkdir()
    (folder / "opencode.json").write_bytes(dump(_settings(stand)))
    _furnish(folder)


def _settings(stand: Stand) -> Object:
    provider = {
        "npm": "@ai-sdk/openai-compatible",  # built in
        "options": {"baseURL": f"{stand.url}/v1", "apiKey": "no-key"},
        "models": {"scripted": {"tool_call": True, "limit": {"context": 200_000, "output": 8_000}}},
    }
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": "lab/scripted",
        "small_model": "lab/scripted",
        "provider": {"lab": provider},
        "mcp": {SERVER: {"type": "local", "command": stand.mcp, "enabled": True}},
        "permission": {f"{SERVER}_{ECHO}": "ask"},  # everything else is allowed unless its user says otherwise
    }


def _furnish(folder: Path) -> None:
    """What it would else install from the network before it loads a plugin, whether one needs it or not.

    It asks no more than whether the folder is there and the lock names the package. Ours does not need it.
    """
    wanted = {"dependencies": {"@opencode-ai/plugin": "*"}}
    (folder / "package.json").write_bytes(dump(wanted))
    (folder / "package-lock.json").write_bytes(dump({"lockfileVersion": 3, "packages": {"": wanted}}))
    (folder / "node_modules").mkdir()


def _temporary(stand: Stand) -> Path:
    """It unpacks a library in each run, and leaves it there."""
    return stand.home / "tmp"


def _words(stand: Stand) -> list[str]:
    return [str(stand.program), "run", "--auto", stand.prompt]


def _environment(stand: Stand) -> dict[str, str]:
    return {f"OPENCODE_DISABLE_{name}": "true" for name in _OFF} | {"TMPDIR": str(_temporary(stand))}


DRIVER = Driver(
    agent="opencode",
    version="1.18.33",
    program="opencode-{platform}/bin/opencode",
    prepare=_prepare,
    words=_words,
    environment=_environment,
    more={"shell": {"description": "a command of the lab"}, "agent": {"subagent_type": "general"}},
    unreachable={
        "fires:session.deleted": "comes when a person deletes a session",
        "fires:permission.v2.asked": "belongs to a kind of session that `opencode run` does not begin",
        "fires:permission.updated": "is what older versions call permission.asked",
    },
    trips=(Trip(scenario="error"),),
    expects=frozenset(
        {
            "file.edited",
            "permission.asked",
            "session.error",
        }
    ),
)

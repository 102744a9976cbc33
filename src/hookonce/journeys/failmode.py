"""What an agent hears when we fail: its silence, or its refusal where a hook of the user's says so.

The answers lie beside the client, made beforehand, for the case that not even an interpreter is there.
"""

from hashlib import sha256
from pathlib import Path

from hookonce import agents
from hookonce.agents import config_of, kind_of, natives, point_of
from hookonce.canon.weaken import weaken
from hookonce.config import paths
from hookonce.edit.file import read_file, replace_file
from hookonce.errors import HookonceError
from hookonce.manifest.discover import Source, sources
from hookonce.manifest.load import load
from hookonce.model import Agent, Decision, Reply

_REASON = "hookonce could not ask the hooks that have to be asked"


def folder() -> Path:
    """Where the answers lie: a file for each part of each answer."""
    return paths.client().with_name("failmode")


def open_reply(agent: Agent) -> Reply:
    """No opinion, as the agent takes it."""
    return Reply(stdout=config_of(agent).silence)


def closed_reply(agent: Agent, native: str) -> Reply:
    """The agent's own refusal, as far as the event has one."""
    decision, _ = weaken(Decision(outcome="deny", reason=_REASON), point_of(agent, native))
    if agent.reply is None or decision == Decision():
        return open_reply(agent)
    return agent.reply(native, decision, None)


def reply(agent: str, native: str | None) -> Reply:
    """The answer for a failed call, from the files that were made beforehand; whoever is unknown hears nothing."""
    try:
        known = agents.load(agent)
    except HookonceError:
        return Reply()
    place = folder() / known.name / (native or "")
    try:
        code = int((place / "code").read_text(encoding="ascii"))
        told = (place / "stdout").read_text(encoding="utf-8").removesuffix("\n")
        return Reply(stdout=told, stderr=(place / "stderr").read_text(encoding="utf-8"), code=code)
    except (OSError, ValueError):
        return open_reply(known)


def closed_events() -> set[str]:
    """The canonical events for which some hook above the project is closed."""
    found: set[str] = set()
    for source in _above():
        hooks = load(source.data).hooks if source.problem is None else []
        found |= {hook.event for hook in hooks if hook.on_failure == "closed" and hook.blocking}
    return found


def _above() -> list[Source]:
    return [source for source in sources(None) if not source.is_openhook]


def refresh() -> None:
    """Make the answers anew if the manifests have changed since; one that cannot be read leaves them as they are."""
    stamp = sha256(b"\0".join(source.data for source in _above())).hexdigest().encode()
    place = folder() / "stamp"
    if not paths.client().exists() or read_file(place) == stamp:
        return
    closed = closed_events()
    for agent in map(agents.load, agents.AGENTS):
        for native in natives(agent):
            _keep(agent, native, closed=kind_of(agent, native) in closed)
    replace_file(place, stamp, mode=0o600)


def _keep(agent: Agent, native: str, *, closed: bool) -> None:
    place = folder() / agent.name / native
    if not closed:
        (place / "code").unlink(missing_ok=True)
        return
    made = closed_reply(agent, native)
    said = f"{made.stdout}\n" if made.stdout else ""
    parts = {"stdout": said, "stderr": made.stderr, "code": f"{made.code}\n"}  # the code last: it makes it count
    for name, text in parts.items():
        replace_file(place / name, text.encode(), mode=0o600)

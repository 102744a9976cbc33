"""Code of somebody else's: hooks that only their own agent can run, kept as the file that they stand in."""

import re
from collections.abc import Callable

from hookonce.agents.configs.entry import lost_gap, own_keys, build_provider_data
from hookonce.agents.configs.point import effect_of, canonical_event_of, point_of
from hookonce.model import Agent, Gap, Handler, Hook, Object

CODE_HANDLER = "code"
_FILE_NAME = re.compile(r"\w[\w.-]*")  # of a file: never a path


def build_code_hooks(agent: Agent, name: str, text: str, natives: list[str]) -> list[Hook]:
    """A hook with a code handler for each event at which a foreign file runs."""
    return [
        Hook(
            event=canonical_event_of(agent, native),
            handler=Handler(type=CODE_HANDLER),
            blocking=bool(point_of(agent, native).capabilities & {"prevent", "retry"}),
            provider_data=build_provider_data(agent, {"file": name, "text": text}, {"event": native}),
        )
        for native in natives
    ]


def code_file_gap(agent: Agent, name: str, hooks: list[Hook], why: str = "is code") -> Gap:
    """The gap that foreign code is kept for its own agent and not converted."""
    powers = {effect_of(hook, point_of(agent, hook.provider_data[agent.name]["hookonce"]["event"])) for hook in hooks}
    strongest = next((power for power in ("prevents", "later") if power in powers), "observes")
    note = f"{name} {why}; it can be kept for {agent.title}, not converted"
    return Gap(where=f"$.files.{name}", capability="handler", strategy="kept", effect=strongest, note=note)


def restore_code_file(
    agent: Agent, index: int, hook: Hook, files: Object, parse_file: Callable[[Agent, str, str], list[Hook]]
) -> list[Gap]:
    """Put a foreign file back among the others; its data is believed only if it parses as that hook again."""
    own = own_keys(agent, hook)
    name, text = own.get("file"), own.get("text")
    if type(name) is not str or type(text) is not str or _FILE_NAME.fullmatch(name) is None:
        return [lost_gap(index, hook, "handler", "what is kept of its code is no file")]
    if not any((candidate.event, candidate.handler) == (hook.event, hook.handler) for candidate in parse_file(agent, name, text)):
        return [lost_gap(index, hook, "handler", f"{name} is no code for that event")]
    if files.setdefault(name, text) != text:
        return [lost_gap(index, hook, "handler", f"there is another file called {name}")]
    return []

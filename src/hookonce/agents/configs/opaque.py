"""Code of somebody else's: hooks that only their own agent can run, kept as the file that they stand in."""

import re
from collections.abc import Callable

from hookonce.agents.configs.entry import lost, own_keys, provider_data
from hookonce.agents.configs.point import effect, kind_of, point_of
from hookonce.model import Agent, Gap, Handler, Hook, Object

CODE = "code"
_NAME = re.compile(r"\w[\w.-]*")  # of a file: never a path


def opaque(agent: Agent, name: str, text: str, natives: list[str]) -> list[Hook]:
    """A hook for each event at which a file runs."""
    return [
        Hook(
            event=kind_of(agent, native),
            handler=Handler(type=CODE),
            blocking=bool(point_of(agent, native).can & {"prevent", "retry"}),
            provider_data=provider_data(agent, {"file": name, "text": text}, {"event": native}),
        )
        for native in natives
    ]


def opaque_gap(agent: Agent, name: str, hooks: list[Hook], why: str = "is code") -> Gap:
    """That such a file stays what it is."""
    powers = {effect(hook, point_of(agent, hook.provider_data[agent.name]["hookonce"]["event"])) for hook in hooks}
    strongest = next((power for power in ("prevents", "later") if power in powers), "observes")
    note = f"{name} {why}; it can be kept for {agent.title}, not converted"
    return Gap(where=f"$.files.{name}", capability="handler", strategy="kept", effect=strongest, note=note)


def keep(
    agent: Agent, index: int, hook: Hook, files: Object, read: Callable[[Agent, str, str], list[Hook]]
) -> list[Gap]:
    """Put the file of such a hook among the others; its data is believed only if it reads as that hook again."""
    own = own_keys(agent, hook)
    name, text = own.get("file"), own.get("text")
    if type(name) is not str or type(text) is not str or _NAME.fullmatch(name) is None:
        return [lost(index, hook, "handler", "what is kept of its code is no file")]
    if not any((found.event, found.handler) == (hook.event, hook.handler) for found in read(agent, name, text)):
        return [lost(index, hook, "handler", f"{name} is no code for that event")]
    if files.setdefault(name, text) != text:
        return [lost(index, hook, "handler", f"there is another file called {name}")]
    return []

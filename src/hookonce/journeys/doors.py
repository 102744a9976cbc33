"""Our doors: the entries through which an agent calls hookonce, one for each event."""

import shlex
from pathlib import Path
from typing import Literal

from hookonce import invocation
from hookonce.agents import _http, config_of, kind_of, natives, point_of
from hookonce.config import paths
from hookonce.invocation import Invocation
from hookonce.model import Agent, Handler, Hook
from hookonce.runtime.address import Address

Events = Literal["default", "all"]
_WAIT = 60  # seconds that an event may wait for an answer that decides something
_FEWEST = 2  # words of a door: our client, and whose it is
_GLANCE = 5  # and one that only tells
_WAKES = frozenset({"session_start", "before_prompt"})  # our client runs there in any case, and starts the daemon


def doors(
    agent: Agent, scope: str, client: str, events: Events = "default", address: Address | None = None
) -> list[Hook]:
    """A hook for each event of the agent's default set, or for all but those that must never be taken.

    With an address, what the agent can post it posts there.
    """
    wanted = {"default"} if events == "default" else {"default", "opt-in"}
    natives_of = [native for native in natives(agent) if point_of(agent, native).install in wanted]
    return [_door(agent, native, scope, client, address) for native in natives_of]


def _door(agent: Agent, native: str, scope: str, client: str, address: Address | None) -> Hook:
    kind = kind_of(agent, native)
    posts = address is not None and kind not in _WAKES and native not in _http.COMMANDS[agent.name]
    call = Invocation(address.base if address and posts else client, agent.name, native, via=f"{agent.name}/{scope}")
    text, patience = invocation.write(call), timeout(agent, native)
    if address and posts:
        handler = Handler(type="http", url=text, headers=address.headers, timeout=patience)
    else:
        handler = Handler(type="command", command=text, timeout=patience)
    return Hook(
        event=kind,
        handler=handler,
        blocking=bool(point_of(agent, native).can & {"prevent", "retry"}),
        provider_data={agent.name: {"hookonce": {"event": native}}},
    )


def called(handler: Handler) -> str | None:
    """What an entry calls: a command, or an address."""
    return handler.command or handler.url


def timeout(agent: Agent, native: str) -> int | float:
    """The native timeout that is written: constants, because a changed one costs the user's trust again."""
    known, config = point_of(agent, native), config_of(agent)
    wish = _WAIT if known.can & {"prevent", "retry"} else _GLANCE
    return min(limit for limit in (wish, known.cap, config.longest) if limit is not None)


def is_ours(called: str | None, client: str, agent: Agent | None = None) -> bool:
    """Whether an entry is a door of this user's hookonce: our path and `--via`, or an address that says the same.

    Of one agent if that is named.
    """
    call = invocation.read(called or "")
    if call is None or call.via is None or (agent is not None and call.agent != agent.name):
        return False
    return call.client == client or invocation.is_address(call.client)


def is_stale(called: str | None, client: str, agent: Agent) -> bool:
    """Whether an entry is an old door of ours that leads nowhere: its client is gone, or it says too little to be one.

    In a project's files the entries of another home are its own user's matter.
    """
    words = _words(called or "")
    if len(words) < _FEWEST or Path(words[0]).name != invocation.CLIENT or words[1] != agent.name:
        return False
    call = invocation.parse(words)
    if words[0] == client:
        return call is None or (call.via is None and call.run is None)
    if call is None or call.via is None or not Path(words[0]).is_absolute() or Path(words[0]).exists():
        return False
    return call.via == f"{agent.name}/user" or Path(words[0]).is_relative_to(paths.home())


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    return words if shlex.join(words) == command else []


def unwrapped(command: str, client: str) -> str | None:
    """The script inside a wrapper of ours; None if the command is none."""
    call = invocation.read(command)
    return call.run if call is not None and call.client == client else None

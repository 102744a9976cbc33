"""Our doors: the entries through which an agent calls hookonce, one for each event."""

from typing import Literal

from hookonce import invocation
from hookonce.agents import config_of, kind_of, natives, point_of
from hookonce.invocation import Invocation
from hookonce.model import Agent, Handler, Hook

Events = Literal["default", "all"]
_WAIT = 60  # seconds that an event may wait for an answer that decides something
_GLANCE = 5  # and one that only tells


def doors(agent: Agent, scope: str, client: str, events: Events = "default") -> list[Hook]:
    """A hook for each event of the agent's default set, or for all but those that must never be taken."""
    wanted = {"default"} if events == "default" else {"default", "opt-in"}
    return [_door(agent, native, scope, client) for native in natives(agent) if _takes(agent, native) in wanted]


def _takes(agent: Agent, native: str) -> str:
    return point_of(agent, native).install


def _door(agent: Agent, native: str, scope: str, client: str) -> Hook:
    call = Invocation(client, agent.name, native, via=f"{agent.name}/{scope}")
    return Hook(
        event=kind_of(agent, native),
        handler=Handler(type="command", command=invocation.write(call), timeout=timeout(agent, native)),
        blocking=bool(point_of(agent, native).can & {"prevent", "retry"}),
        provider_data={agent.name: {"hookonce": {"event": native}}},
    )


def timeout(agent: Agent, native: str) -> int | float:
    """The native timeout that is written: constants, because a changed one costs the user's trust again."""
    known, config = point_of(agent, native), config_of(agent)
    wish = _WAIT if known.can & {"prevent", "retry"} else _GLANCE
    return min(limit for limit in (wish, known.cap, config.longest) if limit is not None)


def is_ours(command: str | None, client: str, agent: Agent | None = None) -> bool:
    """Whether a command is a door of this user's hookonce: our path, and `--via`; of one agent if that is named."""
    call = invocation.read(command or "")
    mine = call is not None and call.client == client and call.via is not None
    return mine and (agent is None or call is None or call.agent == agent.name)


def unwrapped(command: str, client: str) -> str | None:
    """The script inside a wrapper of ours; None if the command is none."""
    call = invocation.read(command)
    return call.run if call is not None and call.client == client else None

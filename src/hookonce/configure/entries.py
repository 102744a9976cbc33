"""Configuration entries of hookonce: the hooks through which an agent calls us, one for each event."""

import shlex
from pathlib import Path
from typing import Literal

from hookonce.agents import canonical_event_of, config_events, config_of, http_reply, point_of
from hookonce.base import invocation, paths
from hookonce.base.invocation import Invocation
from hookonce.client.daemon_endpoints import HttpAddress
from hookonce.model import Agent, Handler, Hook

EventSet = Literal["default", "all"]
_DECISION_TIMEOUT_S = 60  # seconds that an event may wait for an answer that decides something
_MIN_ENTRY_WORDS = 2  # words of a door: our client, and whose it is
_OBSERVE_TIMEOUT_S = 5  # and one that only tells
_COMMAND_EVENTS = frozenset(
    {"session_start", "before_prompt"}
)  # our client runs there in any case, and starts the daemon


def build_entries(
    agent: Agent, scope: str, client: str, events: EventSet = "default", address: HttpAddress | None = None
) -> list[Hook]:
    """Build an entry for each event of the agent's default set, or for all but those that must never be taken.

    With an address, what the agent can post it posts there.
    """
    install_modes = {"default"} if events == "default" else {"default", "opt-in"}
    native_events = [native for native in config_events(agent) if point_of(agent, native).install in install_modes]
    return [_build_entry(agent, native, scope, client, address) for native in native_events]


def _build_entry(agent: Agent, native: str, scope: str, client: str, address: HttpAddress | None) -> Hook:
    kind = canonical_event_of(agent, native)
    is_http = (
        address is not None and kind not in _COMMAND_EVENTS and native not in http_reply.COMMAND_EVENTS[agent.name]
    )
    call = Invocation(address.base if address and is_http else client, agent.name, native, via=f"{agent.name}/{scope}")
    target, timeout_s = invocation.format_command(call), entry_timeout(agent, native)
    if address and is_http:
        handler = Handler(type="http", url=target, headers=address.headers, timeout=timeout_s)
    else:
        handler = Handler(type="command", command=target, timeout=timeout_s)
    return Hook(
        event=kind,
        handler=handler,
        blocking=bool(point_of(agent, native).capabilities & {"prevent", "retry"}),
        provider_data={agent.name: {"hookonce": {"event": native}}},
    )


def call_target(handler: Handler) -> str | None:
    """What an entry calls: a command, or a URL."""
    return handler.command or handler.url


def entry_timeout(agent: Agent, native: str) -> int | float:
    """The timeout that is written into an entry: constants, because a changed one costs the user's trust again."""
    point, config = point_of(agent, native), config_of(agent)
    preferred_s = _DECISION_TIMEOUT_S if point.capabilities & {"prevent", "retry"} else _OBSERVE_TIMEOUT_S
    return min(limit for limit in (preferred_s, point.hard_timeout_s, config.longest) if limit is not None)


def is_own_entry(target: str | None, client: str, agent: Agent | None = None) -> bool:
    """Whether an entry is one of this user's hookonce: our path and `--via`, or a URL that says the same.

    Of one agent if that is named.
    """
    call = invocation.parse_command(target or "")
    if call is None or call.via is None or (agent is not None and call.agent != agent.name):
        return False
    return call.client == client or invocation.is_address(call.client)


def is_stale_entry(target: str | None, client: str, agent: Agent) -> bool:
    """Whether an entry is an old one of ours that leads nowhere: no client, or too few words.

    In a project's files the entries of another home are its own user's matter.
    """
    words = _split_command(target or "")
    if len(words) < _MIN_ENTRY_WORDS or Path(words[0]).name != invocation.CLIENT_NAME or words[1] != agent.name:
        return False
    call = invocation.parse_words(words)
    if words[0] == client:
        return call is None or (call.via is None and call.run is None)
    if call is None or call.via is None or not Path(words[0]).is_absolute() or Path(words[0]).exists():
        return False
    return call.via == f"{agent.name}/user" or Path(words[0]).is_relative_to(paths.home())


def _split_command(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    return words if shlex.join(words) == command else []


def unwrap_command(command: str, client: str) -> str | None:
    """The script inside a wrapper of ours; None if the command is none."""
    call = invocation.parse_command(command)
    return call.run if call is not None and call.client == client else None

"""Configuration entries of hookonce: the hooks through which an agent calls us, one for each event."""

from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from hookonce.agents import canonical_event_of, config_events, entry_timeout, http_reply, point_of
from hookonce.base import invocation, paths
from hookonce.base.invocation import Invocation
from hookonce.client.daemon_endpoints import HttpAddress
from hookonce.configure.merge import ARGUMENTS_KEY
from hookonce.model import Agent, Handler, Hook

EventSet = Literal["default", "all"]
_MIN_ENTRY_WORDS = 2  # words of a door: our client, and whose it is
_COMMAND_EVENTS = {"session_start", "before_prompt"}  # our client runs there in any case, and starts the daemon


def build_entries(
    agent: Agent,
    scope: str,
    client: str,
    events: EventSet = "default",
    address: HttpAddress | None = None,
    *,
    has_args: bool = False,
) -> list[Hook]:
    """Build an entry for each event of a set; with an address, what the agent can post it posts there.

    With `has_args` the agent starts our client itself; else a shell does.
    """
    install_modes = {"default"} if events == "default" else {"default", "opt-in"}
    native_events = [native for native in config_events(agent) if point_of(agent, native).install in install_modes]
    hooks = [_build_entry(agent, native, scope, client, address) for native in native_events]
    return [_with_args(agent, hook) for hook in hooks] if has_args else hooks


def _with_args(agent: Agent, hook: Hook) -> Hook:
    """An entry in the exec form: the agent's own key says where the command ends and its arguments begin."""
    words = invocation.split_client_words(hook.handler.command or "")[1:]
    own_data = hook.provider_data[agent.name] | ({ARGUMENTS_KEY: words} if words else {})
    return replace(hook, provider_data={agent.name: own_data})


def _build_entry(agent: Agent, native: str, scope: str, client: str, address: HttpAddress | None) -> Hook:
    kind = canonical_event_of(agent, native)
    if address and (kind in _COMMAND_EVENTS or native in http_reply.COMMAND_EVENTS[agent.name]):
        address = None
    call = Invocation(address.base if address else client, agent.name, native, via=f"{agent.name}/{scope}")
    target, timeout_s = invocation.format_command(call), entry_timeout(agent, native)
    if scope == "project" and not address:  # others get it by the repository: it finds their client, or says nothing
        target = invocation.format_launcher(call, 0, agent.config.silence, "")
    if address:
        handler = Handler(type="http", url=target, headers=address.headers, timeout=timeout_s)
    else:
        handler = Handler(type="command", command=target, timeout=timeout_s)
    return Hook(
        event=kind,
        handler=handler,
        blocking=bool(point_of(agent, native).capabilities & {"prevent", "retry"}),
        provider_data={agent.name: {"hookonce": {"event": native}}},
    )


def entry_event(target: str | None) -> str:
    """The native event of an entry of hookonce; empty for any other target."""
    call = invocation.parse_command(target or "")
    return (call and call.event) or ""


def is_stale_entry(target: str | None, client: str, agent: Agent) -> bool:
    """Whether an entry is an old one of ours that leads nowhere: no client, or too few words."""
    words = invocation.split_client_words(target or "")
    if len(words) < _MIN_ENTRY_WORDS or Path(words[0]).name != invocation.CLIENT_NAME or words[1] != agent.name:
        return False
    call = invocation.parse_words(words)
    if words[0] == client:
        return call is None or (call.via is None and call.run is None)
    if call is None or call.via is None or not Path(words[0]).is_absolute() or Path(words[0]).exists():
        return False
    # In a project's files the entries of another home are its own user's matter.
    return call.via == f"{agent.name}/user" or Path(words[0]).is_relative_to(paths.home())

"""hindered: entries of ours that stand where they should, and that the agent does not run; and why it does not."""

from typing import Literal

from msgspec import Struct

from hookonce.journeys.doctor import check_switches, check_review
from hookonce.journeys.folder_trust import distrust_reason
from hookonce.journeys.places import ConfigRoots
from hookonce.journeys.survey import InstallStatus
from hookonce.model import Agent

_CALLING_STATES = frozenset({"installed", "partly", "outdated"})


class BlockedScope(Struct, frozen=True, kw_only=True):
    """One scope of an agent whose entries do not run: switched off, or not trusted."""

    scope: str
    state: Literal["off", "untrusted"]
    why: list[str]


def find_blocked_scopes(agent: Agent, status: InstallStatus, roots: ConfigRoots, client: str) -> list[BlockedScope]:
    """The scopes in which the agent has entries of ours and runs none of them."""
    scopes = [scope for scope in status.scopes if scope.state in _CALLING_STATES]
    if not scopes or any(scope.state == "unreadable" for scope in status.scopes):
        return []
    switch_messages = [diagnosis.message for diagnosis in check_switches(agent, roots)]
    folder_distrust = distrust_reason(agent, roots)
    review_messages = [(diagnosis.path, diagnosis.message) for diagnosis in check_review(agent, roots, client)]
    blocked_scopes = []
    for scope in scopes:
        messages = [message for path, message in review_messages if path == scope.path] + ([] if folder_distrust is None else [folder_distrust])
        if switch_messages or messages:
            blocked_scopes.append(BlockedScope(scope=scope.scope, state="off" if switch_messages else "untrusted", why=switch_messages + messages))
    return blocked_scopes


def scope_states(status: InstallStatus, blocked_scopes: list[BlockedScope]) -> dict[str, str]:
    """The state of each scope of an agent, in a word."""
    return {scope.scope: scope.state for scope in status.scopes} | {blocked_scope.scope: blocked_scope.state for blocked_scope in blocked_scopes}

"""hindered: entries of ours that stand where they should, and that the agent does not run; and why it does not."""

from typing import Literal

from msgspec import Struct

from hookonce.journeys.doctor import switches, unreviewed
from hookonce.journeys.folder_trust import distrust
from hookonce.journeys.places import Place
from hookonce.journeys.survey import Standing
from hookonce.model import Agent

_CALLS = frozenset({"installed", "partly", "outdated"})


class Hindered(Struct, frozen=True, kw_only=True):
    """One scope of an agent whose entries do not run: switched off, or not trusted."""

    scope: str
    state: Literal["off", "untrusted"]
    why: list[str]


def hindered(agent: Agent, one: Standing, place: Place, client: str) -> list[Hindered]:
    """The scopes in which the agent has entries of ours and runs none of them."""
    scopes = [scope for scope in one.scopes if scope.state in _CALLS]
    if not scopes or any(scope.state == "unreadable" for scope in one.scopes):
        return []
    off = [found.message for found in switches(agent, place)]
    dropped = distrust(agent, place)
    marks = [(found.path, found.message) for found in unreviewed(agent, place, client)]
    told = []
    for scope in scopes:
        doubts = [message for path, message in marks if path == scope.path] + ([] if dropped is None else [dropped])
        if off or doubts:
            told.append(Hindered(scope=scope.scope, state="off" if off else "untrusted", why=off + doubts))
    return told


def states(one: Standing, found: list[Hindered]) -> dict[str, str]:
    """How each scope of an agent stands, in a word."""
    return {scope.scope: scope.state for scope in one.scopes} | {part.scope: part.state for part in found}

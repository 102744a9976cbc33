"""A conversation with a model, as every API tells it, and the turn that is answered."""

from typing import Literal

from msgspec import Struct

from hookonce.model import Object

Role = Literal["system", "user", "assistant", "tool"]


class Said(Struct, frozen=True):
    """One message, or one piece of an API that sends pieces: who, and what text."""

    role: Role
    text: str


class Offer(Struct, frozen=True, kw_only=True):
    """A tool that the model may call; `free` takes a text instead of an object, `space` is the group it is in."""

    properties: tuple[str, ...] = ()
    free: bool = False
    space: str | None = None


class Talk(Struct, frozen=True, kw_only=True):
    """What a request says: the conversation so far, the tools on offer, and in which form an answer is wanted."""

    said: list[Said]
    tools: dict[str, Offer] = {}
    model: str = ""
    streams: bool = False
    wants_json: bool = False


class Call(Struct, frozen=True):
    """A call of a tool, in the agent's own words."""

    name: str
    input: Object | str
    space: str | None = None  # the group of a tool that is not on offer and can be called all the same


class Turn(Struct, frozen=True, kw_only=True):
    """What the model says next; `number` counts its turns, so that ids differ and are the same every time."""

    text: str
    calls: list[Call] = []
    number: int = 0
    scenario: str = "none"


def call_id(turn: Turn, index: int, prefix: str) -> str:
    """The id of a call: no two of a conversation have the same one."""
    return f"{prefix}_{turn.scenario}_{turn.number}_{index}"

"""Conversation types shared by all model APIs: messages, tool offers, tool calls, turns."""

from typing import Literal

from msgspec import Struct

from hookonce.model import Object

Role = Literal["system", "user", "assistant", "tool"]


class ChatMessage(Struct, frozen=True):
    """One message, or one part of an API that sends parts: role and text."""

    role: Role
    text: str


class ToolOffer(Struct, frozen=True, kw_only=True):
    """A tool that the model may call; `free` takes a text instead of an object, `space` is the group it is in."""

    properties: tuple[str, ...] = ()
    takes_text: bool = False
    namespace: str | None = None


class Conversation(Struct, frozen=True, kw_only=True):
    """Parsed request: messages so far, offered tools, and the wanted form of the answer."""

    messages: list[ChatMessage]
    tools: dict[str, ToolOffer] = {}
    model: str = ""
    streams: bool = False
    wants_json: bool = False


class ModelToolCall(Struct, frozen=True):
    """Tool call in the agent's own names."""

    name: str
    input: Object | str
    namespace: str | None = None  # the group of a tool that is not on offer and can be called all the same


class ModelTurn(Struct, frozen=True, kw_only=True):
    """Next turn of the model; `number` makes ids deterministic and distinct."""

    text: str
    calls: list[ModelToolCall] = []
    number: int = 0
    scenario: str = "none"

    def calls_by_id(self) -> list[tuple[str, ModelToolCall]]:
        """The calls, each with an id that no other call of the conversation has."""
        return [(f"{self.scenario}_{self.number}_{index}", call) for index, call in enumerate(self.calls)]

"""Agent handlers: a language model with tools is asked about an event, by a configured command."""

from msgspec.structs import replace

from hookonce.config.models import models
from hookonce.handlers.process import World
from hookonce.handlers.prompt import Asking, by_command, by_endpoint, gap
from hookonce.model import Handler


def asking(handler: Handler, given: bytes, world: World) -> Asking:
    """An agent, to be asked about an event; where there is only a server, its model is asked once, without tools."""
    known = models()
    command = known.agent or known.command
    if command:
        return by_command(command, handler, given, world, known, looks_around=True)
    asked = by_endpoint(known.endpoint or "", handler, given, world, known)
    told = gap("a server answers once and has no tools: this agent runs as a prompt; models.agent names a command")
    return replace(asked, gaps=[*asked.gaps, told])

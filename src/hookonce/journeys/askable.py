"""Whether whoever a hook wants to ask can be asked: a server by its handler, a model by the settings."""

from collections.abc import Iterator, Mapping

from hookonce.errors import HookonceError
from hookonce.handlers import agent, prompt
from hookonce.handlers.http import post_of
from hookonce.handlers.process import Job, World
from hookonce.journeys.errands import LED
from hookonce.journeys.startable import faults
from hookonce.model import Handler

_NOTHING = b"{}"


def obstacles(handler: Handler, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What stands in the way, as a kind and a sentence; nobody is asked to find that out."""
    try:
        if handler.type == "http":
            post_of(handler, _NOTHING, environment)
        if handler.type in LED:
            ask = agent.asking if handler.type == "agent" else prompt.asking
            errand = ask(handler, _NOTHING, World(cwd=None, env=environment)).errand
            if isinstance(errand, Job):
                yield from faults(errand.command, "user")
    except HookonceError as problem:
        yield "model" if handler.type in LED else "http", f"cannot run: {problem}"

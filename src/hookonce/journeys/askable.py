"""Whether whoever a hook wants to ask can be asked: a server by its handler, a model by the settings."""

from collections.abc import Iterator, Mapping

from hookonce.errors import HookonceError
from hookonce.handlers import agent, prompt
from hookonce.handlers.http import build_http_operation
from hookonce.handlers.process import CommandOperation, ProcessContext
from hookonce.journeys.errands import MODEL_HANDLER_TYPES
from hookonce.journeys.startable import command_faults
from hookonce.model import Handler

_EMPTY_PAYLOAD = b"{}"


def remote_obstacles(handler: Handler, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What keeps a server or a model from being called, as a kind and a sentence; nothing is called."""
    try:
        if handler.type == "http":
            build_http_operation(handler, _EMPTY_PAYLOAD, environment)
        if handler.type in MODEL_HANDLER_TYPES:
            prepare = agent.prepare_agent if handler.type == "agent" else prompt.prepare_prompt
            operation = prepare(handler, _EMPTY_PAYLOAD, ProcessContext(cwd=None, env=environment)).operation
            if isinstance(operation, CommandOperation):
                yield from command_faults(operation.command, "user")
    except HookonceError as problem:
        yield "model" if handler.type in MODEL_HANDLER_TYPES else "http", f"cannot run: {problem}"

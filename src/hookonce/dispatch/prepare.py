"""Preparation of a hook: the operation for its handler type, and the parsing of its result."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from sys import platform as system
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from hookonce import formats
from hookonce.base.invocation import CANONICAL_DIALECT
from hookonce.base.jsontext import dump, load
from hookonce.base.regex import lazy_pattern
from hookonce.base.settings import Settings
from hookonce.base.wire import MAX_FRAME_BYTES
from hookonce.dispatch.dialect import decode_output, encode_input, is_agent_dialect
from hookonce.dispatch.hook_privacy import has_open_format
from hookonce.dispatch.select import SelectedHook
from hookonce.errors import UNREADABLE, HookonceError, PayloadError
from hookonce.handlers.command import CommandOperation, ProcessContext
from hookonce.handlers.operation import OperationResult
from hookonce.handlers.verdict import HandlerResult
from hookonce.model import Decision, Event, Gap, Record
from hookonce.vocabulary.names import MODEL_HANDLER_TYPES

if TYPE_CHECKING:
    from hookonce.handlers.function import FunctionRef
    from hookonce.handlers.http import HttpOperation
    from hookonce.handlers.module import ModuleOperation

_MAX_MODULE_BYTES = 1 << 20  # more than that no module has to take
_PLATFORM_NAMES = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
_SCRIPT_PATTERN = lazy_pattern(
    r"[\w.@+-]+(?:/[\w.@+-]+)+(?=\s|$)"
)  # a path from where the hook lies, and no shell's business


class PreparedHook(Struct, frozen=True, kw_only=True):
    """A prepared hook: an operation without timeout, the parser of its result, and gaps of its input."""

    operation: "CommandOperation | HttpOperation | ModuleOperation"
    parse_result: Callable[[OperationResult], HandlerResult]
    gaps: list[Gap]
    knows_exit_codes: bool = False
    is_large: bool = False  # whether its input is larger than what it has to take


def prepare_hook(
    selection: SelectedHook,
    program: "str | FunctionRef",
    event: Event,
    world: ProcessContext,
    decision: Decision | None = None,
    current_settings: Settings | None = None,
) -> PreparedHook:
    """Prepare a hook for an event, and for the decision that a derived one is about; an error if it cannot run."""
    hook, dialect = selection.hook, selection.hook.dialect or CANONICAL_DIALECT
    if hook.handler.type in MODEL_HANDLER_TYPES and is_agent_dialect(dialect):
        dialect = CANONICAL_DIALECT  # an agent's own payload names its user
    try:
        stdin, gaps = encode_input(dialect, event, hook, selection.scope, decision, current_settings)
    except UNREADABLE as problem:
        raise PayloadError(f"the event cannot be written in {dialect} ({type(problem).__name__})") from problem
    is_large = len(stdin) > (_MAX_MODULE_BYTES if hook.handler.type == "module" else MAX_FRAME_BYTES)
    if hook.handler.type == "module":
        return replace(_prepare_module(selection, Record(event=event, decision=decision), world), is_large=is_large)
    if hook.handler.type in MODEL_HANDLER_TYPES:
        return replace(_prepare_prompt(selection, stdin, gaps, world), is_large=is_large)
    if hook.handler.type == "http" and has_open_format(hook):
        stdin, signature_gaps = _sign_body(dialect, stdin)
        gaps = [*gaps, *signature_gaps]
    return PreparedHook(
        operation=_build_operation(selection, program, dialect, stdin, world),
        parse_result=lambda run_result: HandlerResult(
            result=run_result, decision=decode_output(dialect, event, run_result, must_answer=hook.must_answer)
        ),
        gaps=gaps,
        knows_exit_codes=is_agent_dialect(dialect),
        is_large=is_large,
    )


def _build_operation(
    selection: SelectedHook, program: "str | FunctionRef", dialect: str, stdin: bytes, world: ProcessContext
) -> "CommandOperation | HttpOperation | ModuleOperation":
    handler = selection.hook.handler
    if not isinstance(program, str):
        from hookonce.handlers.function import build_function_operation  # most calls do without it

        return build_function_operation(program, stdin, world, is_isolated=selection.hook.isolation == "fork")
    if handler.type == "command":
        return CommandOperation(program, stdin, world, 0.0)
    if handler.type != "http":
        raise HookonceError(f"handlers of type {handler.type} cannot be run")
    from hookonce.handlers.http import build_http_operation  # most calls do without it

    if not has_open_format(selection.hook):
        return build_http_operation(handler, stdin, world.env)
    return build_http_operation(
        handler, stdin, world.env, expects_answer=False, content_type=formats.load(dialect).mime
    )


def _sign_body(dialect: str, body: bytes) -> tuple[bytes, list[Gap]]:
    """A document that leaves the machine, signed; where that cannot be done, as it is, with a gap."""
    from hookonce.store.integrity.signature import sign_document  # most calls do without it

    try:
        return dump(sign_document(dialect, load(body.decode()))), []
    except (OSError, HookonceError) as problem:
        note = f"an event was sent without a signature: {problem}"
        return body, [Gap(where="$.runs", capability="signature", strategy="exclude", effect="observes", note=note)]


def _prepare_module(selection: SelectedHook, record: Record, world: ProcessContext) -> PreparedHook:
    from hookonce.dispatch.module_hook import build_operation, parse_module_result  # most calls do without it

    def parse_result(run_result: OperationResult) -> HandlerResult:
        run_result = parse_module_result(run_result)
        return HandlerResult(result=run_result, decision=decode_output(CANONICAL_DIALECT, record.event, run_result))

    return PreparedHook(
        operation=build_operation(selection, record, dict(world.env)), parse_result=parse_result, gaps=[]
    )


def _prepare_prompt(selection: SelectedHook, stdin: bytes, gaps: list[Gap], world: ProcessContext) -> PreparedHook:
    from hookonce.handlers import prompt  # most calls do without them

    handler = selection.hook.handler
    model_prompt = prompt.prepare_query(handler, stdin, world)
    return PreparedHook(
        operation=model_prompt.operation,
        parse_result=lambda run_result: prompt.parse_model_result(model_prompt, run_result),
        gaps=gaps + model_prompt.gaps,
    )


def command_of(selection: SelectedHook) -> str:
    """The command line of a hook on this system; for a handler that is no command, a one-line description."""
    program = resolve_program(selection)
    return program if isinstance(program, str) else program.command


def resolve_program(selection: SelectedHook) -> "str | FunctionRef":
    """The command line of a hook, or its function as the file is now.

    A relative script is resolved against the hook's folder.
    """
    handler = selection.hook.handler
    if handler.type == "function":
        from hookonce.handlers.function import load_function  # as above

        return load_function(handler, selection.folder)
    if handler.type == "http":
        return f"{handler.method or 'POST'} {handler.url}"
    if handler.type in MODEL_HANDLER_TYPES:
        return f"{handler.type}: {handler.prompt}"
    if handler.type == "module":
        return f"module {handler.file}"
    command = handler.platform.get(_PLATFORM_NAMES.get(system, "")) or handler.command or ""
    script = _SCRIPT_PATTERN.match(command) if "/" in command else None
    if script is None:
        return command
    from shlex import quote

    return quote(str(Path(selection.folder, script[0]))) + command[script.end() :]


def digest_content(selection: SelectedHook, command: str = "") -> bytes:
    """Content of a run's digest: the command, looked up if it is not known; or the handler where there is none."""
    handler = selection.hook.handler
    with suppress(HookonceError):  # a file that cannot be read has no digest
        if handler.type not in {"http", *MODEL_HANDLER_TYPES}:
            return (command or command_of(selection)).encode(errors="replace")
    return encode(handler)


def model_cost_micros(handler_result: HandlerResult) -> int | None:
    """What the model that a hook has asked costs, in millionths of a dollar; None where that is not known."""
    if handler_result.usage is None:
        return None
    from hookonce.store.usage.prices import cost_of  # most hooks ask no model

    with suppress(HookonceError):  # prices that cannot be read are told by doctor
        return cost_of(handler_result.model, handler_result.usage)
    return None

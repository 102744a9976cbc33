"""Module hooks: the descriptor of a module, its grants, the request to it, and the parsing of its answer."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookonce.base import settings
from hookonce.base.ids import new_id
from hookonce.base.jsontext import dump
from hookonce.base.jsontext import load as parse
from hookonce.base.times import now, to_seconds
from hookonce.dispatch.select import SelectedHook
from hookonce.errors import HookonceError
from hookonce.formats.amplifier import envelope
from hookonce.handlers.environment import find_program
from hookonce.handlers.module import ON_EVENT, ModuleOperation
from hookonce.handlers.operation import OperationResult
from hookonce.manifest.discover import Scope
from hookonce.model import Event, Handler, Object, Record
from hookonce.modules.protocol.capabilities import capability_requests, decide_capability, policy_from_grants
from hookonce.modules.protocol.descriptor import (
    Descriptor,
    Transport,
    descriptor_document,
    load_descriptor,
    mount_problems,
)
from hookonce.modules.protocol.messages import parse_response
from hookonce.sessions.stored_records import record_kernel_event

if TYPE_CHECKING:
    from hookonce.handlers.http import HttpOperation

_BRIDGE_PROGRAM = """import os, sys
sys.path[:] = sys.argv[1].split(os.pathsep)
from hookonce.__main__ import main
sys.exit(main(["module", "serve", sys.argv[2]]))
"""


def build_operation(selection: SelectedHook, record: Record, env: dict[str, str]) -> "HttpOperation | ModuleOperation":
    """The operation that sends the event to the module, as Amplifier Event v1."""
    event = record.event
    descriptor = load_reachable_module(selection.hook.handler, Path(selection.folder), selection.scope)
    _check_grants(descriptor, event)
    documents = envelope.write(record)
    if not documents:
        raise HookonceError(f"{event.type} cannot be written as an event of Amplifier")
    request = {"op": ON_EVENT, "args": {"event": documents[0]}}
    if event.session is not None:
        request["session_id"] = event.session
    if descriptor.transport.type == "stdio":
        return ModuleOperation(descriptor=descriptor, request=request)
    if descriptor.transport.type == "grpc":
        file = Path(selection.folder) / (selection.hook.handler.file or "")
        return _build_bridge_operation(descriptor, file, request, env)
    return _build_post(descriptor, dump(request), env)


def load_reachable_module(handler: Handler, folder: Path, scope: Scope) -> Descriptor:
    """Load the module of a handler; an error that says why it cannot be reached."""
    if scope == "project":
        raise HookonceError("hooks of a project cannot start modules; put the hook into your own manifest")
    descriptor = load_descriptor(folder / (handler.file or ""))
    if problems := mount_problems(descriptor):
        problem_text = "; ".join(f"{path} {message}" for path, message in problems)
        raise HookonceError(f"the module {descriptor.name} cannot be reached: {problem_text}")
    if descriptor.transport.type == "mcp":
        raise HookonceError(
            f"{descriptor.name} is an MCP server, which cannot receive events; use a command that calls it"
        )
    if descriptor.transport.type == "grpc" and descriptor.kind != "hook":
        raise HookonceError(f"{descriptor.name} is a {descriptor.kind}; over gRPC a hook alone receives events")
    return descriptor


def find_obstacles(handler: Handler, folder: Path, scope: Scope) -> Iterator[tuple[str, str]]:
    """What keeps a module from running, as pairs of a fault's kind and a reason; it is not started to find out."""
    if handler.type != "module":
        return
    try:
        descriptor = load_reachable_module(handler, folder, scope)
    except HookonceError as problem:
        yield "module", str(problem)
        return
    if missing_capabilities := _missing_capabilities(descriptor, None):
        yield "module", _denial_text(descriptor, missing_capabilities)
    if descriptor.transport.type == "grpc":
        yield from _find_missing_library()
    program_name = next(iter(descriptor.transport.command), "")
    program = Path(descriptor.folder or "", program_name) if "/" in program_name else find_program(program_name)
    if program_name and (program is None or not Path(program).exists()):
        yield (
            "module",
            f"there is no program {program_name}, which {descriptor.name} needs to start",
        )


def _find_missing_library() -> Iterator[tuple[str, str]]:
    from importlib.util import find_spec  # few hooks need it

    from hookonce.modules.protocol.amplifier_grpc import MISSING_LIBRARY

    if find_spec("grpc") is None:
        yield "module", MISSING_LIBRARY


def _build_bridge_operation(
    descriptor: Descriptor, file: Path, request: Object, env: dict[str, str]
) -> ModuleOperation:
    """The operation that asks a gRPC server through a process of its own: grpcio has threads, and the daemon forks."""
    search_paths = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-I", "-S", "-c", _BRIDGE_PROGRAM, search_paths, str(file.absolute())]
    token_variable = descriptor.transport.token_env
    variables = {token_variable: env[token_variable]} if token_variable and token_variable in env else {}
    extra = descriptor.extra | {"server": descriptor_document(descriptor)["transport"]}  # another one, another process
    bridge = replace(descriptor, transport=Transport(type="stdio", command=command), extra=extra)
    return ModuleOperation(descriptor=bridge, request=request, variables=variables)


def expected_answer_keys(operation: ModuleOperation) -> frozenset[str]:
    """Keys that stand in an answer beside what it decides: of a hook over gRPC, all fields of its HookResult."""
    if _BRIDGE_PROGRAM not in operation.descriptor.transport.command:
        return frozenset()
    from hookonce.modules.protocol.amplifier_grpc import HOOK_RESULT

    return frozenset({"data", *(field.name for field in HOOK_RESULT.values())})


def _build_post(descriptor: Descriptor, body: bytes, env: dict[str, str]) -> "HttpOperation":
    from hookonce.handlers.http import build_http_operation

    transport, token_variable = descriptor.transport, descriptor.transport.token_env
    headers = {} if token_variable is None else {"Authorization": f"Bearer ${{{token_variable}}}"}
    handler = Handler(
        type="http",
        url=f"{(transport.url or '').rstrip('/')}/invoke",
        headers=headers,
        allowed_env=[token_variable] if token_variable else [],
    )
    return build_http_operation(handler, body, env, expects_answer=True)


def _check_grants(descriptor: Descriptor, event: Event) -> None:
    """Refuse a module that wants what the settings do not grant; that is an event of its own."""
    missing_capabilities = _missing_capabilities(descriptor, event.session)
    for capability in missing_capabilities:
        record_kernel_event(
            {
                "id": new_id(),
                "ts": to_seconds(now()) or 0.0,
                "event": "policy:decision",
                "component": "kernel",
                "module": descriptor.name,
                "status": "denied",
                "data": {"capability": capability, "op": ON_EVENT},
            }
            | ({} if event.session is None else {"session_id": event.session})
        )
    if missing_capabilities:
        raise HookonceError(_denial_text(descriptor, missing_capabilities))


def _missing_capabilities(descriptor: Descriptor, session: str | None) -> list[str]:
    policies = {"settings": policy_from_grants(settings.load().grants)}.items()
    capability_wishes = capability_requests(descriptor, ON_EVENT, session)
    return [wish.capability for wish in capability_wishes if not decide_capability(wish, policies).is_granted]


def _denial_text(descriptor: Descriptor, missing_capabilities: list[str]) -> str:
    name, capabilities_text = dump(descriptor.name).decode(), dump(missing_capabilities).decode()
    wishes = ", ".join(missing_capabilities)
    text = f"forbidden: {descriptor.name} needs {wishes}, which [grants] in config.toml does not grant"
    return f"{text}; to grant it, write: {name} = {capabilities_text}"


def parse_module_result(run_result: OperationResult) -> OperationResult:
    """Translate a module's answer: its result becomes stdout, its error a failure."""
    if run_result.failure is not None:
        return run_result
    try:
        answer = parse_response(parse(run_result.stdout.decode()))
    except ValueError:
        return replace(run_result, code=None, failure="internal: its answer is not JSON")
    if answer.error is not None:
        return replace(run_result, code=None, stdout=b"", failure=f"{answer.error.code}: {answer.error.message}")
    return replace(run_result, stdout=dump(answer.result) if type(answer.result) is dict else b"")

"""Module Descriptor v1: its structs, parser and validation rules."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.json import encode

from hookonce.base.files import read_regular_file
from hookonce.base.jsontext import load
from hookonce.errors import HookonceError
from hookonce.manifest.http_script import explain_url_fault
from hookonce.model import Object, Problem

V1_MODULE_KINDS = ("provider", "tool", "agent", "hook", "orchestrator", "context")
MODULE_KINDS = (*V1_MODULE_KINDS, "resolver", "memory", "guardrail", "approval")  # the later ones are of the later core
V1_TRANSPORTS = ("stdio", "http")
TRANSPORTS = (*V1_TRANSPORTS, "mcp", "grpc")
GRPC_KINDS = ("tool", "hook")  # those that Amplifier has a gRPC service for which says what a module needs
DEFAULT_VERSION = "0.0.0"


def transport_problems(transport: str, command: list[str], url: str | None, kind: str) -> Iterator[Problem]:
    """Problems that keep a module from being reached: of whoever mounts it, not of the document."""
    if transport == "grpc" and kind not in GRPC_KINDS:
        yield "$.kind", f"over gRPC a module is a {' or a '.join(GRPC_KINDS)}; offer other kinds over stdio or http"
    if transport == "stdio" or (transport == "mcp" and command):
        if not command or not command[0]:
            yield "$.transport.command", f"is required for {transport}: the program and its arguments"
        elif transport == "mcp" and url:
            yield "$.transport.url", "an MCP server has a command or a url, not both"
    elif not url:
        yield "$.transport.url", f"is required for {transport}{', or a command' if transport == 'mcp' else ''}"
    elif (fault := explain_url_fault(url) or _explain_server_fault(url, has_path=transport != "grpc")) is not None:
        yield "$.transport.url", fault


def _explain_server_fault(url: str, *, has_path: bool) -> str | None:
    try:
        parts = urlsplit(url)
        is_valid = parts.hostname and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        return "expected a host and a port that there can be"
    if "@" in parts.netloc:
        return "must not hold a password: name the variable with the token in token_env"
    if not has_path and (parts.path.strip("/") or parts.query or parts.fragment):
        return "a gRPC server has no path: expected a host and a port alone"
    return None


def find_problems(document: Any, *, strict: bool = False) -> tuple[list[Problem], list[Problem]]:
    """Errors and warnings of a descriptor document; strict is version 1 to the letter."""
    if type(document) is not dict:
        return [("$", "expected an object with name, kind, transport and capabilities")], []
    kinds, transport = V1_MODULE_KINDS if strict else MODULE_KINDS, document.get("transport")
    problems = [*_field_problems(document, "name", lambda name: type(name) is str and name, "a text that is not empty")]
    problems += _field_problems(document, "kind", lambda kind: kind in kinds, f"one of {', '.join(kinds)}")
    problems += _field_problems(document, "transport", lambda value: type(value) is dict, "an object")
    if type(transport) is dict:
        transports = V1_TRANSPORTS if strict else TRANSPORTS
        choice = f"one of {', '.join(transports)}"
        problems += _field_problems(transport, "type", lambda kind: kind in transports, choice, "$.transport")
        problems += _list_problems(transport, "command", "$.transport") if "command" in transport else ()
        texts = {name: transport[name] for name in ("url", "token_env") if name in transport}
        problems += [
            (f"$.transport.{name}", "expected a text") for name, text in texts.items() if type(text) is not str
        ]
    problems += _list_problems(document, "capabilities", "$")
    problems += [] if type(document.get("version", "")) is str else [("$.version", "expected a text")]
    return problems, [] if problems else [*_warnings(document)]


def _field_problems(
    holder: Object, name: str, is_valid: Callable[[Any], object], expectation: str, path: str = "$"
) -> Iterator[Problem]:
    if (value := holder.get(name)) is None:
        yield f"{path}.{name}", "is required"
    elif not is_valid(value):
        yield f"{path}.{name}", f"expected {expectation}"


def _list_problems(holder: Object, name: str, path: str) -> Iterator[Problem]:
    value = holder.get(name)
    if type(value) is not list:
        yield f"{path}.{name}", "is required" if name not in holder else "expected a list of texts"
        return
    for index, item in enumerate(value):
        if type(item) is not str:
            yield f"{path}.{name}[{index}]", "expected a text"


def _warnings(document: Object) -> Iterator[Problem]:
    transport = document["transport"]
    reach = transport["type"], transport.get("command", []), transport.get("url")
    missing = transport_problems(*reach, document["kind"])
    yield from ((path, f"{message}; as it is, the module cannot be mounted") for path, message in missing)
    if document["kind"] not in V1_MODULE_KINDS:
        yield "$.kind", f"{document['kind']} is of the later core, not one of the six kinds of version 1"
    if transport["type"] not in V1_TRANSPORTS:
        yield "$.transport.type", f"{transport['type']} is ours, not one of the two transports of version 1"
    if "version" not in document:
        yield "$.version", f"is missing, and taken to be {DEFAULT_VERSION}"


_MAX_DESCRIPTOR_BYTES = 1 << 20  # bytes of a file that is taken for a descriptor


class DescriptorError(HookonceError):
    """A descriptor that cannot be used; `problems` holds every fault with its path."""

    def __init__(self, problems: list[Problem], where: str = "the descriptor") -> None:
        super().__init__(f"{where} has problems: " + "; ".join(f"{path}: {message}" for path, message in problems))
        self.problems = problems


class Transport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a module is reached; a token is never here, only the name of the variable that holds it."""

    type: str
    command: list[str] = []
    url: str | None = None
    token_env: str | None = None


class Descriptor(Struct, frozen=True, kw_only=True):
    """A module's descriptor; `folder` is where its file lies, `extra` holds the fields that we do not know."""

    name: str
    kind: str
    transport: Transport
    capabilities: list[str]
    version: str = DEFAULT_VERSION
    folder: str | None = None
    extra: Object = {}


_DOCUMENT_FIELDS = Descriptor.__struct_fields__[:5]


def load_descriptor(file: Path) -> Descriptor:
    """Load the descriptor in a file; its command is run in that file's folder."""
    try:
        document = load(read_regular_file(file, _MAX_DESCRIPTOR_BYTES).decode("utf-8-sig"))
    except OSError as problem:
        raise HookonceError(f"{file} cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError):
        raise DescriptorError([("$", "expected a JSON document")], str(file)) from None
    return parse_descriptor(document, folder=str(file.resolve().parent), where=str(file))


def parse_descriptor(document: Any, *, folder: str | None = None, where: str = "the descriptor") -> Descriptor:
    """Parse a descriptor document; DescriptorError with every problem at once."""
    problems, _ = find_problems(document)
    if problems:
        raise DescriptorError(problems, where)
    transport = document["transport"]
    fields = {name: transport[name] for name in Transport.__struct_fields__ if transport.get(name) is not None}
    extra = {name: value for name, value in document.items() if name not in _DOCUMENT_FIELDS}
    extra_transport = {name: value for name, value in transport.items() if name not in Transport.__struct_fields__}
    return Descriptor(
        **{name: document[name] for name in ("name", "kind", "capabilities")},
        transport=Transport(**fields),
        version=document.get("version") or DEFAULT_VERSION,
        folder=folder,
        extra=extra | ({"transport": extra_transport} if extra_transport else {}),
    )


def descriptor_document(descriptor: Descriptor) -> Object:
    """The document of a descriptor, with the fields of its own document that we do not know."""
    source, extra = descriptor.transport, dict(descriptor.extra)
    transport: Object = {name: value for name in source.__struct_fields__ if (value := getattr(source, name))}
    transport |= extra.pop("transport", {})
    return {name: getattr(descriptor, name) for name in _DOCUMENT_FIELDS} | {"transport": transport} | extra


def mount_problems(descriptor: Descriptor) -> list[Problem]:
    """Problems that keep the module of a valid descriptor from being reached: a command or URL that is missing."""
    transport = descriptor.transport
    return [*transport_problems(transport.type, transport.command, transport.url, descriptor.kind)]


def descriptor_key(descriptor: Descriptor) -> bytes:
    """The key of a module in a pool: what its descriptor says, and from which folder."""
    return encode([descriptor_document(descriptor), descriptor.folder])


class OperationSchema(Struct, frozen=True, kw_only=True):
    """What an operation takes and gives, as JSON Schemas, and what it does in words."""

    args: Object
    result: Object
    description: str = ""


def build_description(
    name: str, version: str, kind: str, capabilities: Iterable[str], operations: Mapping[str, OperationSchema]
) -> Object:
    """The six fields that describe a module; inputs are those of an invocation."""
    cases = [
        {
            "if": {"properties": {"op": {"const": op}}},
            "then": {"properties": {"args": schema.args}}
            | ({"description": schema.description} if schema.description else {}),
        }
        for op, schema in operations.items()
    ]
    inputs: Object = {"type": "object", "required": ["op"], "properties": {"op": {"enum": list(operations)}}}
    return {
        "name": name,
        "version": version,
        "kind": kind,
        "capabilities": [*capabilities],
        "inputs": inputs | ({"allOf": cases} if cases else {}),
        "outputs": {"anyOf": [schema.result for schema in operations.values()]} if operations else {},
    }

"""Module Descriptor v1: what a module is called, what it is, how it is reached, what it wants to be allowed."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from hookonce.errors import HookonceError
from hookonce.manifest.contents import read_regular_file
from hookonce.model import Object, Problem
from hookonce.modules.descriptor_rules import DEFAULT_VERSION, transport_problems, find_problems
from hookonce.texts import load as parse

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


def load_descriptor(file: Path) -> Descriptor:
    """Load the descriptor in a file; its command is run in that file's folder."""
    try:
        document = parse(read_regular_file(file, _MAX_DESCRIPTOR_BYTES).decode("utf-8-sig"))
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
    return Descriptor(
        name=document["name"],
        kind=document["kind"],
        transport=Transport(**fields),
        capabilities=document["capabilities"],
        version=document.get("version") or DEFAULT_VERSION,
        folder=folder,
        extra=_extra_fields(document, transport),
    )


def _extra_fields(document: Object, transport: Object) -> Object:
    extra = {name: value for name, value in document.items() if name not in Descriptor.__struct_fields__[:5]}
    extra_transport = {name: value for name, value in transport.items() if name not in Transport.__struct_fields__}
    return extra | ({"transport": extra_transport} if extra_transport else {})


def descriptor_document(descriptor: Descriptor) -> Object:
    """The document of a descriptor, with the fields of its own document that we do not know."""
    source, extra = descriptor.transport, dict(descriptor.extra)
    transport: Object = {name: value for name in source.__struct_fields__ if (value := getattr(source, name))}
    transport |= extra.pop("transport", {})
    return {
        "name": descriptor.name,
        "kind": descriptor.kind,
        "transport": transport,
        "capabilities": descriptor.capabilities,
        "version": descriptor.version,
    } | extra


def mount_problems(descriptor: Descriptor) -> list[Problem]:
    """Problems that keep the module of a valid descriptor from being reached."""
    transport = descriptor.transport
    return [*transport_problems(transport.type, transport.command, transport.url)]

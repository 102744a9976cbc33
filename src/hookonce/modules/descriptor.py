"""Module Descriptor v1: what a module is called, what it is, how it is reached, what it wants to be allowed."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from hookonce.errors import HookonceError
from hookonce.manifest.contents import contents
from hookonce.model import Object, Problem
from hookonce.modules.descriptor_rules import UNVERSIONED, lacking, problems_of
from hookonce.texts import load as parse

_LARGEST = 1 << 20  # bytes of a file that is taken for a descriptor


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
    """A module, described; `folder` is where its file lies, `extra` what else the document says."""

    name: str
    kind: str
    transport: Transport
    capabilities: list[str]
    version: str = UNVERSIONED
    folder: str | None = None
    extra: Object = {}


def load(file: Path) -> Descriptor:
    """The descriptor that a file holds; its command is run in that folder."""
    try:
        document = parse(contents(file, _LARGEST).decode("utf-8-sig"))
    except OSError as problem:
        raise HookonceError(f"{file} cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError):
        raise DescriptorError([("$", "expected a JSON document")], str(file)) from None
    return descriptor_of(document, folder=str(file.resolve().parent), where=str(file))


def descriptor_of(document: Any, *, folder: str | None = None, where: str = "the descriptor") -> Descriptor:
    """The descriptor that a document holds, or every problem of it at once."""
    problems, _ = problems_of(document)
    if problems:
        raise DescriptorError(problems, where)
    told = document["transport"]
    known = {name: told[name] for name in Transport.__struct_fields__ if told.get(name) is not None}
    return Descriptor(
        name=document["name"],
        kind=document["kind"],
        transport=Transport(**known),
        capabilities=document["capabilities"],
        version=document.get("version") or UNVERSIONED,
        folder=folder,
        extra=_extra(document, told),
    )


def _extra(document: Object, transport: Object) -> Object:
    """What neither we nor the specification know, kept at its place."""
    extra = {name: value for name, value in document.items() if name not in Descriptor.__struct_fields__[:5]}
    inner = {name: value for name, value in transport.items() if name not in Transport.__struct_fields__}
    return extra | ({"transport": inner} if inner else {})


def document_of(descriptor: Descriptor) -> Object:
    """The document of a descriptor, with everything that its own document said."""
    told, extra = descriptor.transport, dict(descriptor.extra)
    transport: Object = {name: value for name in told.__struct_fields__ if (value := getattr(told, name))}
    transport |= extra.pop("transport", {})
    return {
        "name": descriptor.name,
        "kind": descriptor.kind,
        "transport": transport,
        "capabilities": descriptor.capabilities,
        "version": descriptor.version,
    } | extra


def unmountable(descriptor: Descriptor) -> list[Problem]:
    """What a descriptor that can be read still lacks for its module to be reached."""
    told = descriptor.transport
    return [*lacking(told.type, told.command, told.url)]

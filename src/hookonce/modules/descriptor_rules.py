"""What a Module Descriptor has to say: the tables of its words, every problem with its path, and the schema."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from hookonce.manifest.http_script import fault_of_url
from hookonce.model import Object, Problem

V1_KINDS = ("provider", "tool", "agent", "hook", "orchestrator", "context")
KINDS = (*V1_KINDS, "resolver", "memory", "guardrail", "approval")  # the later ones are of the later core
TRANSPORTS = ("stdio", "http")
UNVERSIONED = "0.0.0"
_TEXTS = {"$.transport": ("url", "token_env"), "$": ("version",)}


def lacking(transport: str, command: list[str], url: str | None) -> Iterator[Problem]:
    """What is missing for a module to be reached: no problem of the document, but of whoever mounts it."""
    if transport == "stdio":
        if not command or not command[0]:
            yield "$.transport.command", "is required for stdio: the program and its arguments"
    elif not url:
        yield "$.transport.url", "is required for http"
    elif (fault := fault_of_url(url)) is not None:
        yield "$.transport.url", fault
    else:
        yield from _address_problems(url)


def _address_problems(url: str) -> Iterator[Problem]:
    try:
        parts = urlsplit(url)
        known = parts.hostname and parts.port != 0
    except ValueError:
        known = False
    if not known:
        yield "$.transport.url", "expected a host and a port that there can be"
    elif "@" in parts.netloc:
        yield "$.transport.url", "must not hold a password: name the variable with the token in token_env"


def problems_of(document: Any, *, strict: bool = False) -> tuple[list[Problem], list[Problem]]:
    """What makes a descriptor unreadable, and what a reader should know; strict is version 1 to the letter."""
    if type(document) is not dict:
        return [("$", "expected an object with name, kind, transport and capabilities")], []
    problems = [*_name_problems(document), *_kind_problems(document.get("kind"), strict=strict)]
    problems += [*_transport_problems(document.get("transport")), *_list_problems(document, "capabilities", "$")]
    problems += _text_problems(document, "$")
    return problems, [] if problems else [*_warnings(document)]


def _name_problems(document: Object) -> Iterator[Problem]:
    name = document.get("name")
    if type(name) is not str or not name:
        yield "$.name", "is required" if name is None else "expected a text that is not empty"


def _kind_problems(kind: Any, *, strict: bool) -> Iterator[Problem]:
    if kind is None:
        yield "$.kind", "is required"
    elif kind not in (V1_KINDS if strict else KINDS):
        yield "$.kind", f"expected one of {', '.join(V1_KINDS if strict else KINDS)}"


def _transport_problems(transport: Any) -> Iterator[Problem]:
    if type(transport) is not dict:
        yield "$.transport", "is required" if transport is None else "expected an object"
        return
    kind = transport.get("type")
    if kind is None:
        yield "$.transport.type", "is required"
    elif kind not in TRANSPORTS:
        yield "$.transport.type", f"expected one of {', '.join(TRANSPORTS)}"
    if "command" in transport:
        yield from _list_problems(transport, "command", "$.transport")
    yield from _text_problems(transport, "$.transport")


def _list_problems(given: Object, name: str, path: str) -> Iterator[Problem]:
    value = given.get(name)
    if type(value) is not list:
        yield f"{path}.{name}", "is required" if name not in given else "expected a list of texts"
        return
    for index, one in enumerate(value):
        if type(one) is not str:
            yield f"{path}.{name}[{index}]", "expected a text"


def _text_problems(given: Object, path: str) -> Iterator[Problem]:
    for name in _TEXTS[path]:
        if name in given and type(given[name]) is not str:
            yield f"{path}.{name}", "expected a text"


def _warnings(document: Object) -> Iterator[Problem]:
    """What holds only when the module is mounted, or for somebody else."""
    told = document["transport"]
    missing = lacking(told["type"], told.get("command", []), told.get("url"))
    yield from ((path, f"{message}; as it is, the module cannot be mounted") for path, message in missing)
    if document["kind"] not in V1_KINDS:
        yield "$.kind", f"{document['kind']} is of the later core, not one of the six kinds of version 1"
    if "version" not in document:
        yield "$.version", f"is missing, and taken to be {UNVERSIONED}"


def schema() -> Object:
    """The published JSON Schema, made from the tables above."""
    text: Object = {"type": "string"}
    texts: Object = {"type": "array", "items": text}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://hookonce.dev/schemas/module-descriptor.json",
        "title": "Module Descriptor v1",
        "description": f"Version 1 to the letter has the kinds {', '.join(V1_KINDS)}; the others came later.",
        "type": "object",
        "required": ["name", "kind", "transport", "capabilities"],
        "properties": {
            "name": text | {"minLength": 1},
            "kind": text | {"enum": list(KINDS)},
            "transport": {
                "type": "object",
                "required": ["type"],
                "properties": {
                    "type": text | {"enum": list(TRANSPORTS)},
                    "command": texts | {"description": "what to run, for stdio"},
                    "url": text | {"description": "https, or http on this machine; for http"},
                    "token_env": text | {"description": "the environment variable that holds the bearer token"},
                },
            },
            "capabilities": texts,
            "version": text | {"default": UNVERSIONED},
        },
    }

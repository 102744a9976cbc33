"""Module Descriptor v1: its structs, parser, validation rules and JSON Schema.

A descriptor names a module, its kind, its transport and the capabilities that it asks for. A document may be
valid and its module still not mountable: what only mounting needs (a command, a URL) is checked by
`mount_problems`.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from hookonce.manifest.http_script import explain_url_fault
from hookonce.model import Object, Problem

V1_MODULE_KINDS = ("provider", "tool", "agent", "hook", "orchestrator", "context")
MODULE_KINDS = (*V1_MODULE_KINDS, "resolver", "memory", "guardrail", "approval")  # the later ones are of the later core
TRANSPORTS = ("stdio", "http")
DEFAULT_VERSION = "0.0.0"
_STRING_FIELDS = {"$.transport": ("url", "token_env"), "$": ("version",)}


def transport_problems(transport: str, command: list[str], url: str | None) -> Iterator[Problem]:
    """Problems that keep a module from being reached: of whoever mounts it, not of the document."""
    if transport == "stdio":
        if not command or not command[0]:
            yield "$.transport.command", "is required for stdio: the program and its arguments"
    elif not url:
        yield "$.transport.url", "is required for http"
    elif (fault := explain_url_fault(url)) is not None:
        yield "$.transport.url", fault
    else:
        yield from _url_problems(url)


def _url_problems(url: str) -> Iterator[Problem]:
    try:
        parts = urlsplit(url)
        is_valid = parts.hostname and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        yield "$.transport.url", "expected a host and a port that there can be"
    elif "@" in parts.netloc:
        yield "$.transport.url", "must not hold a password: name the variable with the token in token_env"


def find_problems(document: Any, *, strict: bool = False) -> tuple[list[Problem], list[Problem]]:
    """Errors and warnings of a descriptor document; strict is version 1 to the letter."""
    if type(document) is not dict:
        return [("$", "expected an object with name, kind, transport and capabilities")], []
    problems = [*_name_problems(document), *_kind_problems(document.get("kind"), strict=strict)]
    problems += [*_transport_field_problems(document.get("transport")), *_list_problems(document, "capabilities", "$")]
    problems += _text_problems(document, "$")
    return problems, [] if problems else [*_warnings(document)]


def _name_problems(document: Object) -> Iterator[Problem]:
    name = document.get("name")
    if type(name) is not str or not name:
        yield "$.name", "is required" if name is None else "expected a text that is not empty"


def _kind_problems(kind: Any, *, strict: bool) -> Iterator[Problem]:
    if kind is None:
        yield "$.kind", "is required"
    elif kind not in (V1_MODULE_KINDS if strict else MODULE_KINDS):
        yield "$.kind", f"expected one of {', '.join(V1_MODULE_KINDS if strict else MODULE_KINDS)}"


def _transport_field_problems(transport: Any) -> Iterator[Problem]:
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


def _list_problems(holder: Object, name: str, path: str) -> Iterator[Problem]:
    value = holder.get(name)
    if type(value) is not list:
        yield f"{path}.{name}", "is required" if name not in holder else "expected a list of texts"
        return
    for index, item in enumerate(value):
        if type(item) is not str:
            yield f"{path}.{name}[{index}]", "expected a text"


def _text_problems(holder: Object, path: str) -> Iterator[Problem]:
    for name in _STRING_FIELDS[path]:
        if name in holder and type(holder[name]) is not str:
            yield f"{path}.{name}", "expected a text"


def _warnings(document: Object) -> Iterator[Problem]:
    transport = document["transport"]
    missing = transport_problems(transport["type"], transport.get("command", []), transport.get("url"))
    yield from ((path, f"{message}; as it is, the module cannot be mounted") for path, message in missing)
    if document["kind"] not in V1_MODULE_KINDS:
        yield "$.kind", f"{document['kind']} is of the later core, not one of the six kinds of version 1"
    if "version" not in document:
        yield "$.version", f"is missing, and taken to be {DEFAULT_VERSION}"


def descriptor_schema() -> Object:
    """The published JSON Schema, built from the tables above."""
    string: Object = {"type": "string"}
    strings: Object = {"type": "array", "items": string}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://hookonce.dev/schemas/module-descriptor.json",
        "title": "Module Descriptor v1",
        "description": f"Version 1 to the letter has the kinds {', '.join(V1_MODULE_KINDS)}; the others came later.",
        "type": "object",
        "required": ["name", "kind", "transport", "capabilities"],
        "properties": {
            "name": string | {"minLength": 1},
            "kind": string | {"enum": list(MODULE_KINDS)},
            "transport": {
                "type": "object",
                "required": ["type"],
                "properties": {
                    "type": string | {"enum": list(TRANSPORTS)},
                    "command": strings | {"description": "what to run, for stdio"},
                    "url": string | {"description": "https, or http on this machine; for http"},
                    "token_env": string | {"description": "the environment variable that holds the bearer token"},
                },
            },
            "capabilities": strings,
            "version": string | {"default": DEFAULT_VERSION},
        },
    }

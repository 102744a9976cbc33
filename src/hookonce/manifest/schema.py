"""Manifest fields in one table, which `load` validates by, and the JSON Schema that is published from it."""

from typing import Literal

from msgspec import Struct

from hookonce.model import Object

SPEC_REGEX = r"hooks/0*[01]\.[0-9]+"
MAX_TIMEOUT_S = 10**9  # seconds: no hook takes thirty years, and every agent can count its milliseconds
STRATEGIES = ("block", "warn", "exclude")
PLATFORMS = ("windows", "linux", "osx", "darwin", "macos")
# handler type → the field that says what it does
REQUIRED_FIELDS = {"command": "command", "http": "url", "prompt": "prompt", "agent": "prompt"}
REQUIRED_FIELDS |= {"function": "file", "module": "file"}

JsonKind = Literal["string", "boolean", "number", "array", "object"]


class FieldSpec(Struct, frozen=True):
    """One field of a manifest: its JSON kind and description, the kind of its entries, allowed values and keys."""

    kind: JsonKind
    description: str
    entries: JsonKind | None = None
    choices: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


_ON_FAILURE = "What happens when the hook fails: open makes no decision, closed refuses; closed needs blocking."
_ENVIRONMENT = "Where PATH and other variables that select code come from; caller is not available to closed hooks."
_PRIVACY = "How much of an event a hook in an open format gets; minimal by default; full is not available to projects."
_ORDER = "any: the hook runs at the same time as other hooks with any, and can neither allow nor change input."
_ON_DENY = "stop: when the hook refuses, later hooks do not run, and hooks that run at the same time are ended."
_ISOLATION = "fork: each call of a function gets a fresh copy of its process, so nothing stays between calls."
_FILE = "A Python file with functions, or a module's descriptor; relative to the manifest's folder."
HOOK_FIELDS = {
    "name": FieldSpec("string", "The hook's name in messages; by default, its position."),
    "blocking": FieldSpec("boolean", "Whether the hook may refuse what it sees."),
    "degradation": FieldSpec("object", "What to do where an agent lacks a capability.", "string", STRATEGIES),
    "capabilities": FieldSpec("array", "What the hook uses, as information for readers; it has no effect.", "string"),
    "provider_data": FieldSpec("object", "Settings for single agents, by the agent's name.", "object"),
    "on_failure": FieldSpec("string", _ON_FAILURE, choices=("open", "closed")),
    "may_allow": FieldSpec("boolean", "Whether the hook's allow counts, or only its refusals."),
    "order": FieldSpec("string", _ORDER, choices=("manifest", "any")),
    "on_deny": FieldSpec("string", _ON_DENY, choices=("continue", "stop")),
    "environment": FieldSpec("string", _ENVIRONMENT, choices=("installation", "caller")),
    "isolation": FieldSpec("string", _ISOLATION, choices=("worker", "fork")),
    "dialect": FieldSpec("string", "The agent or format whose input and answers the hook uses; canonical by default."),
    "privacy": FieldSpec("string", _PRIVACY, choices=("minimal", "standard", "full")),
    "files": FieldSpec("array", "More files that the hook needs; trust covers them too.", "string"),
}

HANDLER_FIELDS = {
    "command": FieldSpec("string", "A shell command, or the path of a script."),
    "platform": FieldSpec("object", "Other commands for some operating systems.", "string", keys=PLATFORMS),
    "cwd": FieldSpec("string", "The working directory, from the project's root."),
    "env": FieldSpec("object", "Environment variables for the command.", "string"),
    "timeout": FieldSpec("number", "Seconds after which the hook counts as failed; 0 means the default."),
    "timeout_action": FieldSpec("string", "What happens when a blocking hook times out.", choices=("warn", "block")),
    "async": FieldSpec("boolean", "Whether the hook runs in the background, without the agent waiting for it."),
    "status_message": FieldSpec("string", "What is shown while the hook runs."),
    "url": FieldSpec("string", "Where the event is sent; https, or http on this machine."),
    "method": FieldSpec("string", "The method of the request; POST by default."),
    "headers": FieldSpec(
        "object", "More headers; $NAME and ${NAME} stand for allowed environment variables.", "string"
    ),
    "allowed_env": FieldSpec("array", "The environment variables that headers may name.", "string"),
    "prompt": FieldSpec("string", "The prompt for a language model."),
    "model": FieldSpec("string", "The name of the language model."),
    "file": FieldSpec("string", _FILE),
    "name": FieldSpec("string", "The name of the function; by default, all functions of the file for this event."),
}


REGISTRY_EDITION = "2026.04"  # the edition of the format's lists of events, tools and capabilities


def _object_schema(required_keys: list[str], properties: Object) -> Object:
    return {"type": "object", "required": required_keys, "properties": properties}


_STRING_SCHEMA = {"type": "string"}
_MCP_SCHEMA = _object_schema(["server"], {"server": _STRING_SCHEMA, "tool": {"type": ["string", "null"]}})
# One rule cannot be said in the schema: that a pattern is RE2.
_PATTERN_PART = _object_schema(["pattern"], {"pattern": _STRING_SCHEMA, "mcp": False})
_MCP_PART = _object_schema(["mcp"], {"mcp": _MCP_SCHEMA, "pattern": False})
_TOOL_SCHEMA: Object = {
    "anyOf": [
        {"type": "string", "description": "A canonical tool, or an agent's own name of one."},
        {"description": "A pattern on names of tools, as RE2 reads it."} | _PATTERN_PART,
        {"description": "A tool of an MCP server, or all of them."} | _MCP_PART,
    ]
}
_MATCHER_SCHEMA: Object = {
    "description": "The tools that the hook is for; without it, all of them.",
    "anyOf": [{"$ref": "#/$defs/tool"}, {"type": "array", "items": {"$ref": "#/$defs/tool"}}, {"type": "null"}],
}


def build_schema() -> Object:
    """The whole schema; unknown fields are allowed everywhere, and null is the same as absent."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://hookonce.dev/schemas/manifest.json",
        "title": "Hook manifest",
        "description": f"Hooks for any coding agent, in the Hook Interchange Format. Registries of {REGISTRY_EDITION}.",
        "type": "object",
        "required": ["spec", "hooks"],
        "properties": {
            "spec": {"type": "string", "pattern": f"^{SPEC_REGEX}$", "description": "The version of the format."},
            "hooks": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/hook"}},
        },
        "$defs": {"hook": _hook_schema(), "handler": _handler_schema(), "tool": _TOOL_SCHEMA},
    }


# What a fail-closed hook may say, so that it can refuse.
_CLOSED_FIELDS: Object = {
    "blocking": {"const": True},
    "environment": {"enum": ["installation", None]},
    "handler": {"properties": {"async": {"enum": [False, None]}, "timeout_action": {"enum": ["block", None]}}},
}


def _hook_schema() -> Object:
    event = {"type": "string", "minLength": 1, "description": "A canonical event."}
    properties = {"event": event, "matcher": _MATCHER_SCHEMA, "handler": {"$ref": "#/$defs/handler"}}
    properties |= {name: _field_schema(field) for name, field in HOOK_FIELDS.items()}
    return _object_schema(["event", "handler"], properties) | {
        "if": {"required": ["on_failure"], "properties": {"on_failure": {"const": "closed"}}},
        "then": {"required": ["blocking"], "properties": _CLOSED_FIELDS},
    }


def _handler_schema() -> Object:
    properties: Object = {"type": {"enum": list(REQUIRED_FIELDS), "description": "What the handler is."}}
    properties |= {name: _field_schema(field) for name, field in HANDLER_FIELDS.items()}
    rules = [
        {
            "if": {"required": ["type"], "properties": {"type": {"const": kind}}},
            "then": {"required": [field], "properties": {field: {"type": "string", "minLength": 1}}},
        }
        for kind, field in REQUIRED_FIELDS.items()
    ]
    return _object_schema(["type"], properties) | {"allOf": rules}


def _field_schema(field: FieldSpec) -> Object:
    property_schema: Object = {"description": field.description, "type": [field.kind, "null"]}
    value_schema = {"enum": list(field.choices)} if field.choices else {"type": field.entries}
    if field.kind == "number":
        property_schema |= {"minimum": 0, "maximum": MAX_TIMEOUT_S}
    if field.kind == "array":
        property_schema["items"] = value_schema
    elif field.keys:
        property_schema["properties"] = dict.fromkeys(field.keys, value_schema)
    elif field.kind == "object":
        property_schema["additionalProperties"] = value_schema
    elif field.choices:
        property_schema["enum"] = [*field.choices, None]
    return property_schema

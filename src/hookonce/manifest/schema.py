"""Manifest fields in one table, which `load` validates by, and the JSON Schema that is published from it."""

from typing import Literal, NamedTuple

from hookonce.model import Object

SPEC_REGEX = r"hooks/0*[01]\.[0-9]+"
MAX_TIMEOUT_S = 10**9  # seconds: no hook takes thirty years, and every agent can count its milliseconds
STRATEGIES = ("block", "warn", "exclude")
PLATFORMS = ("windows", "linux", "osx", "darwin", "macos")
# handler type → the field that says what it does
REQUIRED_FIELDS = {"command": "command", "http": "url", "prompt": "prompt", "agent": "prompt"}
REQUIRED_FIELDS |= {"function": "file", "module": "file"}

JsonKind = Literal["string", "boolean", "number", "array", "object"]


class FieldSpec(NamedTuple):
    """One field of a manifest: its JSON kind and description, the kind of its entries, allowed values and keys."""

    kind: JsonKind
    description: str
    entries: JsonKind | None = None
    choices: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


_ON_FAILURE = "What a failed hook means: open is no opinion, closed refuses; closed needs blocking."
_ENVIRONMENT = "Whose PATH and other variables that choose code the hook has; caller is not for closed hooks."
_PRIVACY = "How much a hook in an open format is told; minimal by default, and full counts in no project."
_ORDER = "any: the hook runs beside its neighbours that say so too, and can neither allow nor change input."
_ON_DENY = "stop: once the hook refuses, the hooks after it are not asked, and those beside it are ended."
_FILE = "A file of Python with functions, or a module's descriptor; from where the manifest lies."
HOOK_FIELDS = {
    "name": FieldSpec("string", "What the hook is called in messages; without it, by its place."),
    "blocking": FieldSpec("boolean", "Whether the hook may refuse what it sees."),
    "degradation": FieldSpec("object", "What to do where an agent lacks a capability.", "string", STRATEGIES),
    "capabilities": FieldSpec("array", "What the hook uses, for readers; nothing follows from it.", "string"),
    "provider_data": FieldSpec("object", "What only one agent understands, by the agent's name.", "object"),
    "on_failure": FieldSpec("string", _ON_FAILURE, choices=("open", "closed")),
    "may_allow": FieldSpec("boolean", "Whether the hook's allow counts, or only its refusals."),
    "order": FieldSpec("string", _ORDER, choices=("manifest", "any")),
    "on_deny": FieldSpec("string", _ON_DENY, choices=("continue", "stop")),
    "environment": FieldSpec("string", _ENVIRONMENT, choices=("installation", "caller")),
    "dialect": FieldSpec("string", "The agent whose input and answers the hook speaks; canonical by default."),
    "privacy": FieldSpec("string", _PRIVACY, choices=("minimal", "standard", "full")),
    "files": FieldSpec("array", "Further files that the hook needs, which trust covers too.", "string"),
}

HANDLER_FIELDS = {
    "command": FieldSpec("string", "A shell command, or the path of a script."),
    "platform": FieldSpec("object", "Other commands for some operating systems.", "string", keys=PLATFORMS),
    "cwd": FieldSpec("string", "The working directory, from the project's root."),
    "env": FieldSpec("object", "Environment variables for the command.", "string"),
    "timeout": FieldSpec("number", "Seconds until the hook has failed; 0 is the default."),
    "timeout_action": FieldSpec("string", "What a blocking hook means that came too late.", choices=("warn", "block")),
    "async": FieldSpec("boolean", "Whether nobody waits for the hook."),
    "status_message": FieldSpec("string", "What is shown while the hook runs."),
    "url": FieldSpec("string", "Where the event is sent; https, or http on this machine."),
    "method": FieldSpec("string", "The method of the request; POST by default."),
    "headers": FieldSpec("object", "Further headers; $NAME and ${NAME} stand for allowed variables.", "string"),
    "allowed_env": FieldSpec("array", "The environment variables that headers may name.", "string"),
    "prompt": FieldSpec("string", "What a language model is asked."),
    "model": FieldSpec("string", "Which language model is asked."),
    "file": FieldSpec("string", _FILE),
    "name": FieldSpec("string", "Which function of the file; without it, all that are marked for the event."),
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

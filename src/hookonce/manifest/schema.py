"""The published JSON Schema of manifests, made from the table that the checks use.

One rule cannot be said in it: that a pattern is RE2. Everything else here and in `problems` agrees.
"""

from hookonce.manifest.fields import HANDLER_FIELDS, HOOK_FIELDS, MAX_TIMEOUT_S, REQUIRED_FIELDS, SPEC_REGEX, FieldSpec
from hookonce.model import Object

REGISTRY_EDITION = "2026.04"  # the edition of the format's lists of events, tools and capabilities
_STRING_SCHEMA = {"type": "string"}
_MCP_SCHEMA = {
    "type": "object",
    "required": ["server"],
    "properties": {"server": _STRING_SCHEMA, "tool": {"type": ["string", "null"]}},
}
_TOOL_SCHEMA: Object = {
    "anyOf": [
        {"type": "string", "description": "A canonical tool, or an agent's own name of one."},
        {
            "description": "A pattern on names of tools, as RE2 reads it.",
            "type": "object",
            "required": ["pattern"],
            "properties": {"pattern": _STRING_SCHEMA, "mcp": False},
        },
        {
            "description": "A tool of an MCP server, or all of them.",
            "type": "object",
            "required": ["mcp"],
            "properties": {"mcp": _MCP_SCHEMA, "pattern": False},
        },
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


def _hook_schema() -> Object:
    closed = {"required": ["on_failure"], "properties": {"on_failure": {"const": "closed"}}}
    return {
        "type": "object",
        "required": ["event", "handler"],
        "properties": {
            "event": {"type": "string", "minLength": 1, "description": "A canonical event."},
            "matcher": _MATCHER_SCHEMA,
            "handler": {"$ref": "#/$defs/handler"},
        }
        | {name: _field_schema(field) for name, field in HOOK_FIELDS.items()},
        "if": closed,
        "then": {"required": ["blocking"], "properties": {"blocking": {"const": True}}},
    }


def _handler_schema() -> Object:
    type_property = {"type": {"enum": list(REQUIRED_FIELDS), "description": "What the handler is."}}
    return {
        "type": "object",
        "required": ["type"],
        "properties": type_property | {name: _field_schema(field) for name, field in HANDLER_FIELDS.items()},
        "allOf": [_required_field_rule(kind, field) for kind, field in REQUIRED_FIELDS.items()],
    }


def _required_field_rule(kind: str, field: str) -> Object:
    """A handler of a kind says what it does."""
    return {
        "if": {"required": ["type"], "properties": {"type": {"const": kind}}},
        "then": {"required": [field], "properties": {field: {"type": "string", "minLength": 1}}},
    }


def _field_schema(field: FieldSpec) -> Object:
    property_schema: Object = {"description": field.description, "type": [field.kind, "null"]}
    value_schema = {"enum": list(field.choices)} if field.choices else {"type": field.entries}
    if field.kind == "number":
        property_schema |= {"minimum": 0, "maximum": MAX_TIMEOUT_S}
    if field.kind == "array":
        property_schema["items"] = value_schema
    elif field.keys:
        property_schema |= {"properties": dict.fromkeys(field.keys, value_schema), "additionalProperties": False}
    elif field.kind == "object":
        property_schema["additionalProperties"] = value_schema
    elif field.choices:
        property_schema["enum"] = [*field.choices, None]
    return property_schema

"""The published JSON Schema of manifests, made from the table that the checks use.

One rule cannot be said in it: that a pattern is RE2. Everything else here and in `problems` agrees.
"""

from hookonce.manifest.fields import HANDLER, HOOK, LONGEST, NEEDS, SPEC, Field
from hookonce.model import Object

REGISTRY = "2026.04"  # the edition of the format's lists of events, tools and capabilities
_TEXT = {"type": "string"}
_SERVER = {
    "type": "object",
    "required": ["server"],
    "properties": {"server": _TEXT, "tool": {"type": ["string", "null"]}},
}
_ONE: Object = {
    "anyOf": [
        {"type": "string", "description": "A canonical tool, or an agent's own name of one."},
        {
            "description": "A pattern on names of tools, as RE2 reads it.",
            "type": "object",
            "required": ["pattern"],
            "properties": {"pattern": _TEXT, "mcp": False},
        },
        {
            "description": "A tool of an MCP server, or all of them.",
            "type": "object",
            "required": ["mcp"],
            "properties": {"mcp": _SERVER, "pattern": False},
        },
    ]
}
_MATCHER: Object = {
    "description": "The tools that the hook is for; without it, all of them.",
    "anyOf": [{"$ref": "#/$defs/tool"}, {"type": "array", "items": {"$ref": "#/$defs/tool"}}, {"type": "null"}],
}


def schema() -> Object:
    """The whole schema; unknown fields are allowed everywhere, and null is the same as absent."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://hookonce.dev/schemas/manifest.json",
        "title": "Hook manifest",
        "description": f"Hooks for any coding agent, in the Hook Interchange Format. Registries of {REGISTRY}.",
        "type": "object",
        "required": ["spec", "hooks"],
        "properties": {
            "spec": {"type": "string", "pattern": f"^{SPEC}$", "description": "The version of the format."},
            "hooks": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/hook"}},
        },
        "$defs": {"hook": _hook(), "handler": _handler(), "tool": _ONE},
    }


def _hook() -> Object:
    closed = {"required": ["on_failure"], "properties": {"on_failure": {"const": "closed"}}}
    return {
        "type": "object",
        "required": ["event", "handler"],
        "properties": {
            "event": {"type": "string", "minLength": 1, "description": "A canonical event."},
            "matcher": _MATCHER,
            "handler": {"$ref": "#/$defs/handler"},
        }
        | {name: _property(field) for name, field in HOOK.items()},
        "if": closed,
        "then": {"required": ["blocking"], "properties": {"blocking": {"const": True}}},
    }


def _handler() -> Object:
    known = {"type": {"enum": list(NEEDS), "description": "What the handler is."}}
    return {
        "type": "object",
        "required": ["type"],
        "properties": known | {name: _property(field) for name, field in HANDLER.items()},
        "allOf": [_needed(kind, field) for kind, field in NEEDS.items()],
    }


def _needed(kind: str, field: str) -> Object:
    """A handler of a kind says what it does."""
    return {
        "if": {"required": ["type"], "properties": {"type": {"const": kind}}},
        "then": {"required": [field], "properties": {field: {"type": "string", "minLength": 1}}},
    }


def _property(field: Field) -> Object:
    made: Object = {"description": field.says, "type": [field.kind, "null"]}
    allowed = {"enum": list(field.choices)} if field.choices else {"type": field.entries}
    if field.kind == "number":
        made |= {"minimum": 0, "maximum": LONGEST}
    if field.kind == "array":
        made["items"] = allowed
    elif field.keys:
        made |= {"properties": dict.fromkeys(field.keys, allowed), "additionalProperties": False}
    elif field.kind == "object":
        made["additionalProperties"] = allowed
    elif field.choices:
        made["enum"] = [*field.choices, None]
    return made

"""JSON Schema of Module Descriptor v1, as it is published."""

from hookonce.model import Object
from hookonce.modules.protocol.descriptor import (
    DEFAULT_VERSION,
    MODULE_KINDS,
    TRANSPORTS,
    V1_MODULE_KINDS,
    V1_TRANSPORTS,
)


def descriptor_schema() -> Object:
    """The published JSON Schema, built from the tables of the parser."""
    string: Object = {"type": "string"}
    strings: Object = {"type": "array", "items": string}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://hookonce.dev/schemas/module-descriptor.json",
        "title": "Module Descriptor v1",
        "description": f"Version 1 to the letter has the kinds {', '.join(V1_MODULE_KINDS)} and the transports "
        f"{', '.join(V1_TRANSPORTS)}; the others came later.",
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
                    "command": strings | {"description": "what to run, for stdio; for mcp, a server on stdio"},
                    "url": string | {"description": "https, or http on this machine; for http, mcp and grpc"},
                    "token_env": string | {"description": "the environment variable that holds the bearer token"},
                },
            },
            "capabilities": strings,
            "version": string | {"default": DEFAULT_VERSION},
        },
    }

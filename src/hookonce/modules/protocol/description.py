"""Description of a module: its six fields, built from the schemas of its operations."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from hookonce.model import Object


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

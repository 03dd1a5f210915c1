"""JSON Schema of the fields of answers: a function for each kind of field.

`meaning` is the field's description in the schema.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def string(meaning: str, *choices: str) -> Schema:
    """Return the schema of a string; with `choices`, of one of these strings."""
    return {"type": "string", "description": meaning} | ({"enum": list(choices)} if choices else {})


def integer(meaning: str) -> Schema:
    """Return the schema of an integer of 0 or more."""
    return {"type": "integer", "minimum": 0, "description": meaning}


def number(meaning: str) -> Schema:
    """Return the schema of a number of 0 or more."""
    return {"type": "number", "minimum": 0, "description": meaning}


def boolean(meaning: str) -> Schema:
    """Return the schema of a boolean."""
    return {"type": "boolean", "description": meaning}


def nullable(schema: Schema) -> Schema:
    """Return a schema that also accepts null."""
    found = schema | {"type": [schema["type"], "null"]}
    return found | ({"enum": [*schema["enum"], None]} if "enum" in schema else {})


def record(meaning: str, **fields: Schema) -> Schema:
    """Return the schema of an object, all of whose `fields` are required."""
    return {
        "type": "object",
        "description": meaning,
        "properties": fields,
        "required": list(fields),
    }


def array(meaning: str, items: Schema) -> Schema:
    """Return the schema of an array of `items`."""
    return {"type": "array", "description": meaning, "items": items}

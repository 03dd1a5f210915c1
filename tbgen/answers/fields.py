"""The kinds of fields of which the answers are described, as JSON Schema."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def text(meaning: str, *choices: str) -> Schema:
    """A string, one of some choices if there are any."""
    return {"type": "string", "description": meaning} | ({"enum": list(choices)} if choices else {})


def whole(meaning: str) -> Schema:
    """An integer from 0 on."""
    return {"type": "integer", "minimum": 0, "description": meaning}


def number(meaning: str) -> Schema:
    """A number from 0 on."""
    return {"type": "number", "minimum": 0, "description": meaning}


def flag(meaning: str) -> Schema:
    """A truth value."""
    return {"type": "boolean", "description": meaning}


def or_null(schema: Schema) -> Schema:
    """The schema, or null."""
    found = schema | {"type": [schema["type"], "null"]}
    return found | ({"enum": [*schema["enum"], None]} if "enum" in schema else {})


def record(meaning: str, **fields: Schema) -> Schema:
    """An object that has all of these fields."""
    return {
        "type": "object",
        "description": meaning,
        "properties": fields,
        "required": list(fields),
    }


def several(meaning: str, items: Schema) -> Schema:
    """A list."""
    return {"type": "array", "description": meaning, "items": items}

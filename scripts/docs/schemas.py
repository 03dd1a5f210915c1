"""Write docs/answers.schema.json and docs/json.md: every field of every answer with `--json`.

    python scripts/docs/schemas.py

The fields are described in `scripts/docs/answers.py`; the schema is for programs, the page for
people. Against them `tests/docs/test_schemas.py` holds what the commands print. Objects of the
schema are open: fields may come to them. What the test allows is closed: no field without a
description.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from answers import ANSWERS, Schema

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs" / "answers.schema.json"
PAGE = ROOT / "docs" / "json.md"

HEAD = """# JSON

Written by `python scripts/docs/schemas.py`. With `--json` every command but `engine` prints one
object on one line; so does the HTTP API ([HTTP API](http.md)). The same for programs:
[answers.schema.json](answers.schema.json) (JSON Schema 2020-12; `#/$defs/probe` is the answer of
`probe`). The tests compare what the commands print with it. Fields may be added; none goes away or
changes its meaning without a line in the changelog.
[openapi.json](openapi.json) (OpenAPI 3.1, written by `python scripts/docs/openapi.py`) has the
addresses of the HTTP API, with examples, and what the board adds to these answers.

Outcomes, values, orders and plies are defined in [Values](values.md). *Or null* is said where a
field may be null.
"""


def kind(schema: Schema) -> str:
    """The type of a field, as the page says it."""
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    name = {"integer": "number", "boolean": "true or false", "array": "list"}.get(
        types[0], types[0]
    )
    if "enum" in schema:
        name = ", ".join(f"`{choice}`" for choice in schema["enum"] if choice)
    return name + (", or null" if "null" in types else "")


def rows(schema: Schema, prefix: str = "") -> Iterator[str]:
    """The rows of a table about an object, those of objects inside it below their field."""
    for name, field in schema["properties"].items():
        yield f"| `{prefix}{name}` | {kind(field)} | {field['description']} |"
        inner = field.get("items", field)
        if "properties" in inner:
            mark = "[]." if "items" in field else "."
            yield from rows(inner, f"{prefix}{name}{mark}")


def page() -> str:
    """The page for people."""
    parts = [HEAD]
    for name, schema in ANSWERS.items():
        parts.append(f"## {name}\n\n{schema['description'].capitalize()}.\n")
        parts[-1] += "\n| field | type | |\n|---|---|---|"
        parts.append("\n".join(rows(schema)) + "\n")
    return "\n".join(parts)


def schema() -> str:
    """The schema for programs."""
    whole_schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Answers of tbgen with --json",
        "$defs": ANSWERS,
    }
    return json.dumps(whole_schema, indent=1) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(schema(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")

"""Write docs/answers.schema.json and docs/json.md: every field of every answer with `--json`.

    python scripts/docs/schemas.py

The fields are described in `scripts/docs/answers.py`; the schema is for programs, the page for
people. Against them `tests/docs/test_schemas.py` holds what the commands print. Objects of the
schema are open: fields may come to them. What the test allows is closed: no field without a
description.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from answers import ANSWERS, Schema

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs" / "answers.schema.json"
PAGE = ROOT / "docs" / "json.md"

HEAD = """# JSON

Reference for programs that read answers, written by `python scripts/docs/schemas.py`. With `--json`
every command but `engine` prints one object on one line; so does the [HTTP API](http.md)
([openapi.json](openapi.json)). [answers.schema.json](answers.schema.json) says the same as JSON
Schema 2020-12: `#/$defs/probe` is the answer of `probe`.

A field without a type is a string; numbers are 0 or more. *As in* names fields that an earlier
answer describes, perhaps at another place. Fields may be added; none goes away or changes its
meaning without a line in the changelog. Outcomes, values, orders and plies are defined
in [Values](values.md), materials in [The table file](format.md#names).
"""


def kind(schema: Schema) -> str:
    """The type of a field in brackets; nothing for a string that is never null."""
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    name = {"integer": "number", "array": "list"}.get(types[0], types[0])
    if "enum" in schema:
        name = ", ".join(f"`{choice}`" for choice in schema["enum"] if choice)
    name += " or null" if "null" in types else ""
    return "" if name == "string" else f" ({name})"


class Item(NamedTuple):
    """The line of a field, its place, and what makes it the same wherever an answer has it."""

    place: str
    line: str
    identity: str


def items(schema: Schema, seen: dict[str, str], prefix: str = "") -> Iterator[Item]:
    """The items about an object, those of objects inside it below their field.

    An object whose fields an earlier one has names that one; `seen` has them by their fields.
    """
    for name, field in schema["properties"].items():
        inner = field.get("items", field)
        fields = json.dumps(inner.get("properties", {}))
        like = seen.get(fields)
        note = f"; fields as `{like}`" if like else ""
        said = f"{kind(field)}: {field['description']}{note}"
        yield Item(prefix + name, f"- `{prefix}{name}`{said}", name + said + fields)
        if "properties" in inner and not like:
            seen[fields] = f"{prefix}{name}"
            mark = "[]." if "items" in field else "."
            yield from items(inner, seen, f"{prefix}{name}{mark}")


def page() -> str:
    """The page for people; a field that an earlier answer has, at any place, is a reference."""
    parts = [HEAD]
    first: dict[str, str] = {}
    for name, schema in ANSWERS.items():
        lines, earlier, whole = [], defaultdict(list), []
        new = list(items(schema, {}))
        for item in new:
            if any(item.place.startswith((f"{outer}.", f"{outer}[].")) for outer in whole):
                continue
            if item.identity in first:
                earlier[first[item.identity]].append(f"`{item.place}`")
                whole.append(item.place)
            else:
                lines.append(item.line)
        first.update((item.identity, name) for item in new if item.identity not in first)
        lines += [f"- as in [{one}](#{one}): {', '.join(of)}" for one, of in earlier.items()]
        head = f"## {name}\n\n{schema['description'].capitalize()}.\n\n"
        parts.append(head + "\n".join(lines) + "\n")
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

"""Write docs/answers.schema.json, the fields of all answers with `--json`, and docs/json.md.

    python scripts/docs/schemas.py

The fields are described in `scripts/docs/answers.py`; those shared with the board in
`tbgen/answers/schema.py`. The schema is for programs. The page is for people, and describes the
answers in `DESCRIBED_ANSWERS`. Objects of the schema are open, so fields may be added. The test
`tests/docs/test_schemas.py` compares what commands print, and rejects fields without description.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import defaultdict
from collections.abc import Iterator, Set
from pathlib import Path
from typing import NamedTuple

from answers import ANSWERS, Schema

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs" / "answers.schema.json"
PAGE = ROOT / "docs" / "json.md"

HEAD = """# Answers as JSON

Reference for programs that read answers, written by `python scripts/docs/schemas.py`. With `--json`
every command but `engine` prints one object on one line. [answers.schema.json](answers.schema.json)
has all fields with their types as JSON Schema 2020-12 (`#/$defs/probe` is the answer of `probe`),
[openapi.json](openapi.json) those of the [HTTP API](http.md).

Fields that an earlier answer describes are listed after *as in*. Fields may be added; none goes
away or changes its meaning without a line in the changelog. [Values](values.md) defines outcomes,
values, orders and plies, [The table file](format.md#names) materials.
"""

DESCRIBED_ANSWERS = ("probe", "line", "judge", "find", "error")
"""Answers whose fields the page describes; of the others it has only the name."""


class Item(NamedTuple):
    """A field of a JSON answer: its path in the answer, its description, and its key `identity`.

    Fields with equal keys are the same field in several answers.
    """

    place: str
    text: str
    identity: str


def items(schema: Schema, seen: dict[str, str], prefix: str = "") -> Iterator[Item]:
    """Yield the fields of an object, each followed by the fields of the objects inside it.

    An object with the same fields as an earlier one is replaced by a reference to it.

    seen : inout, path of the first object that has these fields, by the fields as JSON
    prefix : path of the object in the answer, with a dot at its end; empty for the answer
    """
    for name, field in schema["properties"].items():
        inner = field.get("items", field)
        fields = json.dumps(inner.get("properties", {}))
        like = seen.get(fields)
        named = ", ".join(f"`{choice}`" for choice in field.get("enum", ()) if choice)
        text = f" ({named})" if named else ""
        text += f": {field['description']}"
        text += f"; fields as `{like}`" if like else ""
        yield Item(prefix + name, text, name + text + fields)
        if "properties" in inner and not like:
            seen[fields] = f"{prefix}{name}"
            mark = "[]." if "items" in field else "."
            yield from items(inner, seen, f"{prefix}{name}{mark}")


def without_known(found: list[Item], known: Set[str]) -> Iterator[tuple[Item, bool]]:
    """Yield pairs (field, True if its key is in `known`); fields inside a known one are left out.

    known : `identity` of each field that an earlier answer describes
    """
    inside: tuple[str, ...] = ()
    for item in found:
        if not item.place.startswith(inside):
            is_known = item.identity in known
            yield item, is_known
            if is_known:
                inside += (f"{item.place}.", f"{item.place}[].")


def bullets(found: list[Item]) -> list[str]:
    """Return list items for fields; neighbours with the same description share an item."""
    lines: list[tuple[str, str]] = []
    for item in found:
        if lines and lines[-1][1] == item.text:
            lines[-1] = (f"{lines[-1][0]}, `{item.place}`", item.text)
        else:
            lines.append((f"- `{item.place}`", item.text))
    return [name + text for name, text in lines]


def reference(item: Item, answer: str, place: str) -> str:
    """Return the note `as in ...` for a field that an earlier answer describes.

    `place` is the field's path in the earlier answer, `answer`. If the path of `item` does not end
    with `place`, the note also names the field's object in `answer`.
    """
    if f".{item.place}".endswith(f".{place}"):
        return f"as in [{answer}](#{answer})"
    return f"as `{place.rpartition('.')[0]}` in [{answer}](#{answer})"


def page() -> str:
    """Return the page for people; fields that an earlier answer has are only named, with a link."""
    parts = [HEAD]
    first: dict[str, tuple[str, str]] = {}  # answer and place, by key
    for name in DESCRIBED_ANSWERS:
        found = list(items(ANSWERS[name], {}))
        new, earlier = [], defaultdict(list)
        for item, is_known in without_known(found, first.keys()):
            if is_known:
                earlier[reference(item, *first[item.identity])].append(f"`{item.place}`")
            else:
                new.append(item)
        first = {item.identity: (name, item.place) for item in found} | first
        lines = bullets(new)
        lines += [f"- {one}: {', '.join(of)}" for one, of in earlier.items()]
        head = f"## {name}\n\n{ANSWERS[name]['description'].capitalize()}.\n\n"
        parts.append(head + "\n".join([*lines, ""]))
    others = ", ".join(f"`{name}`" for name in ANSWERS if name not in DESCRIBED_ANSWERS)
    parts.append(f"## Other answers\n\nThe schema has the fields of {others}.")
    parts.append("")
    return "\n".join(parts)


def schema() -> str:
    """Return the text of the schema file, for programs."""
    whole_schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Answers of tbgen with --json",
        "$defs": ANSWERS,
    }
    return json.dumps(whole_schema, indent=1) + "\n"


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    SCHEMA.write_text(schema(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")

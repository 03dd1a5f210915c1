"""Write docs/python.md: what is public, with signatures and docstrings as text.

    python scripts/docs/reference.py

`SECTIONS` says what is listed; a name of `tbgen` itself that is in none of them is an error, and
`tests/docs/test_generated.py` compares.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import tbgen

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
WIDTH = 100
_JOINT = "\0"
"""Stands for blanks inside a parameter, at which no line ends."""

HEAD = """# Python

Written by `python scripts/docs/reference.py` from signatures and docstrings. All that is public is
here; what is not listed may change. Most names are in `tbgen` itself, typed, and loaded when they
are used. [Probe from Python](probing.md), [Research](research.md) and [Find positions](find.md)
show them at work. A FEN is taken wherever a position is.
"""


class Section(NamedTuple):
    """A heading, a sentence or none, the module that names are imported from, and the names."""

    title: str
    text: str
    module: str
    names: tuple[str, ...]


SECTIONS = (
    Section(
        "Open tables and ask", "", "tbgen",
        ("open_tablebase", "GameTablebase", "ProbeResult", "RootMove", "Mainline"),
    ),
    Section(
        "What every tablebase has",
        "`GameTablebase` is a `Prober`, which is a `Tablebase`: their methods are its own.",
        "tbgen.play.prober", ("Prober", "Tablebase"),
    ),
    Section("Many boards", "Every tablebase has these.", "tbgen.tables.batches", ("BoardProber",)),
    Section(
        "Tables as columns", "", "tbgen",
        ("read_table", "read_chunks", "map_columns", "TableColumns"),
    ),
    Section("Searches of whole tables", "", "tbgen", ("find", "Search", "Found")),
    Section(
        "Positions and materials", "", "tbgen",
        ("Position", "Material", "Move", "Side", "picture"),
    ),
    Section(
        "Values and rule sets", "[Values](values.md) says what they mean.", "tbgen",
        ("Outcome", "Value", "Rules", "RuleSet", "Metric"),
    ),
    Section(
        "Files", "[The table file](format.md) says how values are stored.", "tbgen.tables",
        ("TableName", "TableFile", "TableStatistics"),
    ),
    Section("The index", "", "tbgen.indexing.layout", ("Layout",)),
    Section(
        "Errors", "", "tbgen",
        (
            "InputError", "MaterialError", "PositionError", "MoveTextError", "TablebaseError",
            "MissingTableError", "IllegalPositionError", "UnsupportedMaterialError",
            "RulesMismatchError", "CorruptTableError", "FormatVersionError", "LimitExceededError",
        ),
    ),
    Section("Games against the table", "", "tbgen", ("Environment", "Step")),
    Section(
        "Rules of movement", "", "tbgen", ("legal_moves", "in_check", "is_legal", "is_terminal"),
    ),
    Section("Repetitions", "", "tbgen", ("judge", "Judgement", "Verdict")),
    Section("Plies of a judgement", "", "tbgen.referee", ("Label", "Ply")),
    Section(
        "The Chinese rules", "[Where they need no judge](referee.md).", "tbgen.referee",
        ("judge_chinese", "Game"),
    ),
    Section(
        "Notations", "", "tbgen.notation",
        ("parse_position", "format_position", "parse_move", "format_move"),
    ),
    Section(
        "Inside compiled code", "", "tbgen.probing",
        ("NumbaTables", "probe", "probe_board", "outcome_of", "order_of", "plies_of"),
    ),
    Section("Proofs", "", "tbgen.verify", ("verify_file", "VerifyReport", "Finding")),
)  # fmt: skip


def page() -> str:
    """The text of the page; raises `ValueError` for a public name that it leaves out."""
    listed = {name for section in SECTIONS for name in section.names}
    if left_out := set(tbgen.__all__) - {"__version__"} - listed:
        raise ValueError(f"public, and in no section: {', '.join(sorted(left_out))}")
    parts = [HEAD]
    for section in SECTIONS:
        module = importlib.import_module(section.module)
        parts.append(f"## {section.title}\n")
        if section.text:
            parts.append(f"{section.text}\n")
        parts.append(f"```python\n{_import_line(section)}\n```\n")
        found = [(name, getattr(module, name)) for name in section.names]
        if all(inspect.isclass(each) and issubclass(each, BaseException) for _, each in found):
            parts.append("".join(
                f"- `{name}({', '.join(base.__name__ for base in each.__bases__)})`: "
                f"{_sentences(each)}\n" for name, each in found
            ))  # fmt: skip
            continue
        for name, each in found:
            parts += _described(name, each)
    return "\n".join(parts)


def _import_line(section: Section) -> str:
    """The statement that imports the names of a section, in as many lines as it takes."""
    line = f"from {section.module} import {', '.join(section.names)}"
    if len(line) <= WIDTH:
        return line
    return f"from {section.module} import (\n    " + ",\n    ".join(section.names) + ",\n)"


def _described(name: str, found: Any) -> Iterator[str]:
    """The parts about a class or a function."""
    yield f"### {name}\n"
    if not inspect.isclass(found):
        yield _signature(name, found)
        yield _text(found)
        return
    bases = [base.__name__ for base in found.__bases__ if base is not object]
    if issubclass(found, enum.Enum):
        values = ", ".join(f"{member.name} = {member.value!r}" for member in found)
        yield f"    class {name}({', '.join(bases)}): {values}\n"
    elif issubclass(found, BaseException | tuple):
        yield f"    class {name}({', '.join(bases)})\n"
    else:
        yield _signature(name, found, bases)
    yield _text(found)
    members = {
        member: value.__func__ if isinstance(value, classmethod | staticmethod) else value
        for member, value in vars(found).items()
        if not member.startswith("_") and _is_documented(value)
    }
    properties = {each: value for each, value in members.items() if not callable(value)}
    if properties:
        yield "".join(f"- `{each}`: {_sentences(value)}\n" for each, value in properties.items())
    for member, value in members.items():
        if member not in properties:
            yield _signature(f"{name}.{member}", value, method=True)
            yield _text(value)


def _sentences(found: Any) -> str:
    """A docstring as the text of an item, its lines indented."""
    return re.sub(r"\n+", "\n  ", inspect.getdoc(found) or "")


def _is_documented(value: Any) -> bool:
    """Return whether a member is a method or a property with a docstring of its own."""
    if isinstance(value, classmethod | staticmethod):
        return True
    is_computed = isinstance(value, property) or type(value).__name__ == "cached_property"
    return (inspect.isfunction(value) or is_computed) and bool(inspect.getdoc(value))


def _signature(name: str, found: Any, bases: list[str] | None = None, method: bool = False) -> str:
    """An indented block with a name and its parameters."""
    signature = inspect.signature(getattr(found, "py_func", found))
    parameters = [re.sub(r"'", "", str(each)) if "=" not in str(each) else _plain(each)
                  for each in signature.parameters.values()]  # fmt: skip
    listed = []
    keyword = False
    for each, text in zip(signature.parameters.values(), parameters, strict=True):
        if method and each.name in ("self", "cls"):
            continue
        if each.kind == each.KEYWORD_ONLY and not keyword:
            listed.append("*")
            keyword = True
        listed.append(text)
    returned = signature.return_annotation
    end = f" -> {returned}" if isinstance(returned, str) and bases is None else ""
    prefix = "class " if bases is not None else ""
    line = f"    {prefix}{name}({', '.join(listed)}){end}"
    if len(line) > WIDTH:
        begin = f"    {prefix}{name}("
        line = textwrap.fill(
            f"{begin}{', '.join(text.replace(' ', _JOINT) for text in listed)}){end}", WIDTH,
            subsequent_indent=" " * 8, break_long_words=False, break_on_hyphens=False,
        ).replace(_JOINT, " ")  # fmt: skip
    return f"{line}\n"


def _plain(parameter: inspect.Parameter) -> str:
    """A parameter with its default; of enumerations and objects the name."""
    default = parameter.default
    said = repr(default)
    if isinstance(default, enum.Enum):
        said = f"{type(default).__name__}.{default.name}"
    elif said.startswith("<"):
        said = "..."
    annotation = parameter.annotation
    if annotation is parameter.empty:
        return f"{parameter.name}={said}"
    return f"{parameter.name}: {annotation} = {said}"


def _text(found: Any) -> str:
    """A docstring, its examples indented as code."""
    lines, example = [], False
    for line in (inspect.getdoc(found) or "").splitlines():
        example = bool(line) and (example or line.startswith(">>> "))
        if example and lines and line.startswith(">>> ") and not lines[-1].startswith("    "):
            lines.append("")
        lines.append(f"    {line}" if example else line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

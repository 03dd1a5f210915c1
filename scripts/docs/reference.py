"""Write docs/python.md: the public names, their modules, and one sentence about each.

    python scripts/docs/reference.py

`SECTIONS` lists the names; a name of `tbgen` that is in no section is an error. Types, errors and
examples are left to `help(name)`. `tests/docs/test_generated.py` compares the file.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import tbgen

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"

HEAD = """# Public names in Python

Reference for authors of programs, written by `python scripts/docs/reference.py`. Examples are in
[Probe from Python](probing.md), [Research](research.md) and [Find positions](find.md). `help(name)`
has types, errors and members.

Names are in `tbgen`, unless a section names another module. Names that are not listed may change.
Where a type has `| str`, text is accepted: a FEN for a `Position`, "red" for a `Side`, "win" for an
`Outcome`, and so on. A tablebase, `NumbaTables` and `Environment` can be pickled for other
processes, which open the files again.
"""

DETAILED = {"GameTablebase", "Prober"}
"""Classes with a line for each member; members of other classes are only named."""


class Section(NamedTuple):
    """A heading, an optional sentence, the module that names are imported from, and the names."""

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
    Section(
        "Tables as columns", "", "tbgen",
        ("read_table", "read_chunks", "map_columns", "TableColumns"),
    ),
    Section("Searches of whole tables", "", "tbgen", ("find", "Search", "Query", "Found")),
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
        ("TableName", "TableFile", "TableStatistics", "WdlName", "WdlFile"),
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
    Section(
        "Reasons", "[Examples](probing.md#reasons).", "tbgen.answers.mechanism",
        ("find_mechanism", "Mechanism", "Offence"),
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
        "Inside compiled code",
        "Statuses `OK`, `COLD`, `MISSING`, `INVALID`: "
        "[Probe from compiled code](probing-numba.md).",
        "tbgen.probing",
        (
            "NumbaTables", "probe", "probe_board", "outcome_of", "order_of", "plies_of",
            "WdlTables", "find_wdl", "probe_wdl", "probe_wdl_found", "is_legal_board",
        ),
    ),
    Section("Proofs", "", "tbgen.verify", ("verify_file", "FileProof", "VerifyReport", "Finding")),
)  # fmt: skip


def page() -> str:
    """Return the text of the page; raises `ValueError` for a public name in no section."""
    listed = {name for section in SECTIONS for name in section.names}
    if left_out := set(tbgen.__all__) - {"__version__"} - listed:
        raise ValueError(f"public, and in no section: {', '.join(sorted(left_out))}")
    parts = [HEAD]
    for section in SECTIONS:
        module = importlib.import_module(section.module)
        parts.append(f"## {section.title}\n")
        place = "" if section.module == "tbgen" else f"In `{section.module}`."
        if text := f"{place} {section.text}".strip():
            parts.append(f"{text}\n")
        found = [getattr(module, name) for name in section.names]
        if all(isinstance(each, type) and issubclass(each, Exception) for each in found):
            parts.append(f"{', '.join(map(_derived, found))}.")
        else:
            parts.append("\n".join(line for name in section.names for line in _lines(module, name)))
        parts.append("")
    return "\n".join(parts)


def _lines(module: Any, name: str) -> Iterator[str]:
    """Yield the page's lines about a name of a module; for a class with its members."""
    found = getattr(module, name)
    if not inspect.isclass(found):
        yield f"- `{_signature(name, found)}`: {_summary(found)}"
        return
    title = name
    summary = _summary(found)
    members = _members(found)
    if issubclass(found, enum.Enum):
        summary += f" {', '.join(f'`{each.name}`' for each in found)}."
    elif {"__init__", "__new__"} & set(vars(found)):
        title = _signature(name, found)
    if name in DETAILED:
        yield f"- `{title}`: {summary}"
        for member, value in members.items():
            called = _signature(member, value) if inspect.isfunction(value) else member
            yield f"    - `{called}`: {_summary(value)}"
        return
    called = [f"`{each}{'()' * inspect.isfunction(value)}`" for each, value in members.items()]
    more = f" Members: {', '.join(called)}." if called else ""
    yield f"- `{title}`: {summary}{more}"


def _derived(error: type[Exception]) -> str:
    """Return an error class as code, with its base classes."""
    return f"`{error.__name__}({', '.join(base.__name__ for base in error.__bases__)})`"


def _members(found: Any) -> dict[str, Any]:
    """Map the documented public methods and properties of a class and its private bases by name.

    Class methods and static methods are unwrapped.
    """
    members = {
        name: value.__func__ if isinstance(value, classmethod | staticmethod) else value
        for kind in (found, *(base for base in found.__bases__ if base.__name__.startswith("_")))
        for name, value in vars(kind).items()
        if not name.startswith("_")
    }
    return {name: value for name, value in members.items() if _is_documented(value)}


def _is_documented(value: Any) -> bool:
    """Return whether a member is a method or a property with a docstring, its own or inherited."""
    is_computed = isinstance(value, property) or type(value).__name__ == "cached_property"
    return (inspect.isfunction(value) or is_computed) and bool(inspect.getdoc(value))


def _summary(found: Any) -> str:
    """Return the first sentence of a docstring."""
    first = (inspect.getdoc(found) or "").partition("\n\n")[0]
    return " ".join(re.split(r"(?<=\.)\s+(?=[A-Z`])", first, maxsplit=1)[0].split())


def _signature(name: str, found: Any) -> str:
    """Return a call as code: `name` with the parameters of `found` and their defaults."""
    listed = []
    keyword = False
    for each in inspect.signature(getattr(found, "py_func", found)).parameters.values():
        if each.name in ("self", "cls"):
            continue
        if each.kind == each.KEYWORD_ONLY and not keyword:
            listed.append("*")
            keyword = True
        star = "*" * (each.kind == each.VAR_POSITIONAL)
        listed.append(star + each.name + _default(each.default))
    return f"{name}({', '.join(listed)})"


def _default(default: Any) -> str:
    """Return a parameter's default as code after `=`, `...` for an object; empty without one."""
    if default is inspect.Parameter.empty:
        return ""
    if isinstance(default, enum.Enum):
        return f"={type(default).__name__}.{default.name}"
    return "=..." if repr(default).startswith("<") else f"={default!r}"


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    PAGE.write_text(page(), encoding="utf-8")

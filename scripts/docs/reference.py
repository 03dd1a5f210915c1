"""Write docs/python.md: public names with signatures, summaries and errors.

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
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import tbgen

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
WIDTH = 100
_JOINT = "\0"
"""Stands for blanks inside a parameter, at which no line ends."""

HEAD = """# Python

Reference of the public names, for programs in Python; written by
`python scripts/docs/reference.py`. `help(name)` has the whole docstring and examples. A name that
is not listed may change. Text is taken for a `Position` (a FEN), `Material`, `Move`, `Rules`,
`Metric`, `Offence` and `Path`; a parameter without a type has that
of its default, else that of its name; each whose default is None may be None. In use:
[Probe from Python](probing.md), [Research](research.md), [Find positions](find.md).
"""


class Section(NamedTuple):
    """A heading, a sentence or none, the module that names are imported from, and the names."""

    title: str
    text: str
    module: str
    names: tuple[str, ...]
    brief: bool = False
    """Whether members are named alone, without signatures and summaries."""


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
        ("TableName", "TableFile", "TableStatistics"), brief=True,
    ),
    Section("The index", "", "tbgen.indexing.layout", ("Layout",), brief=True),
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
        ("judge_chinese", "Game"), brief=True,
    ),
    Section(
        "Notations", "", "tbgen.notation",
        ("parse_position", "format_position", "parse_move", "format_move"),
    ),
    Section(
        "Inside compiled code", "", "tbgen.probing",
        ("NumbaTables", "probe", "probe_board", "outcome_of", "order_of", "plies_of"),
    ),
    Section("Proofs", "", "tbgen.verify", ("verify_file", "VerifyReport", "Finding"),
        brief=True),
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
        parts.append(f"In `{section.module}`. {section.text}".strip() + "\n")
        found = [(name, getattr(module, name)) for name in section.names]
        plain = [
            (name, each) for name, each in found
            if not inspect.isclass(each) or issubclass(each, BaseException)
        ]  # fmt: skip
        if plain:
            parts.append(_items(plain))
        for name, each in found:
            if (name, each) not in plain:
                parts += _described(name, each, brief=section.brief)
    return "\n".join(parts)


def _items(found: Iterable[tuple[str, Any]]) -> str:
    """Functions, errors or members as a list."""
    return "".join(f"- `{_line(name, each)}`: {_summary(each)}\n" for name, each in found)


def _described(name: str, found: Any, *, brief: bool) -> Iterator[str]:
    """The parts about a class."""
    yield f"### {name}\n"
    bases = [base.__name__ for base in found.__bases__ if base is not object]
    if issubclass(found, enum.Enum):
        values = ", ".join(f"{member.name} = {member.value!r}" for member in found)
        yield f"    class {name}({', '.join(bases)}): {values}\n"
    elif {"__init__", "__new__"} & set(vars(found)):
        yield _block(f"class {_signature(name, found)}")
    yield f"{_summary(found)}\n"
    members = {
        member: value.__func__ if isinstance(value, classmethod | staticmethod) else value
        for member, value in vars(found).items()
        if not member.startswith("_") and _is_documented(value)
    }
    if members and brief:
        yield f"Members: {', '.join(f'`{member}`' for member in members)}.\n"
    elif members:
        yield _items(members.items())


def _line(name: str, found: Any) -> str:
    """A name in one line: of a function its signature, of an error its bases."""
    if inspect.isclass(found):
        return f"{name}({', '.join(base.__name__ for base in found.__bases__)})"
    return _signature(name, found).replace(_JOINT, " ") if callable(found) else name


def _summary(found: Any) -> str:
    """The first sentence of a docstring, its errors, and types of parameters of kernels."""
    text = inspect.getdoc(found) or ""
    first, *more = text.split("\n\n")
    plain = " ".join(text.split())
    kept = [re.split(r"(?<=\.)\s+(?=[A-Z`])", first, maxsplit=1)[0]]
    kept += re.findall(r"(?<=[.] )(Raises .+?\.)(?= [A-Z>]|$)", plain)
    for entry in re.findall(r"^\w+(?:, \w+)* : (?:.+\n?)+", "\n\n".join(more), re.MULTILINE):
        kept += [f"`{line}`." for line in re.split(r"\n(?! )", entry.strip())]
    return " ".join(" ".join(dict.fromkeys(kept)).split())


def _is_documented(value: Any) -> bool:
    """Return whether a member is a method or a property with a docstring of its own."""
    if isinstance(value, classmethod | staticmethod):
        return True
    is_computed = isinstance(value, property) or type(value).__name__ == "cached_property"
    return (inspect.isfunction(value) or is_computed) and bool(inspect.getdoc(value))


def _signature(name: str, found: Any) -> str:
    """A name with its parameters and its result, in one line; `_JOINT` inside parameters."""
    signature = inspect.signature(getattr(found, "py_func", found))
    listed = []
    keyword = False
    for each in signature.parameters.values():
        if each.name in ("self", "cls"):
            continue
        if each.kind == each.KEYWORD_ONLY and not keyword:
            listed.append("*")
            keyword = True
        text = (
            re.sub(r"'|ForwardRef\(|\)$", "", str(each)) if "=" not in str(each) else _plain(each)
        )
        text = re.sub(r"(?: \| None)?(?= = None$)| \| str\b", "", text)
        text = re.sub(r": [^=]* = (?!None$|\.\.\.$)", "=", text)
        same = re.match(rf"{each.name}: {each.name.capitalize()}(?: \| None)?(?= =|$)", text)
        if same is not None:
            text = each.name + text[same.end() :]
        text = text.replace(" = ", "=")
        listed.append(text.replace(" ", _JOINT))
    returned = signature.return_annotation
    end = f" -> {returned}" if isinstance(returned, str) and not inspect.isclass(found) else ""
    return f"{name}({', '.join(listed)}){end}"


def _block(line: str) -> str:
    """A signature as an indented block."""
    text = textwrap.fill(
        f"    {line}", WIDTH,
        subsequent_indent=" " * 8, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return f"{text.replace(_JOINT, ' ')}\n"


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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

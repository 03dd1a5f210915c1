"""Documentation of kernel parameters, and type annotations of other functions.

numba's types have no names in Python, so a kernel's docstring describes each of its parameters:
`name : type, meaning`, or `name, name : type, meaning`, with the type first and an array's shape
beside it. A package may describe parameters of all its kernels in the docstring of its `__init__`,
below the line `GLOSSARY`; a kernel's own docstring takes precedence. The line `GLOSSARY` may name
another package whose descriptions hold, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.helpers.paths import ROOT
from tests.helpers.sources import (
    PACKAGE_FOLDERS,
    Function,
    decorators,
    functions,
    is_kernel,
    name_of,
    parameters,
    python_files,
    tree_of,
)

GLOSSARY = re.compile(
    r"Parameters of kernels, unless a kernel says otherwise(?:, those of `tbgen\.(\w+)`, and)?:\n"
)
TYPES = re.compile(
    r"(bool|float|bytes|str|(u?int|float)(8|16|32|64)?|unsigned|codes|function|tuple)\b"
)
"""Regular expression for the types that a parameter's description may begin with.

Classes of the project are allowed in addition; `codes` are unsigned integers as wide as the
table's.
"""
HEADERS = {
    True: "# mypy: allow-untyped-defs, allow-untyped-calls",
    False: "# mypy: allow-untyped-calls",
}
"""First line that a file must have: of a file that defines kernels (True), or only calls them
(False).
"""

_ENTRY = re.compile(r"(?:^\s*|[;.] )(\w+(?:, \w+)*) : (?=\S)", re.MULTILINE)

PACKAGE = python_files(*PACKAGE_FOLDERS)


def entries(text: str) -> dict[str, str]:
    """Return the description of each parameter in a docstring, from its type on."""
    found: dict[str, str] = {}
    marks = list(_ENTRY.finditer(text))
    for mark, after in zip(marks, [*marks, None][1:], strict=True):
        said = text[mark.end() : after.start() if after else None]
        for name in mark[1].split(", "):
            found[name] = " ".join(said.split())
    return found


def glossary(folder: Path) -> dict[str, str]:
    """Return the parameter descriptions in a folder's `__init__`, by name.

    Those of the package that the line `GLOSSARY` names are included.
    """
    path = folder / "__init__.py"
    text = (ast.get_docstring(tree_of(path)) if path.exists() else None) or ""
    found = GLOSSARY.search(text)
    if not found:
        return {}
    lines = text[found.end() :].splitlines()
    end = next((i for i, line in enumerate(lines) if line and line[0] != " "), len(lines))
    others = glossary(ROOT / "tbgen" / found[1]) if found[1] else {}
    return others | entries("\n".join(lines[:end]))


def glossaries(path: Path) -> dict[str, str]:
    """Return the parameter descriptions of a file's package and its parents, by name.

    The inner package takes precedence.
    """
    found: dict[str, str] = {}
    for folder in reversed(path.parents):
        if folder.is_relative_to(ROOT):
            found |= glossary(folder)
    return found


@cache
def named_types() -> set[str]:
    """Return the names of classes, and of module variables (type aliases) not in upper case."""
    found = set()
    for path in PACKAGE:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                found.add(node.name)
        for statement in tree_of(path).body:
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            found |= {t.id for t in targets if isinstance(t, ast.Name) and not t.id.isupper()}
    return found


@cache
def with_kernels() -> list[Path]:
    """Return the files of the package that have kernels."""
    return [path for path in PACKAGE if any(map(is_kernel, functions(path)))]


def indexed(function: Function) -> set[str]:
    """Return the parameters and variables that a function indexes, as in `name[...]`.

    They are arrays or tuples, and the description of an array needs its shape.
    """
    return {
        node.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
    }


def complaint(said: str | None, *, is_array: bool) -> str | None:
    """Return the fault in a parameter's description; None if it is correct.

    said : the description, None if there is none
    """
    if said is None:
        return "not documented"
    first = re.match(r"`?([A-Za-z_]\w*)`?", said)
    if first is not None and first[1] in named_types():
        return None
    number = TYPES.match(said)
    if number is None:
        return f"no type first: {said[:50]}"
    if is_array and number[0] not in ("bytes", "str", "tuple"):
        described = re.match(r"(?: (?:or|and) \w+)*,? ?\(", said[number.end() :])
        return None if described else f"an array without its shape: {said[:50]}"
    return None


def complaints(function: Function, shared: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (parameter, fault) for each faulty description of a kernel's parameters.

    shared : descriptions in the `__init__` of its package, for parameters of all kernels
    """
    arrays = indexed(function)
    own = entries(ast.get_docstring(function) or "")
    names = [parameter.arg for parameter in parameters(function)]
    for name in names:
        found = complaint(own.get(name, shared.get(name)), is_array=name in arrays)
        if found:
            yield name, found
    yield from ((name, "documented, and no parameter") for name in own if name not in names)


def test_kernels_document_every_parameter() -> None:
    wrong = [
        f"{name_of(path)}: {function.name}: {name}: {found}"
        for path in with_kernels()
        for function in filter(is_kernel, functions(path))
        for name, found in complaints(function, glossaries(path))
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_packages_name_their_modules() -> None:
    """A package's `__init__` names each of its modules, `tbgen.cli` some of them as commands."""
    unnamed = [
        name_of(path)
        for path in python_files(*PACKAGE_FOLDERS)
        if not path.stem.startswith("__")
        and not re.search(rf"\b{path.stem}\b", path.with_name("__init__.py").read_text("utf-8"))
    ]
    assert not unnamed


def test_functions_are_typed() -> None:
    untyped = []
    for path in python_files(*PACKAGE_FOLDERS, "scripts"):
        exempt: set[ast.AST] = set()
        for function in functions(path):
            # Intrinsics return a signature; functions inside kernels and intrinsics are compiled.
            if is_kernel(function) or "intrinsic" in decorators(function):
                exempt.update(ast.walk(function))
        for function in functions(path):
            if function in exempt:
                continue
            untyped += [
                f"{name_of(path)}: {function.name}: {parameter.arg}"
                for parameter in parameters(function)
                if parameter.annotation is None and parameter.arg not in ("self", "cls")
            ]
            if function.returns is None:
                untyped.append(f"{name_of(path)}: {function.name}: what it returns")
    assert not untyped, "\n" + "\n".join(untyped)


def test_only_files_with_kernels_are_exempt_from_types() -> None:
    wrong = []
    for path in PACKAGE:
        header = path.read_text("utf-8").partition("\n")[0]
        if header.startswith("# mypy:") and header != HEADERS[path in with_kernels()]:
            wrong.append(f"{name_of(path)}: {header}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_parsing_of_parameter_descriptions() -> None:
    """Every form of description is parsed, and faults in descriptions are found."""
    said = entries("""Do it.

    lo, hi : uint64, a row
    rows : uint64 (rows, 2), in/out; the set.
        More of it; listed : int32 (n,), its mids. front : Frontier
    """)
    assert list(said) == ["lo", "hi", "rows", "listed", "front"]
    assert said["rows"] == "uint64 (rows, 2), in/out; the set. More of it"
    assert complaint(said["rows"], is_array=True) is None
    assert complaint(said["lo"], is_array=False) is None
    assert complaint(said["front"], is_array=True) is None
    assert complaint("bool (2, 90)", is_array=True) is None
    assert complaint("uint32 and codes (slots,)", is_array=True) is None
    assert complaint("uint8 or uint16 (slots,), codes", is_array=True) is None
    assert complaint(said["lo"], is_array=True) == "an array without its shape: uint64, a row"
    assert complaint("the side", is_array=False) == "no type first: the side"
    assert complaint(None, is_array=False) == "not documented"

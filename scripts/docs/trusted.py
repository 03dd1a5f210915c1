"""Write the table of trusted code into docs/proof.md, from the imports of the code.

    python scripts/docs/trusted.py

Trusted code is what a proof depends on: every module that `tbgen.verify` imports, directly or not.
Modules that `tbgen.retrograde` or `tbgen.building` import as well are shared with the builder.
`tests/docs/test_generated.py` compares the table.
"""

from __future__ import annotations

import ast
import re
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import defaultdict
from collections.abc import Callable
from functools import cache

import architecture

PAGE = architecture.ROOT / "docs" / "proof.md"
FIRST, LAST = "<!-- trusted: scripts/docs/trusted.py -->", "<!-- end -->"

PROOF = "tbgen.verify"
BUILDER = ("tbgen.retrograde", "tbgen.building")

NUMBER = re.compile(r"\d[\d,]*")

ROLES = {
    "tbgen.verify": "the proof",
    "tbgen.indexing": "the index, squares, materials, rule sets",
    "tbgen.rules": "movement, checks, attacks and chases",
    "tbgen.tables": "codes, the reader, names, statistics, certificates",
    "tbgen.compiling": "compiles kernels; returns memory",
    "tbgen.scheduling": "the order of proofs",
    "tbgen.system": "files, memory, threads",
}


@cache
def imports(module: str) -> frozenset[str]:
    """Return the modules of tbgen that a module imports, and its package, which Python runs first.

    Without `tbgen`, which only re-exports.
    """
    names = architecture.sources().keys() - {"tbgen"}
    return frozenset(names & {*architecture.imported(module), module.rpartition(".")[0]})


def reached(roots: list[str]) -> set[str]:
    """Return the modules `roots` and all modules that they import, directly or not."""
    found: set[str] = set()
    left = list(roots)
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            left += imports(module)
    return found


def modules_of(*packages: str) -> list[str]:
    """List all modules of packages, given by import names."""
    prefixes = tuple(f"{package}." for package in packages)
    return [module for module in architecture.sources() if f"{module}.".startswith(prefixes)]


def table() -> str:
    """Return the Markdown table of the trusted packages; numbers of lines are rounded to hundreds.

    Raises `ValueError` if `ROLES` lacks a package.
    """
    proof, builder = reached(modules_of(PROOF)), reached(modules_of(*BUILDER))
    of_package: dict[str, set[str]] = defaultdict(set)
    for module in proof:
        of_package[".".join(module.split(".")[:2])].add(module)
    unknown = of_package.keys() - ROLES.keys()
    if unknown:
        raise ValueError(f"add roles to ROLES for: {', '.join(sorted(unknown))}")
    lines = [
        "| package | is | files | lines | of them code | lines shared with the builder |",
        "|---|---|---|---|---|---|",
    ]
    for package, role in ROLES.items():
        modules = of_package[package]
        lines.append(
            f"| `{package}` | {role} | {len(modules)} | {hundreds(modules, all_lines)} "
            f"| {hundreds(modules, code_lines)} | {hundreds(modules & builder, all_lines)} |"
        )
    return "\n".join(lines)


def hundreds(modules: set[str], lines: Callable[[str], int]) -> str:
    """Format the total of `lines` of the sources of modules, rounded to hundreds."""
    total = sum(lines(architecture.sources()[module].read_text("utf-8")) for module in modules)
    return f"{round(total, -2):,}"


def all_lines(source: str) -> int:
    """Return the number of lines of a source."""
    return len(source.splitlines())


def code_lines(source: str) -> int:
    """Return the number of lines of a source that are not blank, a comment or part of a docstring.

    As docstrings count all constants that are statements, such as strings and `...`.
    """
    tree = ast.parse(source)
    text = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return sum(
        number not in text and bool(line.strip()) and not line.lstrip().startswith("#")
        for number, line in enumerate(source.splitlines(), 1)
    )


def page() -> str:
    """Return the text of docs/proof.md with a new table."""
    before, _, rest = PAGE.read_text("utf-8").partition(FIRST)
    _, _, after = rest.partition(LAST)
    return f"{before}{FIRST}\n\n{table()}\n\n{LAST}{after}"


def is_current(text: str) -> bool:
    """Return whether the text of the page is current; the table's numbers may be off by a tenth."""
    words, numbers = zip(*(split(each) for each in (text, page())), strict=True)
    return words[0] == words[1] and all(
        10 * abs(told - now) <= now for told, now in zip(*numbers, strict=True)
    )


def split(text: str) -> tuple[str, list[int]]:
    """Return a page without the numbers in the table of trusted code, and these numbers."""
    before, _, rest = text.partition(FIRST)
    within, _, after = rest.partition(LAST)
    numbers = [int(number.replace(",", "")) for number in NUMBER.findall(within)]
    return before + NUMBER.sub("", within) + after, numbers


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    PAGE.write_text(page(), "utf-8")

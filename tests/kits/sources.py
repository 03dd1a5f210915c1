"""The project's own text and code, as the laws of the house read them: paths, trees, kernels."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.kits.paths import ROOT

PACKAGE_FOLDERS = ("tbgen", "indexing", "tables")
KERNEL_DECORATORS = {
    "kernel",
    "borrowing_kernel",
    "part",
    "inlined_part",
    "recursive_part",
    "scalar",
}
"""What makes a function one that numba compiles (`tbgen.compiling.jit`)."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def python_files(*folders: str) -> list[Path]:
    """Every Python file of some top-level folders, in order."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def pages() -> list[Path]:
    """Every page of Markdown: those beside the README, those of docs/, those of tests/."""
    return [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md")),
            *sorted(ROOT.glob("tests/**/*.md"))]  # fmt: skip


def name_of(path: Path) -> str:
    """A path as messages show it, from the root of the repository."""
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def functions(path: Path) -> Iterator[Function]:
    """Every function of a file: methods and functions inside functions, too."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, Function):
            yield node


def decorators(function: Function) -> set[str]:
    """The last names of a function's decorators: `kernel` of `@jit.kernel` and `@kernel(...)`."""
    found = set()
    for decorator in function.decorator_list:
        node = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Name):
            found.add(node.id)
    return found


def is_kernel(function: Function) -> bool:
    """Return whether numba compiles the function."""
    return bool(decorators(function) & KERNEL_DECORATORS)


def parameters(function: Function) -> list[ast.arg]:
    """Every parameter of a function, in order."""
    listed = function.args
    starred = [arg for arg in (listed.vararg, listed.kwarg) if arg is not None]
    return [*listed.posonlyargs, *listed.args, *listed.kwonlyargs, *starred]

"""Source files of the project for the house tests: paths, trees, kernels."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.helpers.paths import ROOT

PACKAGE_FOLDERS = ("tbgen", "indexing", "tables")
KERNEL_DECORATORS = {
    "kernel",
    "borrowing_kernel",
    "part",
    "recursive_part",
    "scalar",
}
"""Names of the decorators that make a function a kernel (`tbgen.compiling.jit`)."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def python_files(*folders: str) -> list[Path]:
    """List every Python file of some top-level folders, subfolders included, sorted by path."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def pages() -> list[Path]:
    """List every Markdown page in the root folder, in docs/ and in tests/, subfolders included."""
    return [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md")),
            *sorted(ROOT.glob("tests/**/*.md"))]  # fmt: skip


def name_of(path: Path) -> str:
    """Return a path relative to the root of the repository."""
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def functions(path: Path) -> Iterator[Function]:
    """Yield every function of a file, including methods and nested functions."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, Function):
            yield node


def decorators(function: Function) -> set[str]:
    """Return the last name of each of a function's decorators: `kernel` for `@jit.kernel(...)`."""
    found = set()
    for decorator in function.decorator_list:
        node = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Name):
            found.add(node.id)
    return found


def is_kernel(function: Function) -> bool:
    """Return whether a function is a kernel."""
    return bool(decorators(function) & KERNEL_DECORATORS)


def parameters(function: Function) -> list[ast.arg]:
    """List every parameter of a function; `*args` and `**kwargs` come last."""
    listed = function.args
    starred = [arg for arg in (listed.vararg, listed.kwarg) if arg is not None]
    return [*listed.posonlyargs, *listed.args, *listed.kwonlyargs, *starred]

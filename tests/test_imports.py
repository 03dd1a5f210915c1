"""Imports go one way, and probing never loads a compiler."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

ALLOWED = {
    "indexing": {"tbgen.indexing"},
    "tables": {"tbgen.indexing", "tbgen.tables"},
}
OUTSIDE = {"indexing": {"numpy"}, "tables": {"numpy", "zstandard"}}


def imported_modules(source: Path) -> Iterator[str]:
    """Every module that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source}: relative import"
            assert node.module is not None
            yield node.module


@pytest.mark.parametrize("folder", list(ALLOWED))
def test_imports_go_one_way(folder: str) -> None:
    sources = sorted((ROOT / folder).glob("**/*.py"))
    assert len(sources) > 5
    for source in sources:
        for module in imported_modules(source):
            top = module.split(".")[0]
            if top == "tbgen":
                package = ".".join(module.split(".")[:2])
                assert package in ALLOWED[folder], f"{source.name} imports {module}"
            else:
                known = top in sys.stdlib_module_names or top in OUTSIDE[folder]
                assert known, f"{source.name} imports {module}"


@pytest.mark.parametrize("module", ["tbgen", "tbgen.indexing", "tbgen.tables"])
def test_probing_needs_no_compiler(module: str) -> None:
    script = f"import sys, {module}; sys.exit('numba' in sys.modules or 'llvmlite' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT).returncode == 0

"""Imports go one way: one table of layers for all packages, and no import cycle of modules."""

import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.helpers.paths import ROOT
from tests.helpers.sources import PACKAGE_FOLDERS, python_files

sys.path.insert(0, str(ROOT / "scripts" / "docs"))

from architecture import imported, package_of, sources

LAYERS: dict[str, set[str]] = {
    "system": set(),
    "indexing": set(),
    "tables": {"indexing"},
    "compiling": {"indexing"},
    "rules": {"indexing"},
    "referee": {"indexing", "compiling", "rules", "tables"},
    "rows": {"indexing", "compiling", "rules"},
    "retrograde": {"indexing", "compiling", "rules", "rows", "tables"},
    "verify": {"indexing", "compiling", "rules", "scheduling", "tables"},
    "probing": {"indexing", "compiling", "rules", "tables"},
    "notation": {"indexing", "rules"},
    "play": {"indexing", "referee", "rules", "tables"},
    "answers": {"indexing", "notation", "play", "referee", "rules", "tables"},
    "scheduling": {"indexing"},
    "publishing": {"indexing", "tables"},
    "building": {"compiling", "indexing", "notation", "retrograde", "rows", "scheduling", "tables"},
    "finding": {
        "answers", "compiling", "indexing", "notation", "play", "probing", "rules", "tables",
    },
    "board.language": {
        "answers", "indexing", "notation", "play", "referee", "tables",
    },
    "board.drawing": {
        "board.language", "indexing", "notation", "play", "referee", "rules", "tables",
    },
    "board.knowledge": {
        "answers", "board.language", "finding", "indexing", "notation", "play", "referee", "rules",
        "tables",
    },
    "board.web": {
        "answers", "board.drawing", "board.knowledge", "board.language", "finding", "indexing",
        "notation", "play", "publishing", "referee", "rules", "tables",
    },
    "engine": {
        "answers", "compiling", "indexing", "notation", "play", "probing", "referee", "rules",
        "tables",
    },
    "cli": {
        "answers", "board.drawing", "board.knowledge", "board.web", "building", "compiling",
        "engine", "finding", "indexing", "notation", "play", "probing", "publishing", "referee",
        "rules", "scheduling", "tables", "verify",
    },
}  # fmt: skip
"""Allowed imports of each package; all others are forbidden. Every package may import `tbgen`
itself, which loads its names lazily, and `system`.
"""

OUTSIDE = {
    "system": set(),
    "indexing": {"numpy"},
    "tables": {"numpy", "zstandard"},
    "rules": {"numpy"},
    "notation": set(),
    "play": set(),
    "answers": set(),
    "board.language": set(),
    "board.drawing": {"resvg_py", "PIL"},
    "board.knowledge": {"numpy"},
}
"""Allowed external packages of packages with few dependencies: none of them is numba."""


def test_every_package_has_a_layer() -> None:
    assert {package_of(module) for module in sources()} == {"", *LAYERS}


def test_layers_have_no_cycle() -> None:
    assert len(list(TopologicalSorter(LAYERS).static_order())) == len(LAYERS)


@pytest.mark.parametrize("package", list(LAYERS))
def test_imports_go_one_way(package: str) -> None:
    for module in sources():
        if package_of(module) != package:
            continue
        for other in imported(module):
            top = other.split(".")[0]
            if top == "tbgen":
                allowed = {"", "system", package, *LAYERS[package]}
                assert package_of(other) in allowed, f"{module} imports {other}"
            elif package in OUTSIDE:
                known = top in sys.stdlib_module_names or top in OUTSIDE[package]
                assert known, f"{module} imports {other}"


def test_language_and_knowledge_have_no_markup() -> None:
    for module in sources():
        if package_of(module) in ("board.language", "board.knowledge"):
            assert not {"html", "urllib"} & {other.split(".")[0] for other in imported(module)}


def test_modules_have_no_import_cycle() -> None:
    """No module imports itself through others; imports for types and in functions count."""
    graph = {
        module: {other for other in imported(module) if other in sources() and other != module}
        for module in sources()
        if module != "tbgen"  # which imports lazily
    }
    for needed in graph.values():
        needed.discard("tbgen")
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_proofs_import_nothing_of_the_builder() -> None:
    """The proof imports no module of the builder, neither directly nor through others."""
    reached, waiting = set(), [module for module in sources() if package_of(module) == "verify"]
    while waiting:
        module = waiting.pop()
        if module not in reached and module in sources():
            reached.add(module)
            waiting += imported(module)
    assert not {"rows", "retrograde", "building"} & {package_of(module) for module in reached}


def test_every_process_is_started_without_the_current_directory() -> None:
    """No Python process that tbgen starts imports modules from the current directory.

    Each is started by `python_command`, or inside `safe_path` where a library starts it.
    """
    for path in python_files(*PACKAGE_FOLDERS):
        text = path.read_text("utf-8")
        assert "sys.executable" not in text or path == ROOT / "tbgen" / "system" / "platform.py", (
            path
        )
        assert (
            not re.search(r"multiprocessing\.get_context|LocalCluster\(", text)
            or "safe_path()" in text
        ), path


@pytest.mark.parametrize(
    "module",
    ["tbgen", "tbgen.indexing", "tbgen.tables", "tbgen.play.tablebase", "tbgen.board.web.routes"],
)
def test_probing_needs_no_compiler(module: str) -> None:
    script = f"import sys, {module}; sys.exit('numba' in sys.modules or 'llvmlite' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT).returncode == 0

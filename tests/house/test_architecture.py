"""docs/architecture.md agrees with the code, and its picture is current."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from keyword import iskeyword
from xml.etree import ElementTree

from tests.helpers.paths import DOCS, ROOT
from tests.helpers.sources import python_files, tree_of

sys.path.insert(0, str(ROOT / "scripts" / "docs"))

import architecture

PAGE = (DOCS / "architecture.md").read_text("utf-8")
MARKED = sorted(set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL))))
PATHS = [mark for mark in MARKED if "/" in mark or re.search(r"\.(md|py|svg)$", mark)]
COMMANDS = [mark for mark in MARKED if re.match(r"tbgen |python |--", mark)]
NAMES = [mark for mark in MARKED if mark not in PATHS and mark not in COMMANDS]


@cache
def defined() -> set[str]:
    """Return all names that the code defines.

    These are modules, classes, functions, parameters, variables, attributes, and constant keys of
    dictionaries. Names cited in docs/architecture.md must be among them.
    """
    found = {word for module in architecture.sources() for word in module.split(".")}
    for path in python_files("tbgen", "indexing", "tables"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.Dict):
                found |= {str(k.value) for k in node.keys if isinstance(k, ast.Constant)}
    return found


def test_names_on_the_page_exist() -> None:
    paths = [path for path in PATHS if path not in COMMANDS]
    missing = [p for p in paths if not ((ROOT / p).exists() or (ROOT / "tbgen" / p).exists())]
    for name in NAMES:
        words = {word for word in re.findall(r"[A-Za-z_]\w*", name) if not iskeyword(word)}
        missing += sorted(words - defined())
    assert not missing


def test_the_picture_is_current() -> None:
    """docs/architecture.svg is what `python scripts/docs/architecture.py` writes."""
    assert architecture.DRAWING.read_text("utf-8") == architecture.drawing()


def test_every_package_has_a_box_and_every_arrow_leads_down() -> None:
    root = ElementTree.fromstring(architecture.DRAWING.read_text("utf-8"))
    name = "{http://www.w3.org/2000/svg}"
    rooms = {text.text for text in root.iter(f"{name}text") if text.get("class") == "name"}
    assert rooms == set(architecture.package_imports())
    arrows = [path.get("d", "") for path in root.iter(f"{name}path") if path.get("marker-end")]
    edges = architecture.without_detours(architecture.package_imports())
    assert len(arrows) == sum(map(len, edges.values()))
    for arrow in arrows:
        heights = [float(y) for _, y in re.findall(r"([\d.]+) ([\d.]+)", arrow)]
        assert heights == sorted(heights)


def test_implied_arrows_are_left_out() -> None:
    edges = {"top": {"middle", "ground"}, "middle": {"ground"}, "ground": set()}
    assert architecture.without_detours(edges)["top"] == {"middle"}
    assert architecture.floors(edges) == {"ground": 0, "middle": 1, "top": 2}

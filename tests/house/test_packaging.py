"""Installed packages: every package, and the data files beside the code."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import tbgen
from tests.helpers.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SETTINGS = PROJECT["tool"]["setuptools"]
FOLDERS = {
    "tbgen": ROOT / "tbgen",
    "tbgen.indexing": ROOT / "indexing",
    "tbgen.tables": ROOT / "tables",
}


def packages() -> dict[str, Path]:
    """Return every folder with an `__init__`, by its import name."""
    found = {}
    for name, folder in FOLDERS.items():
        for init in folder.rglob("__init__.py"):
            found[".".join((name, *init.parent.relative_to(folder).parts))] = init.parent
    return found


def test_every_package_is_installed() -> None:
    assert sorted(SETTINGS["packages"]) == sorted(packages())
    assert {name: str(folder.relative_to(ROOT)) for name, folder in FOLDERS.items()} == (
        SETTINGS["package-dir"]
    )


def test_every_data_file_is_installed() -> None:
    missing = []
    for name, folder in packages().items():
        patterns = SETTINGS["package-data"].get(name, [])
        for path in folder.rglob("*"):
            owner = next(p for p in path.parents if (p / "__init__.py").exists())
            if not path.is_file() or owner != folder or path.suffix in (".py", ".pyc"):
                continue
            relative = path.relative_to(folder).as_posix()
            if not any(fnmatch(relative, pattern) for pattern in patterns):
                missing.append(f"{name}: {relative}")
    assert not missing


def test_the_package_description_has_no_relative_links() -> None:
    """PACKAGE.md, the description of the package, has no relative links or pictures.

    Tested are also the authors, the classifier for types, and the file py.typed.
    """
    project = PROJECT["project"]
    text = (ROOT / project["readme"]).read_text("utf-8")
    assert not re.findall(r"\]\((?!https://)", text)
    assert project["authors"]
    assert "Typing :: Typed" in project["classifiers"]
    assert (ROOT / "tbgen" / "py.typed").exists()


def test_one_version_everywhere() -> None:
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == PROJECT["project"]["version"] == tbgen.__version__
    makefile = (ROOT / "contrib" / "Makefile").read_text("utf-8")
    assert f"\nVERSION = {cited[1]}\n" in makefile
    header = (ROOT / "contrib" / "xqprobe.h").read_text("utf-8")
    parts = re.findall(r"^#define XQ_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.MULTILINE)
    assert ".".join(parts) == cited[1]

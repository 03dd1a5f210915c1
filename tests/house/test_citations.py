"""Paths, links and names cited in text and code exist."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path

import tbgen
from tests.helpers.paths import DOCS, ROOT
from tests.helpers.sources import name_of, pages, python_files

SOURCES = [
    *(path for path in python_files("tbgen", "indexing", "tables", "scripts", "tests")
      if path != Path(__file__)),
    *sorted(path for path in (ROOT / "contrib").rglob("*.*")
            if path.is_file() and path.suffix != ".pyc"),
    *pages(),
]  # fmt: skip

NO_DOCUMENT = re.compile(
    r"\bDESIGN\b|\bRULES(?:\.md)? \d|RULES\.md|\(paper, |Hsu & Hsu,? (?:sec|\d\.)"
)
"""Regular expression for forbidden citations.

They are documents outside the repository, and papers without a year.
"""

PATH = re.compile(r"(?<![\w/.-])((?:docs|tests|scripts|contrib)/[\w./*-]*[\w*])(?![\w/{<])")
MODULE = re.compile(r"(?<![\w/.*-])([a-z_]\w*(?:/\w+)*\.py)\b")
DECISION = re.compile(r"\b[Dd]ecisions? (\d+)\b")
SECTION = re.compile(r"(docs/[\w/-]+\.md), (?:section (\d+(?:\.\d+)?)|\"([^\"]+)\")", re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]*)#?([^)\s]*)\)")

ELSEWHERE = {"bulk2.py", "sitecustomize.py", "win.py"}
"""Modules that may be cited though they are not in the repository: the program with which
scripts/measure/bench_goals.py compares, a module that Python imports at its start, and a file that
a reader of docs/tutorial.md saves.
"""

NAME = re.compile(r"(?<![\w./-])tbgen((?:\.(?!__)[A-Za-z_]\w*)+)")

FILES = [
    name_of(path)
    for folder in ("tbgen", "indexing", "tables", "scripts", "tests", "contrib")
    for path in (ROOT / folder).rglob("*.py")
]


def text_of(path: Path) -> str:
    """Read a file without comment marks and line breaks, so that citations are contiguous."""
    return re.sub(r"\s*\n\s*(?:# )?", " ", path.read_text("utf-8"))


def is_there(cited: str) -> bool:
    """Return whether a cited path exists; `docs/decisions/008` stands for the page 008-*."""
    if "*" in cited or re.search(r"/\d+$", cited):
        return any(ROOT.glob(cited + ("" if "*" in cited else "-*")))
    return (ROOT / cited).exists()


def is_importable(dotted: str) -> bool:
    """Return whether a name below `tbgen` exists: its folders and its module.

    The words after the module need only occur in its text.

    dotted : the name without `tbgen`, such as `.rows.sets.Frontier`
    """
    if dotted[1:].split(".")[0] in tbgen.__all__:
        return attrgetter(dotted[1:])(tbgen) is not None
    folder = ROOT / "tbgen"
    parts = dotted[1:].split(".")
    if parts[0] in ("indexing", "tables"):
        folder = ROOT
    for number, part in enumerate(parts):
        if (folder / part / "__init__.py").exists():
            folder /= part
            continue
        module = folder / f"{part}.py"
        names = parts[number + 1 :] if module.exists() else parts[number:]
        text = (module if module.exists() else folder / "__init__.py").read_text("utf-8")
        return all(re.search(rf"\b{name}\b", text) for name in names)
    return True


def mistakes(path: Path) -> list[str]:
    """List a message for each path, name, section or decision that a file cites wrongly."""
    text = text_of(path)
    wrong = [f"no document of the project: {found[0]!r}" for found in NO_DOCUMENT.finditer(text)]
    wrong += [f"no such path: {found}" for found in PATH.findall(text) if not is_there(found)]
    named = set(NAME.findall(text)) - {".nonsense"}  # used by a test
    wrong += [f"no such name: tbgen{name}" for name in named if not is_importable(name)]
    for number in DECISION.findall(text):
        if not any((DOCS / "decisions").glob(f"{int(number):03}-*.md")):
            wrong.append(f"no such decision: {number}")
    for page, number, title in SECTION.findall(text):
        headings = re.findall(r"^#+ (.*)$", (ROOT / page).read_text("utf-8"), re.MULTILINE) \
            if (ROOT / page).exists() else []  # fmt: skip
        sought = f"{number}." if number else title
        if not any(heading.startswith(sought) for heading in headings):
            wrong.append(f"no such section: {page}, {sought}")
    wrong += [
        f"no such module: {found}"
        for found in sorted(set(MODULE.findall(text)) - ELSEWHERE)
        if not any(f"/{name}".endswith(f"/{found}") for name in FILES)
    ]
    return wrong


def test_citations_exist() -> None:
    wrong = [f"{name_of(path)}: {line}" for path in SOURCES for line in mistakes(path)]
    assert not wrong, "\n" + "\n".join(wrong)


def test_includes_of_c_sources_exist() -> None:
    """Every header that a C source includes by `"..."` exists; this needs no compiler."""
    for path in [*ROOT.glob("contrib/*.[ch]"), *ROOT.glob("tests/**/*.[ch]")]:
        for header in re.findall(r'^#include "([^"]+)"', path.read_text("utf-8"), re.MULTILINE):
            assert (path.parent / header).exists(), f"{name_of(path)}: {header}"


def test_links_have_targets() -> None:
    """Every link in a page has its target: the file and, if given, the heading."""
    wrong = []
    for page in pages():
        for path, part in LINK.findall(page.read_text("utf-8")):
            if "://" in path:
                continue
            target = page.parent / path if path else page
            if not target.exists() or (
                part and target.suffix == ".md" and part not in anchors(target)
            ):
                wrong.append(f"{name_of(page)}: {path}#{part}")
    assert not wrong, "\n" + "\n".join(wrong)


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", heading.lower()) for heading in headings]
    return {re.sub(r"[-\s]+", "-", heading.strip()) for heading in plain}

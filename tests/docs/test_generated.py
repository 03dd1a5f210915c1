"""Generated pages and pictures are current."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import DOCS, ROOT
from tests.helpers.sources import pages

sys.path.insert(0, str(ROOT / "scripts" / "docs"))
sys.path.insert(0, str(ROOT / "contrib"))

import animation
import commands
import diagrams
import facts
import figures
import reference
import rulesets
import schemas
import studies
import trusted


def test_the_commands() -> None:
    """docs/commands.md is what `python scripts/docs/commands.py` writes."""
    assert commands.PAGE.read_text("utf-8") == commands.page()


def test_the_table_of_trusted_code() -> None:
    """The table in docs/proof.md is what `python scripts/docs/trusted.py` writes."""
    assert trusted.is_current(trusted.PAGE.read_text("utf-8"))


def test_trusted_code_includes_the_packages_of_its_modules() -> None:
    """Python runs the `__init__` of `tbgen.system` before `tbgen.system.units`."""
    assert {"tbgen.system", "tbgen.system.units"} <= trusted.reached(["tbgen.system.units"])


def test_the_python_page() -> None:
    """docs/python.md is what `python scripts/docs/reference.py` writes."""
    assert reference.PAGE.read_text("utf-8") == reference.page()


def test_the_answers() -> None:
    """docs/json.md and the schema are what `python scripts/docs/schemas.py` writes."""
    assert schemas.PAGE.read_text("utf-8") == schemas.page()
    assert schemas.SCHEMA.read_text("utf-8") == schemas.schema()


@pytest.mark.parametrize("path", rulesets.FILES, ids=lambda path: path.name)
def test_the_rule_sets_of_the_c_reader(path: Path) -> None:
    """The rule sets in the C sources are what `python contrib/rulesets.py` writes."""
    assert path.read_text("utf-8") == rulesets.expected_text(path)


@pytest.mark.parametrize("name", diagrams.DIAGRAMS)
def test_the_diagrams(name: str) -> None:
    """Each diagram in docs/diagrams/ is what `python scripts/docs/diagrams.py` writes."""
    assert (diagrams.FOLDER / f"{name}.svg").read_text("utf-8") == diagrams.drawing(name)


def test_every_diagram_is_shown() -> None:
    shown = {
        name for page in pages() for name in re.findall(r"diagrams/([\w-]+\.svg)", page.read_text())
    }
    assert {path.name for path in (DOCS / "diagrams").iterdir()} <= shown
    drawn = {f"{name}.svg" for name in diagrams.DIAGRAMS} | set(facts.pictures())
    drawn |= set(studies.pictures(figures.read(figures.Moves)))
    drawn.add(animation.FILE.name)
    assert drawn == {path.name for path in (DOCS / "diagrams").iterdir()}

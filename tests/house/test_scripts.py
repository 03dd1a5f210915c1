"""Scripts take their arguments in one way, and explain them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.kits.paths import ROOT
from tests.kits.sources import name_of, python_files, tree_of

SCRIPTS = [path for path in python_files("scripts") if "__main__" in path.read_text("utf-8")]


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_arguments_are_read_by_argparse(path: Path) -> None:
    text = path.read_text("utf-8")
    assert "sys.argv" not in text
    assert "import click" not in text
    if "argparse" in text:
        assert "description=__doc__" in text


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_every_script_says_how_it_is_run(path: Path) -> None:
    """Those without arguments may leave it to the page that they write."""
    docstring = ast.get_docstring(tree_of(path)) or ""
    if "argparse" in path.read_text("utf-8"):
        assert f"python {name_of(path)}" in docstring


def test_the_lane_of_certifications_runs_what_is_there() -> None:
    """And in it the oldest and the newest numpy and numba, and the advisories."""
    lane = (ROOT / ".ci" / "certify").read_text("utf-8")
    named = re.findall(r"scripts/[a-z_/]+\.py", lane)
    assert {"scripts/certify/versions.py", "scripts/certify/dependencies.py"} <= {*named}
    assert all((ROOT / name).exists() for name in named)
    assert "-m pytest -m certification" in lane

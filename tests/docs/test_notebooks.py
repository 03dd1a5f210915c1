"""The notebooks of docs/ run, and their results equal the stored ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

pytest.importorskip("matplotlib", reason="the extra `notebook` is not installed")

sys.path.insert(0, str(ROOT / "scripts" / "docs"))

import notebook


@pytest.mark.parametrize("path", notebook.NOTEBOOKS, ids=lambda path: path.name)
def test_stored_results_are_current(path: Path) -> None:
    """The stored output of each notebook is that of a new run; figures need only exist.

    If this fails, run `python scripts/docs/notebook.py`. Pixels differ with matplotlib's version.
    """
    stored = notebook.code_cells(json.loads(path.read_text("utf-8")))
    results = notebook.run(path)
    assert len(stored) == len(results)
    for cell, result in zip(stored, results, strict=True):
        expected = notebook.outputs_of(result)
        kinds = [output["output_type"] for output in expected]
        assert [output["output_type"] for output in cell["outputs"]] == kinds
        if result.printed:
            assert cell["outputs"][0] == expected[0]
        assert all(figure.startswith(b"\x89PNG") for figure in result.figures)


def test_notebooks_have_text_and_figures() -> None:
    (path,) = notebook.NOTEBOOKS
    outputs = [
        output
        for cell in notebook.code_cells(json.loads(path.read_text("utf-8")))
        for output in cell["outputs"]
    ]
    assert {output["output_type"] for output in outputs} == {"stream", "display_data"}

"""Run docs/notebooks/*.ipynb, and store the output and figures of their cells in them.

    python scripts/docs/notebook.py

Cells run as plain Python, in order, in one namespace and in the notebook's folder. That needs
matplotlib, but neither Jupyter nor its kernels. Text and code of a notebook are edited by hand (in
Jupyter, or as JSON). `tests/docs/test_notebooks.py` runs them and compares.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

Cell = dict[str, Any]
"""A cell of a notebook, as in nbformat 4."""


class Result(NamedTuple):
    """Result of a code cell: its output, and its figures as PNG."""

    printed: str
    figures: list[bytes]


def code_cells(notebook: dict[str, Any]) -> list[Cell]:
    """List the code cells, in order."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(path: Path) -> list[Result]:
    """Run a notebook, and return the results of its code cells.

    An exception passes through; its traceback names the cell by number.
    """
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names: dict[str, Any] = {}
    results = []
    with contextlib.chdir(path.parent):
        for number, cell in enumerate(code_cells(json.loads(path.read_text("utf-8"))), 1):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), names)
            results.append(
                Result(printed.getvalue(), [png(plt.figure(n)) for n in plt.get_fignums()])
            )
            plt.close("all")
    return results


def png(figure: Any) -> bytes:
    """Return a matplotlib figure as PNG.

    Time and version are left out of the metadata, so that equal figures give equal files.
    """
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=72, bbox_inches="tight", metadata={"Software": None})
    return out.getvalue()


def outputs_of(result: Result) -> list[dict[str, Any]]:
    """Return the outputs of a cell in the form of nbformat 4."""
    found: list[dict[str, Any]] = []
    if result.printed:
        lines = result.printed.splitlines(keepends=True)
        found.append({"name": "stdout", "output_type": "stream", "text": lines})
    for figure in result.figures:
        data = {"image/png": base64.b64encode(figure).decode()}
        found.append({"data": data, "metadata": {}, "output_type": "display_data"})
    return found


def written(path: Path) -> str:
    """Run a notebook, and return its text with the new results of its cells."""
    notebook = json.loads(path.read_text("utf-8"))
    cells = zip(code_cells(notebook), run(path), strict=True)
    for number, (cell, result) in enumerate(cells, 1):
        cell["execution_count"], cell["outputs"] = number, outputs_of(result)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    for notebook_path in NOTEBOOKS:
        notebook_path.write_text(written(notebook_path), encoding="utf-8")

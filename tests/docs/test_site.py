"""The site: navigation has every page, nothing external is loaded, the strict build passes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from base64 import b64decode
from html import unescape
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.helpers.paths import DOCS, ROOT

SETTINGS = (ROOT / "mkdocs.yml").read_text("utf-8")
LOADED = re.compile(r'<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="(https?:[^"]*)')
"""Regular expression for the addresses that a browser loads with a page."""

NAVIGATION = SETTINGS[SETTINGS.index("\nnav:") :]


def test_every_page_is_in_the_navigation() -> None:
    """Every page of docs/ is named under `nav` in mkdocs.yml."""
    named = re.findall(r"([\w/-]+\.md)$", NAVIGATION, re.MULTILINE)
    pages = [*DOCS.rglob("*.md"), *(path.with_suffix(".md") for path in DOCS.rglob("*.ipynb"))]
    assert sorted(named) == sorted(path.relative_to(DOCS).as_posix() for path in pages)


@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("mkdocs", "material")),
    reason="the extra `docs` is not installed",
)
def test_the_strict_build(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    result = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    for page in DOCS.rglob("*.md"):
        built = tmp_path / page.relative_to(DOCS).with_suffix(".html")
        assert not LOADED.findall(built.read_text("utf-8"))
    _notebooks_are_pages(tmp_path)


def _notebooks_are_pages(site: Path) -> None:
    """Check that notebooks are pages of the site, with all output and figures."""
    for path in DOCS.rglob("*.ipynb"):
        page = (site / path.relative_to(DOCS).with_suffix(".html")).read_text("utf-8")
        shown = unescape(re.sub(r"<[^>]+>", "", page))
        outputs = [
            output
            for cell in json.loads(path.read_text("utf-8"))["cells"]
            for output in cell.get("outputs", [])
        ]
        printed = ["".join(output["text"]) for output in outputs if "text" in output]
        assert printed
        assert all(text in shown for text in printed)
        figures = sorted((site / path.parent.relative_to(DOCS)).glob(f"{path.stem}-*.png"))
        drawn = [output["data"]["image/png"] for output in outputs if "data" in output]
        assert [figure.read_bytes() for figure in figures] == [*map(b64decode, drawn)]
        assert all(f'src="{figure.name}"' in page for figure in figures)
        assert 'href="notebooks/table1.html"' in (site / "index.html").read_text("utf-8")

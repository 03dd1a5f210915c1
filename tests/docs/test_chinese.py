"""The Chinese pages have the examples, pictures and sections of the English ones.

The output of examples is compared on the English pages.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.paths import DOCS, ROOT

PAGES = {page: DOCS / page.name for page in sorted((DOCS / "zh").glob("*.md"))}
PAGES[ROOT / "README.zh-CN.md"] = ROOT / "README.md"
"""The Chinese pages, each with its English page."""


def parts(path: Path) -> tuple[list[str], list[str], int]:
    """Return the code blocks of a page, the names of its pictures, and its number of sections."""
    text = path.read_text("utf-8")
    code = re.findall(r"^```\w+\n.*?^```$", text, re.MULTILINE | re.DOTALL)
    pictures = re.findall(r"[\w-]+\.(?:svg|png)", text)
    return code, pictures, len(re.findall(r"^## ", text, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_has_the_content_of_its_english_page(page: Path) -> None:
    """A Chinese page has the code, the pictures and as many sections as its English page."""
    assert parts(page) == parts(PAGES[page])


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_is_in_chinese(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"[\u4e00-\u9fff]", text)) > 300

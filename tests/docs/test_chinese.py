"""The Chinese pages have the examples, pictures and sections of the English ones.

The output of examples is compared on the English pages. docs/zh/lesson.md has no English page;
`test_sessions` runs its examples.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.paths import DOCS, ROOT

PAGES = [ROOT / "README.zh-CN.md", *sorted((DOCS / "zh").glob("*.md"))]
ENGLISH = {page: DOCS / page.name for page in PAGES[1:] if page.name != "lesson.md"}
ENGLISH[ROOT / "README.zh-CN.md"] = ROOT / "README.md"
"""The English page of each Chinese page that has one."""


LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)#]+\.(?:md|ipynb))[^)]*\)(.{0,4})")
"""Regular expression for a link to a page: its path, and the four characters after the link."""


def parts(path: Path) -> tuple[list[str], list[str], int]:
    """Return the code blocks of a page, the names of its pictures, and its number of sections."""
    text = path.read_text("utf-8")
    code = re.findall(r"^```\w+\n.*?^```$", text, re.MULTILINE | re.DOTALL)
    pictures = re.findall(r"[\w-]+\.(?:svg|png)", text)
    return code, pictures, len(re.findall(r"^## ", text, re.MULTILINE))


@pytest.mark.parametrize("page", ENGLISH, ids=lambda path: path.name)
def test_a_page_has_the_content_of_its_english_page(page: Path) -> None:
    """A Chinese page has the code, the pictures and as many sections as its English page."""
    assert parts(page) == parts(ENGLISH[page])


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_is_in_chinese(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"[\u4e00-\u9fff]", text)) > 300


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_to_english_pages_are_marked(page: Path) -> None:
    """A link to a page in English, except README.md, is followed by （英文）."""
    unmarked = [
        target
        for target, after in LINK.findall(page.read_text("utf-8"))
        if (page.parent / target).resolve() not in {*PAGES, ROOT / "README.md"}
        and after != "（英文）"
    ]
    assert not unmarked

"""Accessibility of the board's pages by axe-core, light and dark, on a desktop and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.axe import source, violations
from tests.helpers.board_server import browser, demo

pytest.importorskip("selenium", reason="selenium is not installed")

LOOP = "fen=9/9/4k4/9/9/9/9/9/1n7/R2K5_w"
KNIGHT = "fen=9/9/3ak4/9/9/9/9/9/9/N2K5_w"
MISSING = "fen=3k1a3/9/9/9/9/9/9/4n4/9/4KR3_w"

PAGES = (
    f"/?{LOOP}&moves=d0d1,b1c3,d1d0,c3b1", f"/?{KNIGHT}&mode=play&task=win&pieces=picture",
    f"/?{LOOP}&mode=line&at=2&lang=zh-Hant", f"/?{MISSING}", "/?mode=edit", "/handbook/KR",
    "/endgames", "/endgames/KRKN", "/search/KRKN?outcome=win&only=1", "/build", f"/embed?{LOOP}",
    "/find?q=nonsense",
)  # fmt: skip
"""Pages of every kind."""

MORE_PAGES = (
    f"/?{LOOP}", f"/?{KNIGHT}&from=a0", f"/?{LOOP}&where=a0",
    "/?fen=5k3/9/9/9/9/R8/9/4n4/9/3K5_w&moves=d0d1", f"/?{LOOP}&lang=zh-Hans&board=slate",
    f"/?{KNIGHT}&mode=play", f"/?{MISSING}&mode=play",
    "/?mode=edit&fen=9/9/9/9/9/9/9/9/10/4K4_b", "/?fen=hello", "/handbook",
    "/endgames/KRKN?won=red&order=0&plies=11", "/search/KRKN", "/api", "/nothing",
    f"/?{LOOP}&mode=line&ladder=1&at=5", f"/embed?{LOOP}&mode=line",
)  # fmt: skip
"""The same kinds of pages with other contents."""


SIZES = {"screen": (1200, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def page(request: pytest.FixtureRequest) -> Iterator[Any]:
    source()
    found = browser(*SIZES[request.param])
    yield found
    found.quit()


@pytest.mark.parametrize(
    ("page", "theme", "paths"),
    [
        ("screen", "light", PAGES),
        *(
            pytest.param(page, theme, PAGES + MORE_PAGES, marks=pytest.mark.certification)
            for page in SIZES
            for theme in ("light", "dark")
        ),
    ],
    indirect=["page"],
    ids=["pages", *(f"all-{page}-{theme}" for page in SIZES for theme in ("light", "dark"))],
)
def test_axe_finds_no_violation(page: Any, theme: str, paths: tuple[str, ...]) -> None:
    found = {}
    for path in paths:
        page.get(f"{demo().url}{path}{'&' if '?' in path else '?'}theme={theme}")
        problems = violations(page)
        if problems:
            found[path] = problems
    assert not found, "\n".join(f"{path}\n  " + "\n  ".join(all_) for path, all_ in found.items())

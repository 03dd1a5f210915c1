"""The font size that the user has chosen applies everywhere, and nothing overlaps."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("selenium", reason="selenium is not installed")

from tests.helpers.board_server import browser
from tests.helpers.browsing import KNIGHT, LOOP, open_page

_PAGES = (
    KNIGHT, f"{KNIGHT}&mode=play&hint=piece", f"/?{LOOP}&mode=line", "/?mode=edit",
    "/endgames/KRKN", "/search/KRKN",
)  # fmt: skip

_SMALL = """
const shown = [...document.querySelectorAll("#main a, #main p, #main span, #main button")];
return shown.filter((each) => each.getClientRects().length
    && parseFloat(getComputedStyle(each).fontSize) < 22).map((each) => each.outerHTML);
"""
"""Script that returns the elements whose text is small for a default size of 32 pixels."""

_OVERLAPS = """
const css = "header a, header input, header button, .verdict > *, .stage > *, .controls > *, "
    + ".side > *, .plain-moves > *, footer p > *";
const all = [...document.querySelectorAll(css)].filter((each) => each.getClientRects().length);
const common = (a, b, low, high) => Math.min(a[high], b[high]) - Math.max(a[low], b[low]);
return all.flatMap((one, at) => all.slice(at + 1).filter((other) => {
  if (one.contains(other)) return false;
  const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
  return common(a, b, "left", "right") > 2 && common(a, b, "top", "bottom") > 2;
}).map((other) => [one.outerHTML, other.outerHTML]));
"""
"""Script that returns the pairs of elements that overlap."""


@pytest.mark.parametrize("width", [1200, 320])
def test_text_of_twice_the_size(width: int) -> None:
    large: Any = browser(width, 900, font=32)
    try:
        for path in _PAGES:
            open_page(large, path)
            assert not large.execute_script(_SMALL), path
            assert not large.execute_script(_OVERLAPS), path
            assert large.execute_script("return document.documentElement.scrollWidth") <= width
    finally:
        large.quit()

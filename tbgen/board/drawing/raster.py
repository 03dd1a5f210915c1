"""Pictures as pixels: an SVG that stands alone becomes a PNG, by resvg.

Its wheels need no library of the system; it comes with the extras `web` and `png`.
"""

from __future__ import annotations

from functools import cache

from tbgen.indexing import InputError


@cache
def can_rasterise() -> bool:
    """True if resvg is installed."""
    try:
        import resvg_py  # noqa: F401
    except ImportError:
        return False
    return True


def png(picture: str, width: int) -> bytes:
    """The picture, so many pixels wide; raises `InputError` where resvg is missing."""
    try:
        import resvg_py
    except ImportError:
        raise InputError("PNG needs resvg-py", "pip install 'tbgen[png]', or take SVG") from None
    # No picture of the board has text: looking for fonts would take a second.
    data: bytes = resvg_py.svg_to_bytes(svg_string=picture, width=width, skip_system_fonts=True)
    return data

"""Conversion of a standalone SVG to PNG, by resvg.

Its wheels need no system library; the extras `web` and `png` install it.
"""

from __future__ import annotations

from functools import cache

from tbgen.indexing import InputError


@cache
def can_rasterise() -> bool:
    """Return whether resvg is installed."""
    try:
        import resvg_py  # noqa: F401
    except ImportError:
        return False
    return True


def png(picture: str, width: int) -> bytes:
    """Convert a standalone SVG to PNG, `width` pixels wide; raises `InputError` without resvg."""
    try:
        import resvg_py
    except ImportError:
        raise InputError("PNG needs resvg-py", "pip install 'tbgen[png]', or take SVG") from None
    # Pictures of the board contain no text; loading system fonts takes a second.
    data: bytes = resvg_py.svg_to_bytes(svg_string=picture, width=width, skip_system_fonts=True)
    return data

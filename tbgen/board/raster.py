"""Pictures as pixels: an SVG that stands alone becomes a PNG, where cairosvg is installed.

It is the extra `png`, and needs libcairo of the system; nothing else of the board does.
"""

from __future__ import annotations

from functools import cache

from tbgen.indexing import InputError


@cache
def can_rasterise() -> bool:
    """Whether there is what it takes."""
    try:
        import cairosvg  # noqa: F401
    except (ImportError, OSError):
        return False
    return True


def png(picture: str, width: int) -> bytes:
    """The picture, so many pixels wide; raises `InputError` where cairosvg is missing."""
    try:
        import cairosvg
    except (ImportError, OSError) as error:  # OSError: the system has no libcairo
        raise InputError(
            f"PNG needs cairosvg: {error}", "pip install 'tbgen[png]', or take SVG"
        ) from None
    data: bytes = cairosvg.svg2png(bytestring=picture.encode(), output_width=width)
    return data

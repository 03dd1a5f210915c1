"""Bytes, seconds, shares and numbers of things as text."""

from __future__ import annotations


def format_bytes(count: float) -> str:
    """Return a number of bytes as text, such as `1.4 GiB` or `1,024.0 GiB`."""
    for unit in ("B", "KiB", "MiB"):
        if round(count) < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:,.1f} GiB"


def format_duration(seconds: float) -> str:
    """Return a time as text, such as `0.3 s`, `12 s`, `4 min` or `1.5 h`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def percent(share: float) -> str:
    """Format a share (0 to 1) as a percentage.

    Only 0 is `0.0%` and only 1 is `100.0%`; shares near them are `< 0.1%` and `> 99.9%`.
    """
    if 0 < share < 0.0005:
        return "< 0.1%"
    return "> 99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, such as `1 table` or `1,024 tables`.

    plural : plural of the noun, such as `plies`; "" if it is the noun with an `s`
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"

"""Bytes and seconds as people read and write them."""

from __future__ import annotations

import re

import click

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size(count: float) -> str:
    """`1.4 GiB`."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def duration(seconds: float) -> str:
    """`0.3 s`, `12 s`, `4 min`, `1.5 h`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class Size(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A number of bytes on the command line: `900M`, `1.5GiB`."""

    name = "size"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """The number of bytes."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", str(value).strip(), re.I)
        if match is None:
            self.fail(f"'{value}' is no size; write 900M or 1.5GiB", param, ctx)
        return int(float(match[1]) * _UNITS[match[2].upper()])

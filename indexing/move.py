"""Moves as pairs of squares, and their ICCS/UCI text (`h2e2`)."""

from __future__ import annotations

import re
from typing import NamedTuple

from tbgen.indexing.errors import MoveTextError, excerpt, require_text
from tbgen.indexing.squares import parse_square, square_name

SEPARATOR = "[-x]?"
"""Pattern of the sign that may stand between the two squares of a move."""

ICCS = re.compile(rf"([a-i][0-9]){SEPARATOR}([a-i][0-9])", re.IGNORECASE | re.ASCII)
"""Pattern of a move in ICCS; re.ASCII excludes the dotted capital I and the like."""


class Move(NamedTuple):
    """Source and target square of a move."""

    source: int
    target: int

    @classmethod
    def from_iccs(cls, text: str) -> Move:
        """Parse `h2e2`, `H2-E2` or `h2xe2`; raises `MoveTextError`."""
        hint = "moves are written h2e2: from square, to square"
        require_text(text, "move", MoveTextError, hint)
        match = ICCS.fullmatch(text.strip())
        if match is None:
            raise MoveTextError(f"{excerpt(text)} is no move", hint)
        source, target = match.groups()
        return cls(parse_square(source.lower()), parse_square(target.lower()))

    @property
    def iccs(self) -> str:
        """Text such as `h2e2`."""
        return square_name(self.source) + square_name(self.target)

    def __str__(self) -> str:
        return self.iccs


def as_move(move: Move | str) -> Move:
    """Return a move, or parse its text in ICCS; raises `MoveTextError`."""
    return move if isinstance(move, tuple) else Move.from_iccs(move)

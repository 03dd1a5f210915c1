"""Conditions on positions, and how they are read from text.

    side=red outcome=win orders=1-3 plies=20- only zugzwang differs loop=chase at=R@e5

Board, command line and `tbgen.find` share this one description.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tbgen.answers.mechanism import Offence
from tbgen.indexing import InputError, Side
from tbgen.indexing.errors import excerpt
from tbgen.indexing.squares import LETTERS, piece_code, square_name
from tbgen.tables import Outcome, TableStatistics
from tbgen.tables.statistics import HistogramLine

NO_END = 1 << 30
"""More plies, and more orders, than there are."""

LARGEST = 99_999
"""The largest number that a field takes."""

FIELDS = (
    "turn", "outcome", "decided", "order", "least", "most", "only", "zugzwang", "differs", "study",
    "at", "sort",
)  # fmt: skip
"""Fields of a query over HTTP, and the order of what is found."""

SORTS = ("plies", "-plies", "order", "-order", "length", "-length")
"""Orders of rows beside that of slots; with a minus the largest come first. Studies alone have a
length."""

_PIECE_AT = re.compile(rf"([{LETTERS}{LETTERS.lower()}])@([a-i])([0-9])")
_RANGE = re.compile(r"([0-9]{0,9})(-?)([0-9]{0,9})")


@dataclass(frozen=True)
class Query:
    """Conditions on a position; every field is open at first.

    `turn` is the side to move and `outcome` what it has. `orders` and `plies` are the least and
    the most. `only`: one move alone, of several, keeps the win or the draw. `zugzwang`: both sides
    do worse if they are to move. `offence`: what the loser of a repetition must begin with at
    once; the winner is to move. `differs`: another rule set whose table is at hand has another
    outcome. `study`: the solution of the winner, who is to move, is unique move by move
    (`tbgen.finding.studies`). `pieces` are piece codes and squares where such a piece must stand.
    """

    turn: Side | None = None
    outcome: Outcome | None = None
    orders: tuple[int, int] = (0, NO_END)
    plies: tuple[int, int] = (0, NO_END)
    only: bool = False
    zugzwang: bool = False
    offence: Offence | None = None
    differs: bool = False
    study: bool = False
    pieces: tuple[tuple[int, int], ...] = ()

    def has(self, line: HistogramLine) -> bool:
        """Return whether positions with that value are candidates."""
        outcome, plies = line.outcome, line.exact.plies
        return (
            self.turn in (None, line.side)
            and self.outcome in (None, outcome)
            and self.orders[0] <= line.order <= self.orders[1]
            and self.plies[0] <= plies <= self.plies[1]
            and not (self.only and outcome == Outcome.LOSS)
            and not (self.study and outcome != Outcome.WIN)
            and not (self.offence is not None and not (line.order and line.plies == 0))
        )

    def lines(self, statistics: TableStatistics) -> list[HistogramLine]:
        """The lines of a table's histogram that are candidates."""
        lines = [line for line in statistics.histogram if self.has(line)]
        if self.offence == Offence.CHASE:
            none = {o.order for o in statistics.orders if o.chase_patterns == 0}
            lines = [line for line in lines if line.order not in none]
        return lines


def count_of(figures: TableStatistics, query: Query) -> int:
    """Return how many positions of a table have a value that is asked for."""
    return sum(line.positions for line in figures.histogram if query.has(line))


def read_range(text: str, name: str) -> tuple[int, int]:
    """Read `5`, `5-9`, `5-` or `-9`; raises `InputError` that names the field."""
    match = _RANGE.fullmatch(text)
    low, dash, high = match.groups() if match is not None else ("", "", "")
    least = int(low or 0)
    most = int(high) if high else NO_END if dash else least
    if not (low or high) or most < least:
        raise InputError(f"{excerpt(text)} is no range of {name}", "write 5, 5-9, 5- or -9")
    return least, most


def read_piece(text: str) -> tuple[int, int]:
    """Read the piece code and the square of `R@e5`; Black's pieces are in lower case."""
    match = _PIECE_AT.fullmatch(text)
    if match is None:
        raise InputError(
            f"{excerpt(text)} is no piece on a square", "write R@e5, or r@e5 for Black's rook"
        )
    letter, file, rank = match.groups()
    side = Side.BLACK if letter.islower() else Side.RED
    square = 9 * int(rank) + "abcdefghi".index(file)
    assert square_name(square) == f"{file}{rank}"
    return piece_code(side, LETTERS.index(letter.upper())), square


def read_query(asked: Mapping[str, str]) -> Query:
    """Read what a form asks for in `FIELDS`, `sort` aside; an empty one asks for nothing.

    Raises `InputError` for what is none of a field's values.
    """

    def choice(name: str, *known: str) -> str:
        found = asked.get(name, "")
        if found and found not in known:
            raise InputError(f"{name} is none of {', '.join(known)}", f"{name}={known[0]}")
        return found

    def count(name: str, default: int) -> int:
        found = asked.get(name, "")
        plain = found.isascii() and found.isdecimal() and len(found) < 9
        if found and not (plain and int(found) <= LARGEST):
            raise InputError(f"{name} is no number up to {LARGEST}", f"{name}=15")
        return int(found) if found else default

    turn, outcome = choice("turn", "red", "black"), choice("outcome", "win", "draw", "loss")
    decided, order = choice("decided", *Offence), asked.get("order", "")
    return Query(
        turn=Side[turn.upper()] if turn else None,
        outcome=Outcome[outcome.upper()] if outcome else None,
        orders=read_range(order, "orders") if order else (0, NO_END),
        plies=(count("least", 0), count("most", NO_END)),
        only=choice("only", "1") == "1",
        zugzwang=choice("zugzwang", "1") == "1",
        differs=choice("differs", "1") == "1",
        offence=Offence(decided) if decided else None,
        study=choice("study", "1") == "1",
        pieces=tuple(read_piece(each) for each in asked.get("at", "").replace(",", " ").split()),
    )

"""Conditions on positions, and their form as fields of text.

    turn=red outcome=win order=1-3 least=20 only=1 zugzwang=1 decided=chase at=R@e5

The board, the command line and `tbgen.find` all make a `Query`. These are the fields of the board's
form and of HTTP (`FIELDS`). The options of `tbgen find` and the arguments of `tbgen.find` have some
other names, such as `loop` for `decided`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tbgen.answers.mechanism import Offence
from tbgen.indexing import InputError, Side
from tbgen.indexing.errors import excerpt
from tbgen.indexing.squares import LETTERS, parse_square, piece_code
from tbgen.tables import Outcome, TableStatistics
from tbgen.tables.statistics import HistogramLine

NO_END = 1 << 30
"""Upper end of a range without limit: greater than any number of plies or orders."""

LARGEST_NUMBER = 99_999
"""Largest number that a field accepts."""

FIELDS = (
    "turn", "outcome", "decided", "order", "least", "most", "only", "zugzwang", "differs", "study",
    "at", "sort",
)  # fmt: skip
"""Names of the fields of a query over HTTP.

`sort` is not part of the `Query`: it names the sort key of the rows found (`SORTS`).
"""

SORTS = ("plies", "-plies", "order", "-order", "length", "-length")
"""Sort keys of rows; with a minus the largest come first. Only studies have a length. Without a
sort key, rows are in the order of slots.
"""

_PIECE_AT = re.compile(rf"([{LETTERS}{LETTERS.lower()}])@([a-i][0-9])")
_RANGE = re.compile(r"([0-9]{0,9})(-?)([0-9]{0,9})")


@dataclass(frozen=True)
class Query:
    """Conditions on a position; by default every position matches.

    `turn` is the side to move and `outcome` its outcome. `orders` and `plies` are inclusive ranges.
    `only`: exactly one move, of several, keeps the win or the draw. `zugzwang`: either side does
    worse if it is to move. `offence`: the winner is to move, and the loser of the repetition must
    begin this offence at once. `differs`: the outcome under another rule set, whose table is
    present, is different. `study`: the winner is to move, and the solution is unique move by move
    (`tbgen.finding.studies`). `pieces` are pairs of piece code and square that must be occupied so.
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

    def admits(self, line: HistogramLine) -> bool:
        """Return whether positions of the side, outcome, order and plies in `line` are candidates.

        `line` is a line of a table's histogram. Candidates are positions whose value matches the
        query.
        """
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
        """Return those lines of a table's histogram whose values match the query."""
        lines = [line for line in statistics.histogram if self.admits(line)]
        if self.offence == Offence.CHASE:
            none = {o.order for o in statistics.orders if o.chase_patterns == 0}
            lines = [line for line in lines if line.order not in none]
        return lines

    def candidates(self, statistics: TableStatistics) -> int:
        """Return the number of positions of a table whose value matches the query."""
        return sum(line.positions for line in self.lines(statistics))


def read_range(text: str, name: str) -> tuple[int, int]:
    """Return the inclusive range that a text gives: `5`, `5-9`, `5-` or `-9`.

    name : name of the field, for messages

    Raises `InputError` for any other text.
    """
    match = _RANGE.fullmatch(text)
    low, dash, high = match.groups() if match is not None else ("", "", "")
    least = int(low or 0)
    most = int(high) if high else NO_END if dash else least
    if not (low or high) or most < least:
        raise InputError(f"{excerpt(text)} is no range of {name}", "write 5, 5-9, 5- or -9")
    return least, most


def read_piece(text: str) -> tuple[int, int]:
    """Return the piece code and the square of `R@e5`; Black's pieces are in lower case."""
    match = _PIECE_AT.fullmatch(text)
    if match is None:
        raise InputError(
            f"{excerpt(text)} is no piece on a square", "write R@e5, or r@e5 for Black's rook"
        )
    letter, square = match.groups()
    side = Side.BLACK if letter.islower() else Side.RED
    return piece_code(side, LETTERS.index(letter.upper())), parse_square(square)


def read_query(fields: Mapping[str, str]) -> Query:
    """Return the query of a form's `FIELDS` except `sort`; an empty form gives an empty query.

    Raises `InputError` for an invalid value of a field.
    """

    def choice(name: str, *known: str) -> str:
        found = fields.get(name, "")
        if found and found not in known:
            raise InputError(f"{name} is none of {', '.join(known)}", f"{name}={known[0]}")
        return found

    def count(name: str, default: int) -> int:
        found = fields.get(name, "")
        plain = found.isascii() and found.isdecimal() and len(found) < 9
        if found and not (plain and int(found) <= LARGEST_NUMBER):
            raise InputError(f"{name} is no number up to {LARGEST_NUMBER}", f"{name}=15")
        return int(found) if found else default

    turn, outcome = choice("turn", "red", "black"), choice("outcome", "win", "draw", "loss")
    decided, order = choice("decided", *Offence), fields.get("order", "")
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
        pieces=tuple(read_piece(each) for each in fields.get("at", "").replace(",", " ").split()),
    )

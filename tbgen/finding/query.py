"""Conditions on positions (`Query`), also read from fields of text.

    turn=red outcome=win order=1-3 least=20 only=1 zugzwang=1 decided=chase at=R@e5

The line above has fields of the board's form and of HTTP (`FIELDS`); `least` and `most` limit the
plies. Options of `tbgen find`, and arguments of `tbgen.find`, have other names, as `loop` for
`decided`.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, SupportsIndex

from tbgen.answers.mechanism import Offence
from tbgen.indexing import InputError, Side
from tbgen.indexing.errors import enum_member, excerpt, require_text
from tbgen.indexing.position import LETTER_ALIASES, LETTERS_BY_CODE
from tbgen.indexing.squares import EMPTY, area, parse_square, piece_kind, piece_side, square_name
from tbgen.notation.materials import LETTER_OF_CHARACTER
from tbgen.tables import Outcome, TableFile, TableStatistics
from tbgen.tables.codes import DRAW, Value
from tbgen.tables.statistics import HistogramLine

NO_END = 1 << 30
"""Upper end of a range without limit: greater than any number of plies or orders."""

ANY_NUMBER = (0, NO_END)
"""Range of all numbers of plies or orders."""

LARGEST_NUMBER = 99_999
"""Largest number that the fields `least` and `most` accept."""

FIELDS = (
    "turn", "outcome", "decided", "order", "least", "most", "only", "zugzwang", "differs", "study",
    "at", "sort",
)  # fmt: skip
"""Fields of a query over HTTP; `sort` is not part of the `Query`."""

SORTS = ("plies", "-plies", "order", "-order", "length", "-length")
"""Sort keys of rows; with `-` the largest come first. `length` is that of a study's line."""

_PIECE_AT = re.compile(r"([A-Za-z]|[红紅黑].)@?([A-Ia-i][0-9])")
_RANGE = re.compile(r"([0-9]{0,9})(?:(-)([0-9]{0,9}))?")


@dataclass(frozen=True)
class Query:
    """Conditions on a position; by default every position matches.

    turn, outcome : the side to move, and its outcome
    orders, plies : inclusive ranges; with a range of plies, draws match only if `outcome` is DRAW
        and the range includes 0
    only : exactly one of several legal moves keeps the win or the draw
    quiet : with `only`, this move is no capture
    zugzwang : each side has a worse outcome if it is to move than if the opponent is
    offence : a direct win (docs/values.md), in which the loser has just committed this offence
    differs : the outcome in a table of another rule set is different
    study : the winner is to move, and the winning move is unique here and after every longest
        defence (`tbgen.finding.studies`)
    pieces : pairs (piece code, square): such a piece must stand there, in the position or its
        mirror image
    """

    turn: Side | None = None
    outcome: Outcome | None = None
    orders: tuple[int, int] = ANY_NUMBER
    plies: tuple[int, int] | None = None
    only: bool = False
    quiet: bool = False
    zugzwang: bool = False
    offence: Offence | None = None
    differs: bool = False
    study: bool = False
    pieces: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        """Convert "red", a number for a range, and `R@e5`; raises `InputError` for other values."""
        found: dict[str, object] = {"orders": range_of(self.orders)}
        for name, kind in (("turn", Side), ("outcome", Outcome), ("offence", Offence)):
            if getattr(self, name) is not None:
                found[name] = enum_member(kind, getattr(self, name))
        if self.plies is not None:
            found["plies"] = range_of(self.plies)
        texts: Any = self.pieces
        if isinstance(texts, str) or any(isinstance(each, str) for each in texts):
            found["pieces"] = read_pieces(texts)
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def admits(self, line: HistogramLine) -> bool:
        """Return whether the side to move and the value of a histogram line match the query."""
        return self.turn in (None, line.side) and self._admits_value(line.exact)

    def _admits_value(self, value: Value) -> bool:
        """Return whether positions with a value may match, whichever side is to move."""
        outcome, least, most = value.outcome, *(self.plies or ANY_NUMBER)
        return (
            self.outcome in (None, outcome)
            and self.orders[0] <= value.order <= self.orders[1]
            and least <= value.plies <= most
            and not (self.plies and self.outcome is None and outcome == Outcome.DRAW)
            and not (self.only and outcome == Outcome.LOSS)
            and not (self.zugzwang and outcome == Outcome.WIN)
            and not (self.study and (outcome != Outcome.WIN or value.plies == 0))
            and not (self.offence is not None and not (value.order and value.plies == 0))
        )

    def _examples(self) -> Iterator[Value]:
        """Yield enough values for a test: if the query admits none of them, it admits no value."""
        yield DRAW
        least = (self.plies or ANY_NUMBER)[0]
        # Three plies, since a study excludes 0: at order 0 odd plies win, above it even plies.
        for order, plies in itertools.product(self.orders, range(least, least + 3)):
            odd = plies % 2 == 1
            yield Value(Outcome.WIN if odd == (order == 0) else Outcome.LOSS, order, plies)

    def lines(self, statistics: TableStatistics) -> list[HistogramLine]:
        """Return the lines of a table's histogram whose positions may match the query."""
        lines = [line for line in statistics.histogram if self.admits(line)]
        if self.offence == Offence.CHASE:
            none = {o.order for o in statistics.orders if o.chase_patterns == 0}
            lines = [line for line in lines if line.order not in none]
        return lines

    def refuse_impossible(self, file: TableFile) -> None:
        """Raise `InputError`, with the reason, for some queries that no position can match.

        These are queries for pieces that the table lacks, for conditions that exclude each other,
        and for an offence in a table without rule-decided values.
        """
        name, codes = file.header.spec.name, list(file.layout.piece_codes)
        asked = [code for code, _ in self.pieces]
        for code in asked:
            if asked.count(code) > codes.count(code):
                owner = Side(piece_side(code)).name.title()
                raise InputError(
                    f"in {name.material} {owner} has {codes.count(code)} of the piece "
                    f"{LETTERS_BY_CODE[code]}, not {asked.count(code)}",
                    f"Red has {name.material.first.name}, Black {name.material.second.name}",
                )
        self._refuse_contradictions()
        if self.offence is not None and not file.statistics.orders:
            raise InputError(
                f"no position of {name} is decided by repetition",
                "search the table of another rule set, or another endgame",
            )

    def _refuse_contradictions(self) -> None:
        """Raise `InputError` for conditions that exclude each other in any table."""
        drawn, lost = self.outcome == Outcome.DRAW, self.outcome == Outcome.LOSS
        won, loop = self.outcome == Outcome.WIN, self.offence is not None
        least, most = self.plies or ANY_NUMBER
        if self.study and (drawn or lost):
            raise InputError("studies are won positions", "leave out the outcome, or ask for wins")
        if self.only and lost:
            raise InputError("no move keeps a loss", "ask for the only moves of wins or draws")
        if self.zugzwang and (won or self.study or loop):
            raise InputError("nobody wins a zugzwang by moving", "ask for draws or losses")
        if drawn and self.orders[0] > 0:
            raise InputError("draws have order 0", "leave out the order")
        if drawn and least > 0:
            raise InputError("draws have no plies", "leave out the plies")
        if loop and (drawn or lost):
            raise InputError("the winner of a loop is to move", "leave out the outcome")
        if loop and self.orders[1] == 0:
            raise InputError("loops have order 1 or above", "leave out the order")
        if loop and least > 0:
            raise InputError("a loop that has begun wins in 0 plies", "leave out the plies")
        if self.study and loop:
            raise InputError("a study ends where a loop begins", "ask for one of them")
        if self.study and most == 0:
            raise InputError("a study has 1 ply or more", "leave out the plies")
        if not any(self._admits_value(value) for value in self._examples()):
            raise InputError("no value meets all these conditions", "leave out one of them")

    def candidates(self, statistics: TableStatistics) -> int:
        """Return the number of positions of a table whose side to move and value match."""
        return sum(line.positions for line in self.lines(statistics))


def range_of(numbers: SupportsIndex | tuple[int, int]) -> tuple[int, int]:
    """Convert a number or a pair to an inclusive range; raises `InputError` for anything else."""
    pair = numbers if isinstance(numbers, tuple) else (numbers, numbers)
    try:
        low, high = map(operator.index, pair)
    except (TypeError, ValueError):
        low, high = 0, -1
    if not 0 <= low <= high:
        raise InputError(f"{excerpt(repr(numbers))} is no range", "give 5, or (5, 9)")
    return low, high


def read_range(text: str, name: str) -> tuple[int, int]:
    """Parse `5`, `5-9`, `5-` or `-9` as an inclusive range; raises `InputError` for other text.

    name : noun for the numbers in the error message, such as `plies`
    """
    match = _RANGE.fullmatch(text)
    low, dash, high = match.groups("") if match is not None else ("", "", "")
    least = int(low or 0)
    most = int(high) if high else NO_END if dash else least
    if not (low or high) or most < least:
        raise InputError(f"{excerpt(text)} is no range of {name}", "write 5, 5-9, 5- or -9")
    return least, most


def read_pieces(texts: Iterable[str] | str) -> tuple[tuple[int, int], ...]:
    """Parse texts such as `R@e5`, `R@e5,k@d9` or `红车e5`; return pairs (piece code, square).

    Black's letters are in lower case. Other letters of FENs are accepted, as in `h@E5`. Raises
    `InputError` for any other text or value, a square where the piece cannot stand, and two
    different pieces on one square.
    """
    hint = "write R@e5, or r@e5 for Black's rook"
    listed = [texts] if isinstance(texts, str) or not isinstance(texts, Iterable) else list(texts)
    for each in listed:
        require_text(each, "piece on a square", InputError, hint)
    found: dict[int, int] = {}
    for text in (part for each in listed for part in re.split(r"[\s,，、]+", each.strip(" ,，、"))):
        match = _PIECE_AT.fullmatch(text)
        code = LETTERS_BY_CODE.find(_letter(match[1])) if match else -1
        if match is None or code <= EMPTY:
            raise InputError(f"{excerpt(text)} is no piece on a square", hint)
        square = parse_square(match[2].lower())
        if square not in area(piece_side(code), piece_kind(code)):
            raise InputError(
                f"{excerpt(text)}: the piece cannot stand there", "choose another square"
            )
        if found.setdefault(square, code) != code:
            where = square_name(square)
            raise InputError(f"two pieces on {where}", "choose another square for one")
    return tuple((code, square) for square, code in found.items())


def _letter(piece: str) -> str:
    """Return the FEN letter of a piece written like `R`, `h` or `黑车`; `?` for unknown Chinese."""
    letter = LETTER_OF_CHARACTER.get(piece[-1], "?") if len(piece) > 1 else piece
    return (letter.lower() if piece[0] == "黑" else letter).translate(LETTER_ALIASES)


def read_query(fields: Mapping[str, str]) -> Query:
    """Return the query of a form's fields (text by name); raises `InputError`.

    Other names, such as `sort`, and empty texts are ignored. There is no field for `quiet`.
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
    least, most = count("least", 0), count("most", NO_END)
    if least > most:
        raise InputError("least is above most", "choose a smaller least, or a larger most")
    decided, order = choice("decided", *Offence), fields.get("order", "")
    return Query(
        turn=Side[turn.upper()] if turn else None,
        outcome=Outcome[outcome.upper()] if outcome else None,
        orders=read_range(order, "orders") if order else ANY_NUMBER,
        plies=(least, most) if fields.get("least") or fields.get("most") else None,
        only=choice("only", "1") == "1",
        zugzwang=choice("zugzwang", "1") == "1",
        differs=choice("differs", "1") == "1",
        offence=Offence(decided) if decided else None,
        study=choice("study", "1") == "1",
        pieces=read_pieces([fields["at"]] if fields.get("at") else []),
    )

"""Knowledge that only tables have of a position, beyond its value and its moves.

Numbers only: how they are shown is for `tbgen.board.web.panels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tbgen.board.knowledge.library import Library
from tbgen.indexing import Move, Position, PositionError, Side
from tbgen.indexing.squares import EMPTY, PieceType, area, piece_kind, piece_side
from tbgen.play.mainline import Ending, Mainline
from tbgen.play.preference import Preference, RootMove
from tbgen.rules import check_legal
from tbgen.tables import Outcome, ProbeResult, RuleSet, TablebaseError, Value

MAX_RUNGS = 24
"""Loops of a ladder that are followed; orders above ten are rare."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A step of a ladder: play up to a position of the loser, and the ways on from there.

    `moves` lead to it from the ladder's start. `order` is the order of what he is in; 0 at the
    last rung, which ends in mate or conversion after `plies` more. `loop` is the line that ends
    in the loop, None at order 0; it has the position before its ply `turn`. `keeps` are his moves
    that stay in the loop, `leaves` the best of those that leave it.
    """

    moves: tuple[Move, ...]
    position: Position
    order: int
    plies: int
    loop: Mainline | None = None
    turn: int = 0
    keeps: tuple[RootMove, ...] = ()
    leaves: RootMove | None = None


@dataclass(frozen=True, slots=True)
class Slip:
    """A last move that was worth less than the best one.

    `before` is the position it was made in, `lost` what the side had there, `reply` the answer
    that shows what it cost (None where the opponent has no move to make).
    """

    before: Position
    lost: Value
    got: Value
    best: RootMove
    reply: RootMove | None


def heat_map(library: Library, position: Position, square: int) -> dict[int, ProbeResult]:
    """The value for the side to move with the piece of one point on each other point instead.

    Points where it may not stand, or where the position would be impossible, are left out.
    Empty where the table is missing. Raises like `Tablebase.probe_many`.
    """
    code = position.board[square]
    if code == EMPTY:
        return {}
    found: dict[int, Position] = {}
    for point in sorted(area(Side(piece_side(code)), PieceType(piece_kind(code)))):
        if position.board[point] != EMPTY and point != square:
            continue
        board = bytearray(position.board)
        board[square] = EMPTY
        board[point] = code
        try:
            tried = Position(bytes(board), position.side)
            check_legal(tried)
        except PositionError:
            continue
        found[point] = tried
    try:
        values = library.tables.probe_many(found.values())
    except TablebaseError:
        return {}
    return dict(zip(found, values, strict=True))


def verdicts(
    library: Library, position: Position, own: ProbeResult
) -> list[tuple[RuleSet, ProbeResult]]:
    """The value under each rule set that has this table; the one in use comes first."""
    found = [(own.rule_set, own)]
    for tables in library.others():
        try:
            found.append((tables.rule_set, tables.probe(position)))
        except (TablebaseError, OSError):
            continue
    return [found[0], *sorted(found[1:], key=lambda entry: str(entry[0]))]


def slip(library: Library, positions: Sequence[Position], moves: Sequence[Move]) -> Slip | None:
    """The loss by the last move of the game; None if nothing, or if it is not known.

    Raises like `Tablebase.probe`.
    """
    if not moves:
        return None
    before = library.probe(positions[-2])
    if before.result is None:
        return None
    made = next(move for move in before.moves if move.move == moves[-1])
    best = before.moves[0]
    if made.worth is None or best.worth is None or made.outcome == best.outcome:
        return None
    after = library.probe(positions[-1])
    return Slip(positions[-2], before.result.exact, made.worth, best, next(iter(after.moves), None))


def ladder(library: Library, start: Position) -> list[Rung]:
    """The way down through the orders for the side that loses by repetition.

    Empty for positions of order 0. Raises like `Tablebase.probe`.
    """
    return library.recall(("ladder", start), lambda: _ladder(library, start))


def _ladder(library: Library, start: Position) -> list[Rung]:
    found: list[Rung] = []
    moves: tuple[Move, ...] = ()
    position = start
    while len(found) < MAX_RUNGS:
        result = library.tables.probe(position)
        if result.outcome == Outcome.DRAW:
            break
        if not result.order:
            if found:
                found.append(Rung(moves, position, 0, result.plies or 0))
            break
        line = library.line(position)
        turn = _turning_point(library, line)
        if turn is None:
            break
        number, keeps, leaves = turn
        moves = (*moves, *(entry.choice.move for entry in line.moves[:number]))
        found.append(Rung(
            moves, line.moves[number].position, result.order, result.plies or 0, line, number,
            keeps, leaves,
        ))  # fmt: skip
        if leaves is None:
            break
        moves, position = (*moves, leaves.move), leaves.after
    return found


def _turning_point(
    library: Library, line: Mainline
) -> tuple[int, tuple[RootMove, ...], RootMove | None] | None:
    """The loser's best way out of the loop: the number of the ply, what keeps him in, the way.

    The best way out is the one that resists longest; None where every move keeps him in. None
    for a line that ends in no loop.
    """
    if line.ending != Ending.LOOP or line.loop_start is None or line.winner is None:
        return None
    turns = []
    for number, played in enumerate(line.moves[line.loop_start :], line.loop_start):
        if played.position.side != line.winner.other:
            continue
        order = played.result.order
        moves = library.tables.probe_root(played.position)
        keeps = tuple(move for move in moves if move.order == order)
        out = [move for move in moves if move.worth is not None and move.order != order]
        leaves = min(out, key=lambda move: move.sort_key, default=None)
        turns.append((number, keeps, leaves))
    turns.sort(key=lambda turn: Preference.of(turn[2].worth if turn[2] else None))
    ways_out = [turn for turn in turns if turn[2] is not None]
    return next(iter(ways_out or turns), None)

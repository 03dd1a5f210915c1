"""Information from tables about a position, beyond its value and its moves.

    heat_map         values with one piece moved to other squares
    values_by_rules  values under each rule set that has a table
    last_mistake     the last move of the game, if it was a mistake that changed the outcome
    ladder           loops that the side that loses by repetition can enter in turn

A side that loses by repetition (an order above 0) can leave the loop only for a loss of lower
order. Its *ladder* has a *rung* for each loop. The last rung is a loop without a way out, or a loss
by mate or conversion (order 0).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tbgen.board.knowledge.store import Facts, TableStore
from tbgen.indexing import Move, Position, PositionError, Side
from tbgen.indexing.squares import EMPTY, PieceType, area, piece_kind, piece_side
from tbgen.play.mainline import Ending, Mainline
from tbgen.play.preference import Preference, RootMove
from tbgen.rules import check_legal
from tbgen.tables import Metric, Outcome, ProbeResult, TablebaseError, Value

MAX_RUNGS = 24
"""Maximum number of rungs of a ladder; orders above ten are rare."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A step of a ladder: a position in a loop, with the loser to move, and the loser's moves.

    The last rung may be of order 0, without a loop: the position after the last loop was left.

    moves : from the start of the ladder to `position`
    plies : at order 0, distance from `position` to mate or conversion; at higher orders, distance
        from the start of the line `loop` to the loop at its end
    metric : metric of the table; None if no table was needed
    loop : line of best play that ends in the loop; None at order 0
    turn : index in `loop.moves` of the ply that is played from `position`
    keeps : the loser's moves after which the order is the same
    leaves : the loser's best move to another order, out of the loop; None if no move is known to
    """

    moves: tuple[Move, ...]
    position: Position
    order: int
    plies: int
    metric: Metric | None
    loop: Mainline | None = None
    turn: int = 0
    keeps: tuple[RootMove, ...] = ()
    leaves: RootMove | None = None


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake: the last move of a game, with a worse outcome than the best move.

    before : position before the move
    lost, got : values of that position and of the move, both for the side that moved
    best : a best move in `before`
    reply : the opponent's best answer to the mistake; None without a legal move
    """

    before: Position
    lost: Value
    got: Value
    best: RootMove
    reply: RootMove | None


def heat_map(
    store: TableStore, position: Position, square: int
) -> dict[int, tuple[Position, ProbeResult]]:
    """Return, by square, the position with the piece of `square` moved there, and its value.

    `square` itself has an entry, too. Other occupied squares, squares outside the piece's area, and
    illegal positions are left out. Empty if `square` is empty, or if a table is missing or damaged.
    Raises `OSError` if a table cannot be read.
    """
    code, found = position.board[square], dict[int, Position]()
    if code == EMPTY:
        return {}
    for point in sorted(area(Side(piece_side(code)), PieceType(piece_kind(code)))):
        if position.board[point] == EMPTY or point == square:
            board = bytearray(position.board)
            board[square], board[point] = EMPTY, code
            with contextlib.suppress(PositionError):
                tried = Position(bytes(board), position.side)
                check_legal(tried)
                found[point] = tried
    try:
        values = store.tables.probe_many(found.values())
    except TablebaseError:
        return {}
    pairs = zip(found.items(), values, strict=True)
    return {point: (moved, value) for (point, moved), value in pairs}


def values_by_rules(store: TableStore, facts: Facts) -> list[ProbeResult]:
    """Return the position's value under each rule set with a readable table, first that in use.

    The others follow by name; those with a limit on orders are left out. Empty if the value under
    the rule set in use is unknown, if no other value is known, if a side has no attackers, or if
    the game has ended.
    """
    if facts.over is not None or facts.result is None or not facts.position.material.both_armed:
        return []
    found = []
    for tables in store.others():
        with contextlib.suppress(TablebaseError, OSError):
            found.append(tables.probe(facts.position))
    found.sort(key=lambda result: str(result.rule_set))
    return [facts.result, *found] if found else []


def last_mistake(
    store: TableStore, positions: Sequence[Position], moves: Sequence[Move]
) -> Mistake | None:
    """Return the last move of a game (with one position more than moves) if it was a mistake.

    Else return None, also if a value is unknown. Raises like `TableStore.probe`.
    """
    if not moves:
        return None
    before = store.probe(positions[-2])
    if before.result is None:
        return None
    made = next(move for move in before.moves if move.move == moves[-1])
    best = before.moves[0]
    if made.worth is None or best.worth is None or made.outcome == best.outcome:
        return None
    reply = next(iter(store.probe(positions[-1]).moves), None)
    return Mistake(positions[-2], before.result.exact, made.worth, best, reply)


def ladder(store: TableStore, start: Position) -> list[Rung]:
    """Return at most `MAX_RUNGS` rungs of the ladder from a position; cached in `store`.

    Empty for draws, at order 0, and if best play does not end in a loop that a side loses. Raises
    like `GameTablebase.probe`.
    """
    return store.cached(("ladder", start), lambda: list(islice(_rungs(store, start), MAX_RUNGS)))


def _rungs(store: TableStore, position: Position) -> Iterator[Rung]:
    """Yield the rungs of the ladder from a position, without a limit on their number."""
    moves: tuple[Move, ...] = ()
    while True:
        result = store.tables.probe(position)
        plies = result.plies or 0
        if not result.order:
            if moves and result.outcome != Outcome.DRAW:
                yield Rung(moves, position, 0, plies, result.metric)
            return
        line = store.line(position)
        turn = _turning_point(store, line)
        if turn is None:
            return
        number, keeps, leaves = turn
        moves = (*moves, *(entry.choice.move for entry in line.moves[:number]))
        at = line.moves[number].position
        yield Rung(moves, at, result.order, plies, result.metric, line, number, keeps, leaves)
        if leaves is None:
            return
        moves, position = (*moves, leaves.move), leaves.after


def _turning_point(
    store: TableStore, line: Mainline
) -> tuple[int, tuple[RootMove, ...], RootMove | None] | None:
    """Return `turn`, `keeps` and `leaves` of the `Rung` for a line; None if no side loses by it.

    `turn` is the loser's ply with the best move out of the loop, or else the first in the loop.
    """
    if line.ending != Ending.LOOP or line.loop_start is None or line.winner is None:
        return None
    turns = []
    for number, played in enumerate(line.moves[line.loop_start :], line.loop_start):
        if played.position.side == line.winner.other:
            order = played.result.order
            moves = store.tables.probe_root(played.position)
            keeps = tuple(move for move in moves if move.order == order)
            out = [move for move in moves if move.worth is not None and move.order != order]
            turns.append((number, keeps, min(out, key=lambda move: move.sort_key, default=None)))
    turns.sort(key=lambda turn: Preference.of(turn[2].worth if turn[2] else None))
    return next((turn for turn in turns if turn[2] is not None), next(iter(turns), None))

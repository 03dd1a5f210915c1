"""Repetitions of a game that is given by its positions, judged by the referee.

    positions, oldest first  ->  moves between them  ->  tbgen.referee.judge

What a table calls a draw or a direct win is decided in play by the moves of both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tbgen.indexing import Move, Position, Side
from tbgen.indexing.squares import EMPTY
from tbgen.referee import Judgement, Verdict, judge
from tbgen.tables import Rules


def judge_repetition(
    game: Sequence[Position], rules: Rules | None, *, minor_chases: bool = True
) -> Judgement | None:
    """What the referee says of the last position of a game, if it has occurred before.

    `game` has the positions, oldest first; what comes before a gap in them is left out. The
    option is the one of `tbgen.referee.judge`. None where nothing is repeated, or where the rules
    are none.
    """
    if rules in (None, Rules.NONE) or game[-1] not in game[:-1]:
        return None
    assert rules is not None
    moves: list[Move] = []
    for before, after in reversed(list(pairwise(game))):
        move = move_between(before, after)
        if move is None:
            break
        moves.insert(0, move)
    played = game[len(game) - 1 - len(moves) :]
    if game[-1] not in played[:-1]:
        return None
    first = played.index(game[-1])
    return judge(played[first], moves[first:], rules=rules, minor_chases=minor_chases)


def is_lost_by(judgement: Judgement | None, side: Side) -> bool:
    """Whether a repetition has been judged against a side."""
    return judgement is not None and judgement.verdict == Verdict.won_by(side.other)


def move_between(before: Position, after: Position) -> Move | None:
    """The move that leads from one position to the next, None if none does."""
    changed = [s for s, code in enumerate(before.board) if code != after.board[s]]
    sources = [square for square in changed if after.board[square] == EMPTY]
    if len(changed) != 2 or len(sources) != 1 or after.side == before.side:
        return None
    move = Move(sources[0], sum(changed) - sources[0])
    return move if before.after(*move) == after else None

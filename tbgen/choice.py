"""Choosing a move: progress for the winner, safety for the side that draws.

    win, order 0, or order k above 255     the best move is shorter, or of a lower order
    win, order k at 255                    keep the opponent in his pattern, and do not check for
                                           ever oneself: `_keep_pattern`
    draw                                   no repetition that the referee would judge against him
    loss                                   the longest resistance

Values alone are enough for all but patterns and draws: those are loops by nature, and who offends
in a loop is a matter of the moves made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tbgen.indexing import Position
from tbgen.indexing.squares import EMPTY, piece_side
from tbgen.preference import RootMove
from tbgen.repetition import is_lost_by, judge_repetition, move_between
from tbgen.rules import in_check, legal_moves
from tbgen.rules.chases import is_new_attack
from tbgen.tables import MissingTableError, Outcome, ProbeResult, Rules

if TYPE_CHECKING:
    from tbgen.tablebase import GameTablebase

MAX_PATTERN = 2000
"""Positions of one's own turn that the search for a way to stop checking may visit."""
FORESIGHT = 3
"""For how many of its own moves a side that draws looks whether it is being led into a loop."""


def equally_good(root: ProbeResult, moves: Sequence[RootMove]) -> list[RootMove]:
    """The moves, of a list best first, that keep the value `root` as well as any known move.

    Where only a move into a missing table can keep it, those moves.
    """
    known = [move for move in moves if move.outcome == root.outcome]
    unknown = [move for move in moves if move.outcome is None]
    kept = known or unknown or list(moves)
    return [move for move in kept if move.preference == kept[0].preference]


def choose(
    tables: GameTablebase,
    position: Position,
    root: ProbeResult,
    moves: Sequence[RootMove],
    history: Sequence[Position],
) -> RootMove | None:
    """The move to play; see `GameTablebase.best_move`."""
    if not moves:
        return None
    good = equally_good(root, moves)
    game = [*history, position]
    if is_direct_win(root):
        return _keep_pattern(tables, game, root, good)
    if root.outcome == Outcome.DRAW:
        return _safest(tables, game, good, root.rules, root.minor_chases)[1]
    return good[0]


def is_direct_win(result: ProbeResult) -> bool:
    """Whether the opponent is already in his pattern: value 255 (paper, 6.2)."""
    return result.outcome == Outcome.WIN and result.order > 0 and result.plies == 0


# -- draws -------------------------------------------------------------------------------------


def _safest(
    tables: GameTablebase,
    game: Sequence[Position],
    good: Sequence[RootMove],
    rules: Rules | None,
    minor_chases: bool,
    depth: int = FORESIGHT,
) -> tuple[int, RootMove]:
    """The first of the least dangerous moves, and its danger."""
    least, safest = None, good[0]
    for move in good:
        risk = _risk(tables, game, move, rules, minor_chases, depth)
        if least is None or risk < least:
            least, safest = risk, move
        if not risk:
            break
    return least or 0, safest


def _risk(
    tables: GameTablebase,
    game: Sequence[Position],
    move: RootMove,
    rules: Rules | None,
    minor_chases: bool,
    depth: int,
) -> int:
    """How dangerous a drawing move is: 0 if the referee cannot punish it within `depth` moves.

    Whoever offends loses the repetition, no matter who brings it about: the opponent's answers
    count as well as the move itself, and so does an answer after which every drawing move is
    dangerous. What is lost at once counts most, by how often the position has occurred: a game
    that goes on in spite of a lost repetition shall not go round for ever.
    """
    side = game[-1].side
    if rules in (None, Rules.NONE):
        return 0
    after = [*game, move.after]
    if is_lost_by(judge_repetition(after, rules, minor_chases=minor_chases), side):
        return (1 + depth) * game.count(move.after)
    worst = 0
    # Already the first check of a loop may be the wrong one: the rest can be forced. Chases are
    # looked at once there have been two in a row, which is rarer and costs more.
    is_run = move.check or (
        len(game) > 2
        and _is_offence(game[-1], move.after, rules, minor_chases)
        and _is_offence(game[-3], game[-2], rules, minor_chases)
    )
    for answer in legal_moves(move.after):
        position = move.after.after(*answer)
        line = [*after, position]
        if is_lost_by(judge_repetition(line, rules, minor_chases=minor_chases), side):
            worst = max(worst, (1 + depth) * game.count(position))
        elif depth > 1 and not worst and is_run:
            try:
                root, moves = tables.probe_with_moves(position)
            except MissingTableError:
                continue
            if root.outcome == Outcome.DRAW and moves:
                replies = equally_good(root, moves)
                worst = _safest(tables, line, replies, rules, minor_chases, depth - 1)[0]
    return worst


def _is_offence(before: Position, after: Position, rules: Rules | None, minor_chases: bool) -> bool:
    """Whether the move between two positions gives check, or attacks a piece anew."""
    if in_check(after):
        return True
    move = move_between(before, after)
    if rules != Rules.WXF or move is None:
        return False
    old, new = bytearray(before.board), bytearray(after.board)
    pieces = [square for square, code in enumerate(new) if code != EMPTY]
    own = [square for square in pieces if piece_side(new[square]) == before.side]
    return any(
        is_new_attack(old, new, *move, attacker, victim, minor_chases)
        for attacker in own
        for victim in pieces
        if victim not in own
    )


# -- staying in the pattern ------------------------------------------------------------------


def _keep_pattern(
    tables: GameTablebase, game: Sequence[Position], root: ProbeResult, good: Sequence[RootMove]
) -> RootMove:
    """A move after which the opponent must go on offending, and oneself need not.

    `good` lead to losses of the same order, in the pattern or (captures) in another table. A
    repetition that the opponent would not lose is left as often as it occurs. Then, one that
    gives no check or captures is best; otherwise the replies that lead to one in the fewest
    moves, whatever checks the opponent chooses.
    """
    position = game[-1]
    distance: dict[Position, int] = {}
    if not any(_is_idle(move) for move in good):
        distance = moves_to_idle(tables, position)
    far = len(distance) + MAX_PATTERN

    def wasted(move: RootMove) -> int:
        judgement = judge_repetition(
            [*game, move.after], root.rules, minor_chases=root.minor_chases
        )
        if judgement is None or is_lost_by(judgement, position.side.other):
            return 0
        return game.count(move.after)

    def checks_left(move: RootMove) -> int:
        if _is_idle(move):
            return 0
        return 1 + max((distance.get(child, far) for child in _pattern(tables, move)), default=0)

    return min(good, key=lambda move: (wasted(move), checks_left(move), move.sort_key))


def _is_idle(move: RootMove) -> bool:
    """Whether the move keeps its side from checking for ever."""
    return move.capture or not move.check


def _pattern(tables: GameTablebase, move: RootMove) -> list[Position]:
    """The opponent's answers that stay in the pattern, as positions of one's own turn."""
    assert move.result is not None
    replies = tables.probe_root(move.after)
    return [
        reply.after
        for reply in replies
        if reply.result is not None
        and is_direct_win(reply.result)
        and reply.order == move.order
        and not reply.capture
    ]


def moves_to_idle(tables: GameTablebase, start: Position) -> dict[Position, int]:
    """How many checks of its own the winner needs before a move that is none.

    Over the winner's positions that are reached from `start` while both sides always check; the
    opponent chooses the longest way. Positions from which there is none are left out.
    """
    options: dict[Position, list[list[Position]]] = {}
    distance: dict[Position, int] = {}
    waiting = [start]
    while waiting and len(options) < MAX_PATTERN:
        position = waiting.pop()
        if position in options or position in distance:
            continue
        good = equally_good(*tables.probe_with_moves(position))
        if any(_is_idle(move) for move in good):
            distance[position] = 0
            continue
        options[position] = [_pattern(tables, move) for move in good]
        waiting += [child for children in options[position] for child in children]
    for moves in range(1, len(options) + 1):
        reached = [
            position
            for position, choices in options.items()
            if position not in distance
            and any(all(child in distance for child in children) for children in choices)
        ]
        if not reached:
            break
        distance |= dict.fromkeys(reached, moves)
    return distance

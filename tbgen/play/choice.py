"""Choice of a move: progress for the winner, safety for the side that draws.

    value of the position      move to play
    direct win                 a move that keeps the opponent in the pattern (docs/values.md),
                               without an offence as grave as the opponent's: `Aim.WIN`
    any other win              a move to a shorter distance or a lower order; if it leads into a
                               repetition that is judged as no win, the next best winning move
    draw                       a move that keeps the draw and makes neither a check nor a new
                               attack, or is a capture or a pawn's advance; if there is none, a move
                               towards the first of `DRAWING_AIMS` that can be reached
    loss                       the longest resistance

If the rules judge no repetition, or are unknown, the first of the best moves is played. For wins
and draws the choice depends on the moves already made, which decide which side offends.
"""

from __future__ import annotations

from collections.abc import Sequence

from tbgen.indexing import Position
from tbgen.play.preference import RootMove, equally_good, is_direct_win
from tbgen.play.prober import Prober
from tbgen.play.repetition import TrialMoves
from tbgen.play.safety import Aim, Rank, StreakGraph
from tbgen.play.streaks import Offences, is_irreversible
from tbgen.referee import Verdict
from tbgen.rules import legal_moves
from tbgen.tables import MissingTableError, Outcome, ProbeResult, Rules

DRAWING_AIMS = (Aim.IDLE, Aim.BREAK, Aim.OUTLAST)
"""Aims of a side that draws, the first choice first."""


def choose(
    tables: Prober,
    position: Position,
    root: ProbeResult,
    moves: Sequence[RootMove],
    history: Sequence[Position],
) -> RootMove | None:
    """Return the move to play; None if `moves` is empty.

    root : value of the position
    moves : its legal moves, or those that may be played, best first
    history : positions of the game before this one, oldest first

    Raises `MissingTableError` if the best move depends on missing tables, and like `Prober.probe`.
    """
    if not moves:
        return None
    good = equally_good(root, moves)
    if not good:
        missing = dict.fromkeys(move.missing for move in moves if move.missing is not None)
        raise MissingTableError(" ".join(missing), root.rule_set, tables.directories)
    if root.rules in (None, Rules.NONE):
        return good[0]
    game, offences = [*history, position], Offences(root.rule_set)
    if is_direct_win(root) and len(good) > 1:
        return _safest_move(tables, root, offences, game, (Aim.WIN,))
    if root.outcome == Outcome.WIN:
        others = [move for move in moves if move.outcome == Outcome.WIN and move not in good]
        return _least_punished([*good, *others], game, root)
    if root.outcome == Outcome.LOSS or len(good) == 1:
        return good[0]
    for move in good:
        if is_irreversible(position, move.move) or not offences.threats(
            position, move.move, move.after
        ):
            return move
    return _safest_move(tables, root, offences, game, DRAWING_AIMS)


def _safest_move(
    tables: Prober,
    root: ProbeResult,
    offences: Offences,
    game: Sequence[Position],
    aims: Sequence[Aim],
) -> RootMove:
    """Return the move of lowest rank (`safety.Rank`) for the first reachable aim of `aims`.

    root : value of the current position
    game : positions, oldest first; the last one is the current position

    An aim is reachable if it gives a rank to some move; if none is, the last one is used. Moves
    into a harmful repetition (`_earlier_occurrences`) are avoided.
    """
    ranked: list[tuple[RootMove, Rank | None]] = []
    for aim in aims:
        ranked = StreakGraph(tables, root, offences, aim).ranked(game)
        if any(rank is not None for _, rank in ranked):
            break

    def sort_key(choice: tuple[RootMove, Rank | None]) -> tuple[bool, Rank | int, object]:
        move, rank = choice
        # Moves without rank come last, the least repeated first.
        return rank is None, rank or game.count(move.after), move.sort_key

    ranked.sort(key=sort_key)
    return _least_punished([move for move, _ in ranked], game, root)


def _least_punished(
    moves: Sequence[RootMove], game: Sequence[Position], root: ProbeResult
) -> RootMove:
    """Return the first of `moves` with the fewest `_earlier_occurrences`; `game` as there."""
    trials, found = TrialMoves(game, root.rule_set), []
    for move in moves:
        found.append(_earlier_occurrences(trials, game, move, root.outcome))
        if not found[-1]:
            break
    return moves[found.index(min(found))]


def _earlier_occurrences(
    trials: TrialMoves, game: Sequence[Position], move: RootMove, outcome: Outcome
) -> int:
    """Return the number of earlier occurrences of the position that a move harmfully repeats.

    game : positions, oldest first; the last one is the current position

    A repetition is harmful to the side to move if the referee decides it for the opponent, or
    judges it a draw although `outcome`, the outcome of the current position, is a win. If the
    position after `move` is no harmful repetition, the positions after all replies are tested, and
    the largest number is returned; 0 without harmful repetitions.
    """
    position = game[-1]
    if is_irreversible(position, move.move):
        return 0
    harmful = {Verdict.won_by(position.side.other)}
    if outcome == Outcome.WIN:
        harmful.add(Verdict.DRAW)
    seen = set(game)
    if move.after in seen and trials.verdict(move.move) in harmful:
        return game.count(move.after)
    replies = ((reply, move.after.after(*reply)) for reply in legal_moves(move.after))
    return max(
        (
            game.count(now)
            for reply, now in replies
            if now in seen and trials.verdict(move.move, reply) in harmful
        ),
        default=0,
    )

"""Games between `best_move` and a defender, judged by the referee.

In a direct win the opponent of the side to move must check or chase for ever, and so loses. An idle
move neither checks nor attacks.

    start  ->  one side follows best_move with the history, the other a `Defence`
           ->  `Game`: mate, a conversion into a won table, a loop and the verdict on it
    drawn start or direct win  ->  every reply that keeps the outcome is tried: `hunt`

The referee judges every repetition at once, whichever side repeats. A repetition without an
offender is counted, and the game goes on. Defenders are in `tests.helpers.defences`, starting
positions in `tests.helpers.starts`, series of games in `tests.helpers.tournament`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from enum import StrEnum

from tbgen.indexing import Position, Side
from tbgen.play.preference import is_direct_win
from tbgen.play.repetition import is_lost_by, judge_repetition
from tbgen.play.streaks import Offences, is_irreversible
from tbgen.play.tablebase import GameTablebase
from tbgen.referee import Judgement
from tbgen.tables import Outcome
from tests.helpers.defences import Defence

MAX_OCCURRENCES = 4
"""Number of occurrences of a position after which a game of mutual offences ends."""


class Ending(StrEnum):
    """Ways in which a game ends; `side` is the side that follows best_move."""

    MATE = "mate"
    """`side` has won: the opponent has no legal move."""
    CONVERSION = "conversion"
    """`side` wins by the table: after a capture, or after an error in a drawn game."""
    LOOP = "loop"
    """`side` has won: the referee has decided a repetition against the opponent."""
    OPEN = "open"
    """The game was undecided after the maximum number of plies."""
    LOST = "lost"
    """`side` has lost by mate, by the table or by the referee, or has given up a win."""


@dataclass(frozen=True)
class Game:
    """A game as it ended.

    `positions` are oldest first. `verdict` is the verdict on a repetition that ended the game, or
    the last one in an open game from a draw; else None.
    """

    positions: list[Position]
    ending: Ending
    verdict: Judgement | None = None
    idle_repetitions: int = 0
    """Number of repetitions that the referee decided against neither side: the game went on."""

    @property
    def fens(self) -> str:
        """Return the positions as text for a message, one FEN a line."""
        return "\n".join(position.fen for position in self.positions)


def play_won(
    tables: GameTablebase, start: Position, defence: Defence, rng: random.Random, plies: int
) -> Game:
    """Play a position that one side wins: best_move for this side, a defence for the other.

    plies : number of plies after which the game ends as `Ending.OPEN`
    """
    root = tables.probe(start)
    winner = start.side if root.outcome == Outcome.WIN else start.side.other
    game = [start]
    idle = 0
    while len(game) <= plies:
        position = game[-1]
        if position.side == winner:
            move = tables.best_move(position, game[:-1])
            if move is None or move.outcome != Outcome.WIN:
                return Game(game, Ending.LOST, None, idle)
        else:
            moves = tables.probe_root(position)
            if not moves:
                return Game(game, Ending.MATE, None, idle)
            move = defence(rng, moves, game)
            if move.outcome != Outcome.LOSS:
                return Game(game, Ending.LOST, None, idle)
        game.append(move.after)
        assert move.result is not None
        if move.capture and move.result.order == 0:
            return Game(game, Ending.CONVERSION, None, idle)
        verdict = judge_repetition(game, root.rule_set)
        if is_lost_by(verdict, winner.other):
            return Game(game, Ending.LOOP, verdict, idle)
        if is_lost_by(verdict, winner):
            return Game(game, Ending.LOST, verdict, idle)
        idle += verdict is not None
    return Game(game, Ending.OPEN, None, idle)


def play_drawn(
    tables: GameTablebase,
    start: Position,
    side: Side,
    opponent: Defence,
    rng: random.Random,
    plies: int,
) -> Game:
    """Play a drawn position: best_move for `side`, a defence for the opponent.

    The opponent makes no losing move if another one exists. The game should end undecided
    (`Ending.OPEN`), or with a win of `side`. `Ending.LOST` is a failure.

    plies : number of plies after which the game ends as `Ending.OPEN`
    """
    rule_set = tables.probe(start).rule_set
    game = [start]
    idle, repetition = 0, None
    while len(game) <= plies:
        position = game[-1]
        moves = tables.probe_root(position)
        if not moves:
            lost = position.side == side
            return Game(game, Ending.LOST if lost else Ending.MATE, None, idle)
        if position.side == side:
            move = tables.best_move(position, game[:-1])
            assert move is not None
            if move.outcome == Outcome.LOSS:
                return Game(game, Ending.LOST, None, idle)
            if move.outcome == Outcome.WIN:
                return Game(game, Ending.CONVERSION, None, idle)
        else:
            # Losing moves would prove nothing.
            kept = [m for m in moves if m.outcome != Outcome.LOSS] or moves
            move = opponent(rng, kept, game)
        game.append(move.after)
        verdict = judge_repetition(game, rule_set)
        if is_lost_by(verdict, side):
            return Game(game, Ending.LOST, verdict, idle)
        if is_lost_by(verdict, side.other):
            return Game(game, Ending.LOOP, verdict, idle)
        if verdict is not None:
            idle, repetition = idle + 1, verdict
    return Game(game, Ending.OPEN, repetition, idle)


@dataclass
class Hunt:
    """Results of games from one position in which every reply to best_move is tried."""

    games: int = 0
    """Number of games that ended as required."""
    deepest: int = 0
    """Largest number of moves that best_move made in one game.

    When drawing, these are consecutive offences; a last idle move is not counted.
    """
    unfinished: int = 0
    """Number of games not played to their end when `budget` was used up."""
    lost: list[Game] = field(default_factory=list)
    """Games in which best_move failed to win or to draw."""


def hunt(tables: GameTablebase, start: Position, budget: int) -> Hunt:
    """Play by best_move for the side to move, against every reply that keeps the outcome.

    `start` is a draw or a direct win. A game from a draw ends as required in these cases:

    - A move of best_move is idle or irreversible, since no earlier offence counts after it.
    - A reply is irreversible, or ends the streak of offences.
    - The referee decides against the opponent.
    - A position has occurred more than `MAX_OCCURRENCES` times, since both sides offend.

    A game from a direct win ends when the referee decides a repetition for the winner, or when a
    position is no direct win of the same order.

    budget : maximum number of calls of best_move
    """
    root = tables.probe(start)
    wins = root.outcome == Outcome.WIN
    offences = Offences(root.rule_set)
    result = Hunt()
    waiting = [[start]]
    for _ in range(budget):
        if not waiting:
            break
        game = waiting.pop()
        before = game[-1]
        move = tables.best_move(before, game[:-1])
        if move is None or move.outcome != root.outcome:
            result.lost.append(Game(game, Ending.LOST))
            continue
        if not wins and (
            is_irreversible(before, move.move)
            or not offences.threats(before, move.move, move.after)
        ):
            result.games += 1
            continue
        result.deepest = max(result.deepest, len(game) // 2 + 1)
        for reply in tables.probe_root(move.after) if move.order == root.order else ():
            if not wins and reply.outcome == Outcome.LOSS:
                continue
            line = [*game, move.after, reply.after]
            verdicts = [judge_repetition(each, root.rule_set) for each in (line[:-1], line)]
            won = any(is_lost_by(verdict, start.side.other) for verdict in verdicts)
            if wins:
                # A repetition that neither side wins is no win.
                lost = any(verdicts) and not won
                ended = not (
                    reply.result and is_direct_win(reply.result) and reply.order == root.order
                )
            else:
                lost = any(is_lost_by(verdict, start.side) for verdict in verdicts)
                ended = (
                    is_irreversible(move.after, reply.move)
                    or not offences.streak(line)
                    or line.count(line[-1]) > MAX_OCCURRENCES
                )
            if lost:
                result.lost.append(Game(line, Ending.LOST))
            elif won or ended:
                result.games += 1
            else:
                waiting.append(line)
    result.unfinished = len(waiting)
    return result

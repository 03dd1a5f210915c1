"""Games between `best_move` and a defender, ended by the referee: what the tables are worth.

    start  ->  one side follows best_move with the history, the other a `Defence`
           ->  `Game`: mate, a conversion into a won table, a loop and the verdict on it
    drawn start  ->  every reply is tried until best_move has made an idle move: `hunt`

The referee judges every repetition at once, whoever brings it about. A repetition without an
offender ends nothing: it is counted, and the game goes on.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import Position, Side
from tbgen.preference import RootMove, is_direct_win
from tbgen.referee import Judgement
from tbgen.repetition import is_lost_by, judge_repetition
from tbgen.streaks import Offences, is_irreversible
from tbgen.tablebase import GameTablebase
from tbgen.tables import IllegalPositionError, Outcome
from tbgen.tables.reader import TableFile

Defence = Callable[[random.Random, Sequence[RootMove], Sequence[Position]], RootMove]
"""Chooses one of the moves, which are sorted best first; knows the game so far."""


PATIENCE = 4
"""How often a position may occur in a loop of mutual offences."""


class Ending(StrEnum):
    """How a game ends."""

    MATE = "mate"
    CONVERSION = "conversion"
    LOOP = "loop"
    OPEN = "open"
    """Nothing has happened within the plies allowed."""
    LOST = "lost"
    """The follower of best_move has lost, by mate, by the table or by the referee."""


@dataclass(frozen=True)
class Game:
    """A game that has ended: its positions, and the last verdict."""

    positions: list[Position]
    ending: Ending
    verdict: Judgement | None = None
    idle_repetitions: int = 0
    """Repetitions on the way that the referee gave to nobody."""

    @property
    def fens(self) -> str:
        """The game, for a message about it."""
        return "\n".join(position.fen for position in self.positions)


# -- defences ----------------------------------------------------------------------------------


def at_random(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Any legal move."""
    del game
    return rng.choice(moves)


def longest(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """The longest resistance by the table: always the same move."""
    del rng, game
    return moves[0]


def offending(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Any of the moves that are the longest resistance: in a pattern, those that stay there."""
    del game
    return rng.choice([move for move in moves if move.best])


def checking(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """A check if there is one, the best of its kind."""
    del rng, game
    return next((move for move in moves if move.check), moves[0])


def evading(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Of the longest resistance, what was on the board least often: patterns without period."""
    best = [move for move in moves if move.best]
    fewest = min(game.count(move.after) for move in best)
    return rng.choice([move for move in best if game.count(move.after) == fewest])


DEFENCES: dict[str, Defence] = {
    "random": at_random,
    "longest": longest,
    "offending": offending,
    "checking": checking,
    "evading": evading,
}


def hunter(tables: GameTablebase) -> Defence:
    """Of the replies that leave the other side only offences, what was on the board most often.

    Every such game is led into loops in which the other side has done nothing but offend.
    """

    def hunt_on(
        rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]
    ) -> RootMove:
        hunting = [m for m in moves if not m.capture and is_endangered(tables, m.after)]
        often = max((game.count(move.after) for move in hunting), default=0)
        return rng.choice([m for m in hunting if game.count(m.after) == often] or moves)

    return hunt_on


# -- games -------------------------------------------------------------------------------------


def play_won(
    tables: GameTablebase, start: Position, defence: Defence, rng: random.Random, plies: int
) -> Game:
    """Win a position, for the side that the table gives it to."""
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
        verdict = judge_repetition(game, root.rules)
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
    """Hold a drawn position for a side; OPEN is what it should come to, or a won table."""
    rules = tables.probe(start).rules
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
            # Who throws the draw away proves nothing.
            kept = [m for m in moves if m.outcome != Outcome.LOSS] or moves
            move = opponent(rng, kept, game)
        game.append(move.after)
        verdict = judge_repetition(game, rules)
        if is_lost_by(verdict, side):
            return Game(game, Ending.LOST, verdict, idle)
        if is_lost_by(verdict, side.other):
            return Game(game, Ending.LOOP, verdict, idle)
        if verdict is not None:
            idle, repetition = idle + 1, verdict
    return Game(game, Ending.OPEN, repetition, idle)


@dataclass
class Hunt:
    """What all replies to best_move have come to."""

    games: int = 0
    """Games that have ended as they should."""
    deepest: int = 0
    """The most moves that best_move needed: when drawing, offences in a row."""
    unfinished: int = 0
    """Games that were left when `budget` was used up."""
    lost: list[Game] = field(default_factory=list)


def hunt(tables: GameTablebase, start: Position, budget: int) -> Hunt:
    """Play a drawn position for the side to move against every reply that keeps the draw.

    A game is over when that side has made an idle move, or one that cannot be undone, since
    nothing that lies before is held against it; also when both sides offend for ever. At most
    `budget` moves of best_move are asked for.
    """
    root = tables.probe(start)
    offences = Offences(root.rules, minor_chases=root.minor_chases)
    result = Hunt()
    waiting = [[start]]
    for _ in range(budget):
        if not waiting:
            break
        game = waiting.pop()
        before = game[-1]
        move = tables.best_move(before, game[:-1])
        if move is None or move.outcome != Outcome.DRAW:
            result.lost.append(Game(game, Ending.LOST))
            continue
        if is_irreversible(before, move.move) or not offences.threats(
            before, move.move, move.after
        ):
            result.games += 1
            continue
        result.deepest = max(result.deepest, len(game) // 2 + 1)
        replies = [
            reply for reply in tables.probe_root(move.after) if reply.outcome != Outcome.LOSS
        ]
        for reply in replies:
            line = [*game, move.after, reply.after]
            verdicts = [judge_repetition(line[:-1], root.rules), judge_repetition(line, root.rules)]
            if any(is_lost_by(verdict, start.side) for verdict in verdicts):
                result.lost.append(Game(line, Ending.LOST))
            elif (
                is_irreversible(move.after, reply.move)
                or not offences.streak(line)
                or any(is_lost_by(verdict, start.side.other) for verdict in verdicts)
                or line.count(line[-1]) > PATIENCE
            ):
                result.games += 1
            else:
                waiting.append(line)
    result.unfinished = len(waiting)
    return result


def hunt_won(tables: GameTablebase, start: Position, budget: int) -> Hunt:
    """Win a position whose opponent is in his pattern already, against every reply.

    A game is over when the referee gives a repetition to the winner, or the win has come nearer by
    the table. At most `budget` moves of best_move are asked for.
    """
    root = tables.probe(start)
    result = Hunt()
    waiting = [[start]]
    for _ in range(budget):
        if not waiting:
            break
        game = waiting.pop()
        move = tables.best_move(game[-1], game[:-1])
        if move is None or move.outcome != Outcome.WIN:
            result.lost.append(Game(game, Ending.LOST))
            continue
        result.deepest = max(result.deepest, len(game) // 2 + 1)
        for reply in tables.probe_root(move.after) if move.order == root.order else ():
            line = [*game, move.after, reply.after]
            verdicts = [judge_repetition(line[:-1], root.rules), judge_repetition(line, root.rules)]
            if any(is_lost_by(verdict, start.side.other) for verdict in verdicts):
                result.games += 1
            elif any(verdicts):
                # Nobody wins a repetition: that is no win.
                result.lost.append(Game(line, Ending.OPEN))
            elif reply.result and is_direct_win(reply.result) and reply.order == root.order:
                waiting.append(line)
            else:
                result.games += 1
    result.unfinished = len(waiting)
    return result


# -- positions to start from -------------------------------------------------------------------


def rule_decided(
    tables: GameTablebase, material: str, limit: int, rng: random.Random
) -> list[Position]:
    """Positions that the rules decide: up to so many of every side, outcome, order and distance."""
    file = tables.table(material)
    codes = file.code_space
    result: list[Position] = []
    for side in Side:
        plane = file.plane(side)
        for code in np.unique(plane).tolist():
            if code and codes.decode(code).order:
                result += _some(tables, file, side, np.flatnonzero(plane == code), limit, rng, True)
    return result


def drawn(tables: GameTablebase, material: str, limit: int, rng: random.Random) -> list[Position]:
    """Drawn positions, up to so many with either side to move, that have a drawing check."""
    file = tables.table(material)
    result: list[Position] = []
    for side in Side:
        slots = np.flatnonzero(file.plane(side) == file.code_space.draw)
        result += _some(tables, file, side, slots, limit, rng, False)
    return result


def is_endangered(tables: GameTablebase, position: Position) -> bool:
    """Whether the only moves that draw are checks and attacks, so that a loop may be lost."""
    try:
        root, moves = tables.probe_with_moves(position)
    except IllegalPositionError:
        return False
    offences = Offences(root.rules, minor_chases=root.minor_chases)
    return root.outcome == Outcome.DRAW and all(
        not is_irreversible(position, move.move)
        and offences.threats(position, move.move, move.after)
        for move in moves
        if move.outcome == Outcome.DRAW
    )


def endangered(
    tables: GameTablebase, material: str, limit: int, rng: random.Random, attempts: int = 200
) -> list[Position]:
    """Drawn positions, up to so many with either side to move, in which that side is in danger.

    At most so many slots are looked at for every position wanted.
    """
    file = tables.table(material)
    result: list[Position] = []
    for side in Side:
        slots = np.flatnonzero(file.plane(side) == file.code_space.draw)
        found: list[Position] = []
        for slot in rng.sample(range(slots.size), min(slots.size, attempts * limit)):
            if len(found) >= limit:
                break
            position = file.layout.position(int(slots[slot]), side)
            if position is not None and is_endangered(tables, position):
                found.append(position)
        result += found
    return result


def _some(
    tables: GameTablebase,
    file: TableFile,
    side: Side,
    slots: NDArray[np.int64],
    limit: int,
    rng: random.Random,
    decided: bool,
) -> list[Position]:
    """Up to `limit` positions of these slots that are worth playing from."""
    found: list[Position] = []
    for slot in rng.sample(slots.tolist(), min(slots.size, 30 * limit)):
        position = file.layout.position(slot, side)
        if position is None or len(found) >= limit:
            continue
        try:
            root, moves = tables.probe_with_moves(position)
        except IllegalPositionError:
            continue
        # A slot that no position uses may hold anything: what counts is the probe.
        checks = any(move.check and move.outcome == Outcome.DRAW for move in moves)
        if root.order if decided else root.outcome == Outcome.DRAW and checks:
            found.append(position)
    return found


# -- many games --------------------------------------------------------------------------------


@dataclass
class Tally:
    """What has come of the games of one material."""

    positions: int = 0
    won: Counter[Ending] = field(default_factory=Counter)
    drawn: Counter[Ending] = field(default_factory=Counter)
    idle_repetitions: int = 0
    won_by_hunt: int = 0
    """Games from direct wins, by every reply."""
    verdicts: int = 0
    """Loops that pyffish was asked about, in won and drawn games."""
    pyffish_agrees: int = 0
    endangered: int = 0
    """Positions that were hunted."""
    hunted: int = 0
    """The games that this came to."""
    deepest: int = 0
    failures: list[str] = field(default_factory=list)


def play_all(
    tables: GameTablebase,
    material: str,
    per_code: int,
    limit: int,
    draws: int,
    dangers: int,
    seed: int = 1,
) -> Tally:
    """Every defence against best_move, from won and from drawn positions of a material.

    From at most `limit` positions that the rules decide (see `rule_decided` for `per_code`); those
    that are direct wins also against every reply. For both sides from `draws` drawn positions with
    either side to move, and as many endangered ones. And for the side in danger from `dangers`
    endangered positions with either side to move, against every reply.
    """
    rng = random.Random(seed)
    tally = Tally()
    starts = rule_decided(tables, material, per_code, rng)
    starts = rng.sample(starts, min(limit, len(starts)))
    tally.positions = len(starts)
    for start in starts:
        for name, defence in DEFENCES.items():
            game = play_won(tables, start, defence, rng, plies=200)
            tally.won[game.ending] += 1
            tally.idle_repetitions += game.idle_repetitions
            if game.ending == Ending.LOOP:
                _ask_pyffish(tally, game)
            elif game.ending in (Ending.OPEN, Ending.LOST):
                tally.failures.append(f"{start.fen} against {name}: {game.ending}")
    for start in starts:
        if is_direct_win(tables.probe(start)):
            found = hunt_won(tables, start, budget=500)
            tally.won_by_hunt += found.games
            _note(tally, start, found)
    in_danger = endangered(tables, material, dangers, rng)
    some = rng.sample(in_danger, min(2 * draws, len(in_danger)))
    for start in [*drawn(tables, material, draws, rng), *some]:
        for name, defence in {**DEFENCES, "hunting": hunter(tables)}.items():
            for side in Side:
                game = play_drawn(tables, start, side, defence, rng, plies=40)
                tally.drawn[game.ending] += 1
                if game.verdict is not None:
                    _ask_pyffish(tally, game)
                if game.ending == Ending.LOST:
                    tally.failures.append(f"{start.fen}, {side.name}, against {name}: lost a draw")
    tally.endangered = len(in_danger)
    for start in in_danger:
        found = hunt(tables, start, budget=300)
        tally.hunted += found.games
        tally.deepest = max(tally.deepest, found.deepest)
        _note(tally, start, found)
    return tally


def _note(tally: Tally, start: Position, found: Hunt) -> None:
    if found.lost or found.unfinished:
        left = f"{len(found.lost)} lost, {found.unfinished} left"
        tally.failures.append(f"{start.fen}, every reply: {left}")


def _ask_pyffish(tally: Tally, game: Game) -> None:
    assert game.verdict is not None
    tally.verdicts += 1
    tally.pyffish_agrees += pyffish_agrees(game.verdict)


def pyffish_agrees(judgement: Judgement) -> bool:
    """Whether pyffish gives the same verdict on the loop, gone through twice."""
    from tests.oracle import repetition_verdict

    assert judgement.span is not None
    moves = [ply.move for ply in judgement.plies]
    first, last = judgement.span
    position = judgement.position
    for move in moves[:first]:
        position = position.after(*move)
    return repetition_verdict(position, moves[first:last] * 2) == judgement.verdict.text

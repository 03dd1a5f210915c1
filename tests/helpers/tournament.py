"""Series of games: every defence against `best_move`, from many positions of a material."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from tbgen.indexing import Position, Side
from tbgen.play.preference import is_direct_win
from tbgen.play.tablebase import GameTablebase
from tbgen.referee import Judgement
from tests.helpers.defences import DEFENCES, hunter
from tests.helpers.play import Ending, Game, Hunt, hunt, play_drawn, play_won
from tests.helpers.starts import drawn, endangered, rule_decided


@dataclass
class Tally:
    """Results of the games of one material.

    `won` and `drawn` count the games from decided and from drawn positions by their ending.
    """

    positions: int = 0
    """Number of decided positions from which games were played."""
    won: Counter[Ending] = field(default_factory=Counter)
    drawn: Counter[Ending] = field(default_factory=Counter)
    idle_repetitions: int = 0
    """Number of repetitions in won games that the referee judged as a draw."""
    won_by_hunt: int = 0
    """Number of games won from direct wins, in which every reply was tried."""
    verdicts: int = 0
    """Number of loops judged by pyffish, in games from decided and from drawn positions."""
    pyffish_agrees: int = 0
    """Number of loops in `verdicts` for which pyffish gives the referee's verdict."""
    endangered: int = 0
    """Number of endangered positions from which every reply was tried."""
    hunted: int = 0
    """Number of games from endangered positions in which every reply was tried."""
    deepest: int = 0
    """Largest `Hunt.deepest` of the endangered positions."""
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
    """Play every defence against best_move, from decided and from drawn positions of a material.

    Games with a wrong result, and positions whose replies were not all tried, are in `failures`.

    Decided positions are those that the rules of repetition decide. An endangered draw is one that
    only checks and attacks hold.

    per_code : maximum number of decided positions to consider, for each side to move and value
    limit : maximum number of considered positions to play; direct wins are also played against
        every reply
    draws : maximum number of draws, for each side to move, in which a check keeps the draw; up to
        twice this number of endangered draws are added. Each is played against each defence and
        against `hunter`, once with either side following best_move
    dangers : maximum number of endangered draws, for each side to move, to play against every reply
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
            found = hunt(tables, start, budget=500)
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
    """Return whether pyffish gives the verdict of a judgement, for its loop played twice."""
    from tests.oracles.fairy_stockfish import repetition_verdict

    assert judgement.span is not None
    moves = [ply.move for ply in judgement.plies]
    first, last = judgement.span
    position = judgement.position
    for move in moves[:first]:
        position = position.after(*move)
    return repetition_verdict(position, moves[first:last] * 2) == judgement.verdict.text

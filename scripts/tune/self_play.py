"""Games of the engine with itself, as positions to tune its evaluation on.

    python scripts/tune/self_play.py OUT.npz [--games 1000] [--nodes 2000] [--seed 1]

Every game begins with random plies from the opening array, as long as the search then sees neither
side clearly ahead. It ends by mate, by the rules of repetition, after so many plies without a
capture, or when both sides have long agreed who wins. Kept are quiet positions: no check, and the
best move takes nothing. OUT has `boards` uint8 (n, 90), `sides` int8 (n,), `scores` int16 (n,),
what the search said, and `results` int8 (n,), 1 for a win, 0 a draw, -1 a loss, both for Red;
`games` int32 (n,) tells the games apart. The same seed gives the same file.
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tbgen.engine.search import scores
from tbgen.engine.search.searcher import Searcher
from tbgen.indexing import START_FEN, Position, Side
from tbgen.indexing.squares import EMPTY, PieceType, piece_kind
from tbgen.referee import Game, Rules, Verdict, verdict_on
from tbgen.rules import legal_moves
from tbgen.rules.attacks import in_check

QUIET_PLIES = 80
EVEN = 250
"""No opening counts in which the search sees more than this for a side."""
DECIDED, AGREED_PLIES = 1_500, 6
"""A game is over when so much has been seen for one side, by both, for so many plies."""


@dataclass(slots=True)
class Samples:
    """What is kept, a list for each column."""

    boards: list[bytes] = field(default_factory=list)
    sides: list[int] = field(default_factory=list)
    scores: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    games: list[int] = field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write the file."""
        boards = np.frombuffer(b"".join(self.boards), np.uint8).reshape(-1, 90)
        np.savez_compressed(
            path, boards=boards, sides=np.array(self.sides, np.int8),
            scores=np.array(self.scores, np.int16), results=np.array(self.results, np.int8),
            games=np.array(self.games, np.int32),
        )  # fmt: skip


def random_game(rng: random.Random) -> Game:
    """Some random plies from the opening array."""
    while True:
        game = Game.read(Position.from_fen(START_FEN), [])
        for _ in range(rng.randint(4, 11)):
            moves = legal_moves(game.last)
            if not moves:
                break
            game.push(rng.choice(moves))
        if legal_moves(game.last):
            return game


def play(searcher: Searcher, rng: random.Random, nodes: int, number: int, kept: Samples) -> None:
    """Play a game, and keep its quiet positions."""
    searcher.clear()
    game = random_game(rng)
    opening = game.plies
    positions, moves = [game.last], []
    first, quiet, agreed, result = len(kept.boards), 0, 0, 0
    while True:
        position = positions[-1]
        sign = 1 if position.side == Side.RED else -1
        searcher.forgive()
        found = [*searcher.think(positions, moves, nodes=nodes)]
        if not found:
            result = -sign
            break
        score, move = found[-1].lines[0].score, found[-1].lines[0].moves[0]
        if game.plies == opening and abs(score) > EVEN:
            return
        agreed = agreed + 1 if abs(score) > DECIDED else 0
        if agreed >= AGREED_PLIES:
            result = sign if score > 0 else -sign
            break
        calm = position.board[move.target] == EMPTY and not in_check(position.board, position.side)
        if calm and not scores.is_decided(score):
            kept.boards.append(position.board)
            kept.sides.append(int(position.side))
            kept.scores.append(sign * score)
        taken = position.board[move.target] != EMPTY
        quiet = 0 if taken else quiet + 1
        game.push(move)
        if taken or piece_kind(position.board[move.source]) == PieceType.PAWN:
            positions, moves = [game.last], []
        else:
            positions.append(game.last)
            moves.append(move)
        verdict = verdict_on(game, rules=Rules.WXF, occurrences=2)
        if verdict == Verdict.DRAW or quiet >= QUIET_PLIES:
            break
        if verdict != Verdict.UNDECIDED:
            result = 1 if verdict == Verdict.won_by(Side.RED) else -1
            break
    count = len(kept.boards) - first
    kept.results += [result] * count
    kept.games += [number] * count


def main() -> None:
    """Play the games."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--games", type=int, default=1_000)
    parser.add_argument("--nodes", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, kept = random.Random(options.seed), Samples()
    searcher = Searcher(hash_mebibytes=1)
    searcher.warm_up()
    for number in range(options.games):
        play(searcher, rng, options.nodes, number, kept)
        if number % 50 == 49:
            kept.save(options.out)
            print(f"{number + 1} games, {len(kept.boards)} positions", flush=True)
    kept.save(options.out)


if __name__ == "__main__":
    main()

"""Speed of the compiled referee, in operations a CPU second: play a move, and judge the game.

    python scripts/measure/bench_referee.py [--seconds S]

Prints a line for each of three kinds of games: whole random games from the opening array; games in
which pieces move to and fro, as in a search; and a perpetual chase of the rule book in which every
second position is judged in full.
"""

from __future__ import annotations

import random
from functools import partial

from frame import arguments, cpu_seconds

from tbgen.indexing import START_FEN, Move, Position
from tbgen.referee.history import History
from tbgen.rules import legal_moves

CHASE = "2bak3r/4a4/4b1n2/P2rp3p/2p1c1p2/4R4/N3P3R/4BC1C1/N3A4/4KAB2 w"
CHASE_LOOP = "h2h6 d6d3 f2f3 d3d1 h6h1 d1d6 f3f6 d6d3 h1h3 d3d1 f6f1 d1d6 h3h6 d6d3 f1f3 d3d1 h6h1"


def random_game(rng: random.Random, plies: int) -> list[Move]:
    """Return up to `plies` random legal moves from the opening array; fewer if the game ends."""
    position, moves = Position.from_fen(START_FEN), []
    while len(moves) < plies and (legal := legal_moves(position)):
        moves.append(rng.choice(legal))
        position = position.after(*moves[-1])
    return moves


def shuffling_game(rng: random.Random, plies: int) -> list[Move]:
    """Return a random game in which pieces move to and fro.

    Of every six plies the last two are random. In the first four each side moves the piece of its
    previous move back, if that is legal, else at random.
    """
    position, moves = Position.from_fen(START_FEN), []
    while len(moves) < plies and (legal := legal_moves(position)):
        back = [Move(m.target, m.source) for m in moves[-2:]]
        if len(moves) % 6 < 4 and len(back) == 2 and back[0] in legal:
            move = back[0]
        else:
            move = rng.choice(legal)
        moves.append(move)
        position = position.after(*move)
    return moves


def push_and_judge(history: History, moves: list[Move]) -> None:
    """Play moves in `history`, and judge the game after each; the moves are not taken back."""
    for move in moves:
        history.push(move)
        history.verdict()


def operations_per_second(start: str, games: list[list[Move]], seconds: float) -> float:
    """Return the number of moves that are played and judged in a CPU second.

    Plays all games from the FEN `start`, again and again, for at least `seconds` of CPU time.
    Taking moves back is not measured.
    """
    history = History(Position.from_fen(start))
    operations, spent = 0, 0.0
    while spent < seconds:
        for moves in games:
            spent += cpu_seconds(partial(push_and_judge, history, moves))
            operations += len(moves)
            for _ in moves:
                history.pop()
    return operations / spent


def main() -> None:
    """Compile the kernels, then print a line for each kind of games."""
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=1.5, help="CPU seconds for each kind.")
    options = parser.parse_args()
    rng = random.Random(1)
    chase = [Move.from_iccs(text) for text in CHASE_LOOP.split()]
    kinds = {
        "random games": (START_FEN, [random_game(rng, 120) for _ in range(20)]),
        "shuffling games": (START_FEN, [shuffling_game(rng, 120) for _ in range(20)]),
        "perpetual chase (D24)": (CHASE, [chase]),
    }
    operations_per_second(CHASE, [chase], 0.01)
    for name, (start, games) in kinds.items():
        rate = operations_per_second(start, games, options.seconds)
        print(f"{name:22} {rate:10.0f} push-and-judge operations a CPU second")


if __name__ == "__main__":
    main()

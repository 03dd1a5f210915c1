"""Time four research tasks with tbgen, and with python-chess and Syzygy tables.

    python scripts/measure/bench_research.py --tables egtb --syzygy DIRECTORY

KRKN of chess is compared with KRKN of xiangqi. `..._ours` does a task by tbgen, on the whole table
in the directory `tables`. `..._theirs` does it by python-chess (the module `chess`) with its open
Syzygy `tables`. python-chess has no list of positions, so `boards` are the first `--positions`
legal ones of a loop over all placements.

Prints for each task the lines of code, and positions (either side to move) a second of processor
time. Then prints lookups a second with one position in each call, over `--positions` random
positions. Kernels are compiled first. `pip download --no-binary :all: chess` has tables of four men
in `data/syzygy/regular`.
"""

from __future__ import annotations

import inspect
import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import numpy as np
from frame import arguments, cpu_seconds

from tbgen import Outcome, find, open_tablebase, read_table


def placements(chess: Any, pieces: str) -> Any:
    """Yield every legal `chess.Board` with pieces such as `KRkn`, either side to move."""
    for squares in permutations(range(64), len(pieces)):
        for side in (chess.WHITE, chess.BLACK):
            board = chess.Board(None)
            for piece, square in zip(pieces, squares, strict=True):
                board.set_piece_at(square, chess.Piece.from_symbol(piece))
            board.turn = side
            if board.is_valid():
                yield board


def outcomes_ours(tables: Path) -> Any:
    """Count positions by outcome; return the outcomes, and the number of each, as arrays."""
    return np.unique(read_table("KRKN", tables)["outcome"], return_counts=True)


def outcomes_theirs(chess: Any, tables: Any, boards: Any) -> Any:
    """Count positions by outcome: -2 to 2, with 1 and -1 for draws by the fifty-move rule."""
    counts = Counter()
    for board in boards:
        counts[tables.probe_wdl(board)] += 1
    return counts


def distances_ours(tables: Path) -> Any:
    """Return the number of wins by distance in plies, as an array."""
    table = read_table("KRKN", tables)
    return np.bincount(table["plies"][table["outcome"] == 1])


def distances_theirs(chess: Any, tables: Any, boards: Any) -> Any:
    """Return the number of wins by distance to zeroing (DTZ)."""
    counts = Counter()
    for board in boards:
        if tables.probe_wdl(board) > 0:
            counts[tables.probe_dtz(board)] += 1
    return counts


def zugzwangs_ours(tables: Path) -> Any:
    """Return the mutual zugzwangs: either side does worse if it is to move."""
    return find("KRKN", tables, zugzwang=True).columns()


def zugzwangs_theirs(chess: Any, tables: Any, boards: Any) -> Any:
    """Return the mutual zugzwangs: the side to move would do better if it could pass."""
    found = []
    for board in boards:
        other = board.copy()
        other.turn = not board.turn
        if not other.is_valid():
            continue
        if tables.probe_wdl(board) < -tables.probe_wdl(other):
            found.append(board)
    return found


def only_moves_ours(tables: Path) -> Any:
    """Return the won positions with several moves of which exactly one wins."""
    return find("KRKN", tables, outcome=Outcome.WIN, only=True).columns()


def only_moves_theirs(chess: Any, tables: Any, boards: Any) -> Any:
    """Return the won positions with several moves of which exactly one wins."""
    found = []
    for board in boards:
        if tables.probe_wdl(board) <= 0:
            continue
        winning = 0
        for move in board.legal_moves:
            board.push(move)
            winning += board.is_checkmate() or tables.probe_wdl(board) < 0
            board.pop()
        if winning == 1 and board.legal_moves.count() > 1:
            found.append(board)
    return found


TASKS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "count outcomes": (outcomes_ours, outcomes_theirs),
    "histogram of distances": (distances_ours, distances_theirs),
    "mutual zugzwangs": (zugzwangs_ours, zugzwangs_theirs),
    "wins by one move alone": (only_moves_ours, only_moves_theirs),
}


def lines(task: Callable[..., Any]) -> int:
    """Return the number of lines of a function after its signature and docstring, a line each."""
    return len(inspect.getsource(task).splitlines()) - 2


def random_boards(chess: Any, pieces: str, count: int) -> list[Any]:
    """Draw `count` legal positions of pieces (letters of a FEN) on random squares."""
    chance, found = random.Random(1), []
    while len(found) < count:
        board = chess.Board(None)
        for piece, square in zip(pieces, chance.sample(range(64), len(pieces)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(piece))
        board.turn = chance.random() < 0.5
        if board.is_valid():
            found.append(board)
    return found


def one_by_one(probe: Callable[[Any], Any], positions: Sequence[Any]) -> float:
    """Return the number of calls of `probe`, with one position each, per CPU second."""
    probe(positions[0])

    def loop() -> None:
        for position in positions:
            probe(position)

    return len(positions) / cpu_seconds(loop)


def main() -> None:
    """Measure, and print the figures."""
    parser = arguments(__doc__, tables="required")
    parser.add_argument("--syzygy", type=Path, required=True, help="KRvKN and what it needs.")
    parser.add_argument("--positions", type=int, default=5000, help="For python-chess.")
    asked = parser.parse_args()
    import chess
    import chess.syzygy

    rows = read_table("KRKN", asked.tables).rows
    theirs_finding = lines(placements)
    print("task | tbgen: lines, positions/s | python-chess: lines, positions/s")
    with chess.syzygy.open_tablebase(str(asked.syzygy)) as tables:
        for name, (ours, theirs) in TASKS.items():
            ours(asked.tables)
            own = rows / cpu_seconds(lambda ours=ours: ours(asked.tables))

            def loop(theirs: Callable[..., Any] = theirs) -> None:
                boards = islice(placements(chess, "KRkn"), asked.positions)
                theirs(chess, tables, boards)

            other = asked.positions / cpu_seconds(loop)
            print(
                f"{name} | {lines(ours)}, {own:,.0f} | "
                f"{lines(theirs) + theirs_finding}, {other:,.0f}"
            )
        with open_tablebase(asked.tables) as own_tables:
            table = read_table("KRKN", own_tables)
            chosen = np.random.default_rng(1).permutation(table.rows)[: asked.positions]
            mine = list(table.take(chosen).positions())
            print(f"tbgen probe, one by one: {one_by_one(own_tables.probe, mine):,.0f}")
        boards = random_boards(chess, "KRkn", asked.positions)
        for probe in (tables.probe_wdl, tables.probe_dtz):
            print(f"python-chess {probe.__name__}, one by one: {one_by_one(probe, boards):,.0f}")


if __name__ == "__main__":
    main()

"""Speed of the engine's search on one thread, in nodes a CPU second.

    python scripts/measure/bench_engine.py [--nodes N] [--hash MIB]

Searches three positions with hash table and referee. Prints for each the rates of perft and of the
search, and their ratio, which depends less on the machine.
"""

from __future__ import annotations

from functools import partial

from frame import arguments, timed
from perft import perft

from tbgen.engine.search.scores import Iteration
from tbgen.engine.search.searcher import Searcher
from tbgen.indexing import START_FEN, Position

SPEED_POSITIONS = {
    "opening": START_FEN,
    "middle game": "r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w",
    "ending": "3ak4/4a4/4b4/9/2p3N2/6P2/4r4/4B4/4A4/R2AK4 w",
}


def deepest(searcher: Searcher, position: Position, nodes: int) -> Iteration:
    """Search a position until `nodes` are used up; return the result of the last iteration."""
    *_, last = searcher.think([position], [], nodes=nodes)
    return last


def speed(searcher: Searcher, nodes: int) -> None:
    """Print for each position the nodes a CPU second of perft, and of a search of `nodes` nodes."""
    perft(Position.from_fen(START_FEN), 1)
    for name, fen in SPEED_POSITIONS.items():
        position = Position.from_fen(fen)
        spent, counted = timed(partial(perft, position, 4))
        reference = counted / spent
        searcher.clear()
        searcher.clear_stop()
        spent, last = timed(partial(deepest, searcher, position, nodes))
        rate = searcher.nodes / spent
        print(
            f"{name:12} perft {reference / 1e6:5.1f} M/s   search {rate / 1e6:5.2f} M/s   "
            f"ratio {rate / reference:.3f}   depth {last.depth}"
        )


def main() -> None:
    """Read the command line, and print the rates."""
    parser = arguments(__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--hash", type=int, default=16, help="MiB of the hash table.")
    options = parser.parse_args()
    searcher = Searcher(hash_mebibytes=options.hash)
    searcher.warm_up()
    speed(searcher, options.nodes)


if __name__ == "__main__":
    main()

"""Speed of the engine's search: nodes a CPU second on one thread, with judge and hash table.

    python scripts/measure/bench_engine.py [--nodes N] [--hash MIB]

Printed as a ratio to perft of the same run, for three positions: rates alone depend on the machine.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tbgen.engine.search.searcher import Searcher
from tbgen.indexing import START_FEN, Position

SPEED_POSITIONS = {
    "opening": START_FEN,
    "middle game": "r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w",
    "ending": "3ak4/4a4/4b4/9/2p3N2/6P2/4r4/4B4/4A4/R2AK4 w",
}


def speed(searcher: Searcher, nodes: int) -> None:
    """Print perft and search a CPU second for each position."""
    searcher.perft(Position.from_fen(START_FEN), 1)
    for name, fen in SPEED_POSITIONS.items():
        position = Position.from_fen(fen)
        begin = time.process_time()
        counted = searcher.perft(position, 4)
        perft = counted / (time.process_time() - begin)
        searcher.clear()
        searcher.clear_stop()
        begin = time.process_time()
        *_, last = searcher.think([position], [], nodes=nodes)
        rate = searcher.nodes / (time.process_time() - begin)
        print(
            f"{name:12} perft {perft / 1e6:5.1f} M/s   search {rate / 1e6:5.2f} M/s   "
            f"ratio {rate / perft:.3f}   depth {last.depth}"
        )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--hash", type=int, default=16, help="MiB of the hash table.")
    options = parser.parse_args()
    searcher = Searcher(hash_mebibytes=options.hash)
    searcher.warm_up()
    speed(searcher, options.nodes)


if __name__ == "__main__":
    main()

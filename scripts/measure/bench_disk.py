"""Print the file sizes of tables, and the time of a probe whose block is not in the cache.

    python scripts/measure/bench_disk.py --tables DIR [--peer peer_cost.csv] [--cold 2000]

Prints the sizes of all tables of one rule set, the largest first, and their sum. `--peer` (a CSV
file as for `bench_goals.py`) adds the sizes of another generator: only materials that both have are
listed and summed, and then the materials that only the other generator has are listed.

Then times cold probes, whose block is not in the cache, at random legal positions of the largest
tables. For the numba reader the time is that of loading one block. For the C reader it is that of
whole answers, with a cache of one block; this needs gcc and libzstd-dev. The files are in the page
cache. Times are CPU time.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from frame import PrintedTable, arguments, cpu_seconds
from measuring import c_nanoseconds, read_peer, sample, tables_of

from tbgen.indexing import Position
from tbgen.tables import Tablebase, TableFile

LARGEST = 8
ONE_BLOCK = 0  # the smallest possible cache


def print_sizes(files: dict[str, TableFile], peer: Path | None) -> None:
    """Print the sizes of our tables, the largest first, and sums.

    With `peer`, materials that both generators have are listed and summed, then those that only the
    other generator has are listed.

    files : our tables, by name of material
    peer : CSV file with the other generator's sizes, or None
    """
    peers = read_peer(peer) if peer is not None else {}
    theirs = {name: peer.file_bytes for name, peer in peers.items()}
    ours = {name: file.header.file_size for name, file in files.items()}
    common = sorted(set(ours) & set(theirs or ours), key=lambda name: -ours[name])
    table = PrintedTable(material="<12", slots=">12,d", bytes=">12,d", peer=">12,d", ratio=">6.3f")
    for name in common:
        other = theirs.get(name)
        ratio = ours[name] / other if other else None
        table.row(name, files[name].header.slots, ours[name], other, ratio)
    for name in sorted(set(theirs) - set(ours)):
        table.row(name, "no table", None, theirs[name], None)
    total, others = (sum(sizes.get(name, 0) for name in common) for sizes in (ours, theirs))
    table.row("sum", len(common), total, others or None, total / others if others else None)


def print_times(label: str, seconds: list[float]) -> None:
    """Print mean, median and 99th percentile of times in microseconds, after `label`."""
    micros = np.array(seconds) * 1e6
    print(
        f"{label}: mean {micros.mean():.1f} us, median {np.median(micros):.1f} us, "
        f"slowest of a hundred {np.percentile(micros, 99):.1f} us"
    )


def time_numba(tablebase: Tablebase, files: list[TableFile], positions: list[Position]) -> None:
    """Print the times in which the numba reader loads blocks that are not in its cache."""
    from tbgen.probing import COLD, OK, NumbaTables, probe_board

    names = [file.header.spec.name.material for file in files]
    tables = NumbaTables(tablebase, names, cache_bytes=ONE_BLOCK)
    boards = [(np.frombuffer(p.board, np.uint8), int(p.side)) for p in positions]
    seconds = []
    for board, side in boards:
        if probe_board(tables.buffers, board, side)[0] != COLD:
            continue  # still cached, or a block of one value
        seconds.append(cpu_seconds(tables.load_wanted))
        assert probe_board(tables.buffers, board, side)[0] == OK
    print_times(f"numba reader, {len(seconds) - 1} cold blocks", seconds[1:])


def time_c(files: list[TableFile], rules: str, positions: list[Position]) -> None:
    """Print the mean time of probes by contrib/xqprobe.c with a cache of one block."""
    if shutil.which("gcc") is None:
        print("C reader: gcc is not installed")
        return
    micros = c_nanoseconds(files, rules, ONE_BLOCK, positions) / 1000
    print(f"C reader, {len(positions)} answers, nearly all cold: mean {micros:.1f} us")


def main() -> None:
    """Read the command line, and print the sizes of tables and the times of cold probes."""
    parser = arguments(__doc__, tables="required", rules="wxf")
    parser.add_argument("--peer", type=Path, help="Sizes to compare with.")
    parser.add_argument("--cold", type=int, default=2000, help="Cold answers to time; 0 for none.")
    options = parser.parse_args()
    tables, rules = options.tables, options.rules
    with Tablebase.open(tables, rules=rules) as tablebase:
        files = tables_of(tablebase)
        if not files:
            raise SystemExit(f"{tables}: no tables for the rules {rules}; build some")
        print_sizes({file.header.spec.name.material.name: file for file in files}, options.peer)
        if options.cold:
            largest = sorted(files, key=lambda file: -file.header.file_size)[:LARGEST]
            for file in largest:
                file.path.read_bytes()  # into the page cache
            positions = sample(largest, options.cold)
            time_numba(tablebase, largest, positions)
            time_c(largest, rules, positions)


if __name__ == "__main__":
    main()

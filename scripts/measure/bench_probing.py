"""Warm probes a second of one thread, through each of the interfaces.

    python scripts/measure/bench_probing.py batch     Tablebase.probe_many
    python scripts/measure/bench_probing.py single    Tablebase.probe
    python scripts/measure/bench_probing.py numba     tbgen.probing.probe, inside a compiled loop
    python scripts/measure/bench_probing.py c         contrib/xqprobe.c (needs gcc and libzstd-dev)

`--tables DIR` takes the positions from the tables there; without it KRKN and its supporting tables
are built in a temporary directory. Warm: every block has been decoded before. Figures are in CPU
time: in Python the best of five runs, in C the mean of five.
"""

from __future__ import annotations

import numpy as np
from frame import arguments, best_seconds, tables_or_krkn
from measuring import c_nanoseconds, sample, tables_of
from numpy.typing import NDArray

from tbgen.indexing import Position
from tbgen.tables import Rules, Tablebase

POSITIONS = 100_000
CACHE_BYTES = 256 << 20
TARGETS = {"batch": 50_000, "single": 5_000, "numba": 1_000_000, "c": 1_000_000}


def batch(tablebase: Tablebase) -> float:
    """Return probes a second by `probe_many`, with all positions in one call."""
    positions = sample(tables_of(tablebase), POSITIONS)
    return POSITIONS / best_seconds(lambda: tablebase.probe_many(positions))


def single(tablebase: Tablebase) -> float:
    """Return probes a second by `probe`, with a new `Position` without caches for each call."""
    positions = sample(tables_of(tablebase), POSITIONS // 10)
    boards = [(position.board, position.side) for position in positions]

    def run() -> None:
        for position in [Position(board, side) for board, side in boards]:
            tablebase.probe(position)

    return len(boards) / best_seconds(run)


def arrays(
    positions: list[Position],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64]]:
    """Return the piece codes and squares of n positions, each (n, 32), and piece counts (n,)."""
    pieces = np.zeros((len(positions), 32), np.uint8)
    squares = np.zeros((len(positions), 32), np.uint8)
    counts = np.zeros(len(positions), np.int64)
    for number, position in enumerate(positions):
        for place, (code, square) in enumerate(position.pieces()):
            pieces[number, place], squares[number, place] = code, square
        counts[number] = len(position.pieces())
    return pieces, squares, counts


def numba(tablebase: Tablebase) -> float:
    """Return probes a second of lists of pieces and squares, inside a compiled loop."""
    from tbgen.compiling.jit import kernel
    from tbgen.probing import OK, NumbaTables, probe

    @kernel
    def probe_all(buffers, pieces, squares, counts, sides):  # type: ignore[no-untyped-def]
        cold = 0
        for i in range(len(counts)):
            status, _ = probe(buffers, pieces[i], squares[i], counts[i], sides[i])
            cold += status != OK
        return cold

    positions = sample(tables_of(tablebase), POSITIONS)
    pieces, squares, counts = arrays(positions)
    sides = np.array([position.side for position in positions])
    tables = NumbaTables(tablebase, cache_bytes=CACHE_BYTES)
    tables.preload()
    if probe_all(tables.buffers, pieces, squares, counts, sides):
        raise SystemExit(f"the tables do not fit in {CACHE_BYTES >> 20} MiB")
    return POSITIONS / best_seconds(
        lambda: probe_all(tables.buffers, pieces, squares, counts, sides)
    )


def c(tablebase: Tablebase) -> float:
    """Return probes a second by the C reader; positions are arrays of ninety piece codes."""
    rules, tables = tablebase.rule_set.rules or Rules.NONE, tables_of(tablebase)
    return 1e9 / c_nanoseconds(tables, str(rules), CACHE_BYTES, sample(tables, POSITIONS))


def main() -> None:
    """Measure warm probes a second through one interface."""
    parser = arguments(__doc__, tables="Default: KRKN, built first.", rules="")
    parser.add_argument("interface", choices=list(TARGETS))
    options = parser.parse_args()
    rules = options.rules or (None if options.tables else "check")
    measure = {"batch": batch, "single": single, "numba": numba, "c": c}[options.interface]
    with (
        tables_or_krkn(options.tables, rules or "check") as tables,
        Tablebase.open(tables, rules=rules, cache_bytes=CACHE_BYTES) as tablebase,
    ):
        rate = measure(tablebase)
    print(
        f"{options.interface}: {rate:,.0f} warm probes/s (wanted: {TARGETS[options.interface]:,})"
    )


if __name__ == "__main__":
    main()

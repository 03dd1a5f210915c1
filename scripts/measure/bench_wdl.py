"""Cost of win-draw-loss files: sizes, warm and cold probes, opening a directory.

    python scripts/measure/bench_wdl.py --tables DIR    (packed first: tbgen pack --men 5)

Warm probes, at random positions of all files (half with exchanged colours), use three interfaces:

    numba     lists of pieces, inside a compiled loop (`probe_wdl`)
    found     the same, with the material looked up before (`probe_wdl_found`)
    batch     boards, from Python (`Tablebase.probe_wdl_boards`)

Each is measured with positions sorted by material, and with all mixed. Rates are also given as a
ratio to reading single bytes at random places of as much memory. These figures, and that of `open`,
are the best of five runs. `open` opens a directory with empty files of 209 materials.

A `cold` probe reads and unpacks a block, with the file in the page cache; its figures are the mean
and the 95th percentile. The figures of C (`bench_probe_c.py`) come last, where gcc is installed.
All times are CPU time.
"""

from __future__ import annotations

import shutil
import tempfile
from functools import partial
from pathlib import Path

import bench_probe_c
import numpy as np
from bench_probing import arrays
from frame import arguments, best_seconds, cpu_seconds
from measuring import sample
from numpy.typing import NDArray

from tbgen.building.sets import materials_of
from tbgen.compiling.jit import borrowing_kernel
from tbgen.indexing import Side
from tbgen.probing.wdl import WdlTables
from tbgen.probing.wdl_kernels import WdlBuffers, find_wdl, probe_wdl, probe_wdl_found
from tbgen.tables import Metric, Rules, RuleSet, Tablebase, TableName, WdlFile, WdlName
from tbgen.tables.cache import BlockCache

POSITIONS = 200_000
COLD = 2_000


@borrowing_kernel
def probe_all(buffers, pieces, squares, counts, sides, outcomes):  # type: ignore[no-untyped-def]
    """Count the positions whose probe fails or returns another outcome than the expected one.

    buffers : `WdlBuffers`, in
    pieces, squares : uint8 (n, 32), in
    counts, sides, outcomes : int64 (n,), in; numbers of pieces, sides to move, expected outcomes
    """
    wrong = 0
    for i in range(len(counts)):
        status, outcome = probe_wdl(buffers, pieces[i], squares[i], counts[i], sides[i])
        wrong += status != 0 or outcome != outcomes[i]
    return wrong


@borrowing_kernel
def probe_found(  # type: ignore[no-untyped-def]
    buffers, found, pieces, squares, counts, sides, outcomes
):
    """Count wrong probes as `probe_all` does, but without looking up the material.

    found : int64 (n,), in; results of `find_wdl`; other arguments as in `probe_all`
    """
    wrong = 0
    for i in range(len(counts)):
        status, outcome = probe_wdl_found(
            buffers, found[i], pieces[i], squares[i], counts[i], sides[i]
        )
        wrong += status != 0 or outcome != outcomes[i]
    return wrong


@borrowing_kernel
def read_all(data, places):  # type: ignore[no-untyped-def]
    """Return the sum of single bytes; probes are compared with the time to read these.

    data : uint8 (bytes,), in; the memory
    places : int64 (n,), in; indices of the bytes to read
    """
    total = 0
    for i in range(len(places)):
        total += data[places[i]]
    return total


def find_all(
    buffers: WdlBuffers, pieces: NDArray[np.uint8], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for each position the number of its win-draw-loss file (`find_wdl`), int64 (n,).

    pieces : piece codes, uint8 (n, 32); counts : numbers of pieces, int64 (n,)
    """
    there = np.arange(pieces.shape[1]) < counts[:, None]
    weights = np.where(there, np.int64(1) << 4 * pieces.astype(np.int64), 0)
    keys, which = np.unique(weights.sum(axis=1), return_inverse=True)
    return np.array([find_wdl(buffers, key) for key in keys])[which]


def report_warm(tablebase: Tablebase) -> None:
    """Print warm probes a second of each interface; exit if an outcome is wrong."""
    tables = WdlTables(tablebase)
    tablebase.hold_wdl()
    buffers, n = tables.buffers, POSITIONS
    positions = sample([tablebase.table(material) for material in tables.materials], n)
    pieces, squares, counts = arrays(positions)
    sides = np.array([position.side for position in positions], np.int64)
    outcomes = np.array([found.outcome for found in tablebase.probe_many(positions)], np.int64)
    rest = pieces, squares, counts, sides, outcomes
    found = find_all(buffers, pieces, counts)
    boards = np.frombuffer(b"".join(p.board for p in positions), np.uint8).reshape(n, 90)
    if probe_all(buffers, *rest) or probe_found(buffers, found, *rest):
        raise SystemExit("compiled probes disagree with the tables")
    if (tablebase.probe_wdl_boards(boards, sides) != outcomes).any():
        raise SystemExit("probes of boards disagree with the tables")
    places = np.random.default_rng(2).integers(len(buffers.data), size=n)
    read = best_seconds(lambda: read_all(buffers.data, places)) / n
    print(f"unpacked: {len(buffers.data):,} bytes; a byte of them read: {read * 1e9:.1f} ns")
    order = np.argsort(found, kind="stable")
    alike = [column[order] for column in rest]
    found_alike, boards_alike = found[order], boards[order]
    for name, goal, run in (
        ("numba, mixed", 8e6, lambda: probe_all(buffers, *rest)),
        ("found, mixed", 8e6, lambda: probe_found(buffers, found, *rest)),
        ("numba", 8e6, lambda: probe_all(buffers, *alike)),
        ("found", 8e6, lambda: probe_found(buffers, found_alike, *alike)),
        ("batch, mixed", 1.5e6, lambda: tablebase.probe_wdl_boards(boards, sides)),
        ("batch", 1.5e6, lambda: tablebase.probe_wdl_boards(boards_alike, alike[3])),
    ):
        seconds = best_seconds(run) / n
        print(
            f"{name}: {1 / seconds:,.0f} warm probes/s (wanted: {goal:,.0f}), {seconds * 1e9:.0f} "
            f"ns, {seconds / read:.1f} reads"
        )


def report_cold(tablebase: Tablebase) -> None:
    """Print mean and 95th percentile, in microseconds, of a probe that reads its block."""
    rng = np.random.default_rng(3)
    cold = []
    for name in tablebase.available_wdl():
        with WdlFile(tablebase.path(name), BlockCache(0)) as file:
            sides = [side for side in Side if file.header.blocks[side]]
            if not sides:
                continue
            _ = [file.code(side, 0) for side in sides]
            for slot in rng.integers(file.header.slots, size=COLD // len(sides)).tolist():
                for side in sides:
                    cold.append(cpu_seconds(partial(file.code, side, slot)))
    micros = np.array(cold) * 1e6
    print(
        f"cold: {micros.mean():.0f} us in the mean, {np.percentile(micros, 95):.0f} us for 95 in "
        "100 (wanted: 60)"
    )


def report_opening() -> None:
    """Print the milliseconds to open a folder with empty files of all materials of 3 to 5 men."""
    materials = materials_of((), 5)
    with tempfile.TemporaryDirectory() as folder:
        for material in materials:
            table = TableName(material, RuleSet(Rules.WXF), Metric.DTM)
            (Path(folder) / table.filename).touch()
            (Path(folder) / WdlName.of(table).filename).touch()
        seconds = best_seconds(lambda: Tablebase.open(folder).close())
    print(f"open: {len(materials)} tables in {seconds * 1e3:.1f} ms (wanted: 60)")


def report_sizes(tablebase: Tablebase) -> None:
    """Print the total size of the win-draw-loss files, and its ratio to that of their tables."""
    files = tablebase.available_wdl()
    sizes = [
        (tablebase.path(name).stat().st_size, tablebase.table(name.material).header.file_size)
        for name in files
    ]
    packed, tables = (sum(column) for column in zip(*sizes, strict=True))
    print(
        f"size: {len(files)} files, {packed:,} bytes, 1/{tables / packed:.1f} of their tables "
        "(wanted: 1/8)"
    )


def main() -> None:
    """Read the command line, and measure."""
    parser = arguments(__doc__, tables="required", rules="")
    options = parser.parse_args()
    with Tablebase.open(options.tables, rules=options.rules) as tablebase:
        if not tablebase.available_wdl():
            raise SystemExit(
                f"no win-draw-loss files there; run: tbgen pack --men 5 --tables {options.tables}"
            )
        report_sizes(tablebase)
        report_cold(tablebase)
        report_opening()
        report_warm(tablebase)
        rules = tablebase.rule_set.rules
    if shutil.which("gcc") is None:
        print("C: not measured, as gcc is not installed")
        return
    assert rules is not None
    bench_probe_c.report(options.tables, str(rules))


if __name__ == "__main__":
    main()

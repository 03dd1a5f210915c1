"""Cost of probing outcomes in C: opening, warm and cold probes.

    python scripts/measure/bench_probe_c.py
    python scripts/measure/bench_probe_c.py --tables DIR [--rules wxf]

Opening: 209 win-draw-loss files, one for every material of at most five men. They are generated:
headers and block tables have full size, and every block has one value.

Probes: random positions of the tables, by default KRKN and its supporting tables, in their
win-draw-loss files, which are made if missing. Warm probes are printed beside the time of one
memory read. Each cold probe reads a block from the page cache and unpacks it.

All times are CPU time of one thread. Needs gcc and libzstd-dev. `bench_wdl.py` prints them, too.
"""

from __future__ import annotations

import hashlib
import struct
import subprocess
import tempfile
from pathlib import Path

from frame import arguments, c_program, tables_or_krkn
from measuring import records, sample, tables_of

from tbgen.building.packing import pack_table
from tbgen.building.sets import materials_of
from tbgen.indexing import Material
from tbgen.indexing.arrangement import Arrangement, possible_arrangements
from tbgen.indexing.layout import Layout
from tbgen.tables import Rules, RuleSet, Tablebase
from tbgen.tables.header import HEADER_BYTES, Header, WdlSpec
from tbgen.tables.names import WdlName
from tbgen.tables.outcomes import DRAW
from tbgen.tables.reader import TableFile
from tbgen.tables.wdl import PACKED, WDL_BLOCK_SLOTS

POSITIONS = 100_000
COLD_POSITIONS = 3_000
GOALS = "goals: 20 ms to open 209 files, 20 M probes/s warm (50 ns), 60 us cold"


def make_file(directory: Path, material: Material) -> None:
    """Write a win-draw-loss file of draws only, with header and block table of full size."""
    layout = Layout.of(material)
    lead_slots = layout.slots // layout.leads
    tile_leads = max(1, min(layout.leads, PACKED.tile_slots // lead_slots))
    as_indexed = possible_arrangements(layout, layout.slots)[0]
    each = Arrangement(tile_leads, as_indexed.axes, False)
    name = WdlName(material, RuleSet(Rules.WXF))
    header = Header(
        spec=WdlSpec(name),
        slots=layout.slots,
        block_slots=WDL_BLOCK_SLOTS,
        arrangements=(each, each),
        blocks=(0, 0),
        constants=(0, 0),
        table_offset=HEADER_BYTES,
        metadata_length=0,
        metadata_checksum=0,
        digest=hashlib.sha256(str(name).encode()).digest()[:16],
    )
    blocks = header.block_maps[0].blocks
    object.__setattr__(header, "blocks", (blocks, blocks))
    table = struct.pack("<II", 0, DRAW) * (2 * blocks)
    (directory / name.filename).write_bytes(header.pack(table) + table)


def ask(program: Path, *arguments: str | Path, positions: bytes = b"") -> list[float]:
    """Run bench_probe_c.c's program on `positions` (from `records`); return the numbers printed."""
    command = [program, *arguments]
    output = subprocess.run(command, input=positions, capture_output=True, check=True).stdout
    return [float(word) for word in output.split()]


def wdl_files(tables: list[TableFile], folder: Path) -> list[Path]:
    """List the win-draw-loss files of tables, sorted; missing ones are written to `folder`."""
    files = []
    for table in tables:
        path = table.path.with_name(WdlName.of(table.header.spec.name).filename)
        if not path.exists():
            pack_table(table, folder)
            path = folder / path.name
        files.append(path)
    return sorted(files)


def report(tables: Path | None, rules: str) -> None:
    """Measure opening, warm and cold probes; print the figures, then the goals.

    tables : directory of the tables to probe; None for KRKN, which is built first
    rules : rule set of these tables
    """
    with tempfile.TemporaryDirectory() as folder, tables_or_krkn(tables, rules) as probed:
        made, packed = Path(folder) / "made", Path(folder) / "packed"
        program = c_program(Path(folder), "scripts/measure/bench_probe_c.c", "contrib/xqprobe.c")
        made.mkdir()
        packed.mkdir()
        for material in materials_of((), 5):
            make_file(made, material)
        files, took = ask(program, "open", "wxf", made)
        print(f"C, opening {files:.0f} files: {took:.1f} ms")
        with Tablebase.open(probed, rules=rules) as opened:
            tables_probed = tables_of(opened)
            positions = sample(tables_probed, POSITIONS)
            slots = sum(table.header.slots for table in tables_probed)
            wdl = wdl_files(tables_probed, packed)
        # Two sides, and four slots to a byte.
        memory = str(slots // 2)
        warm, ahead, read = ask(program, "warm", rules, memory, *wdl, positions=records(positions))
        cold = records(positions[:COLD_POSITIONS])
        (seconds,) = ask(program, "cold", rules, "0", *wdl, positions=cold)
    print(f"C, warm: {warm:.1f} ns, {1e3 / warm:.1f} M/s; with xq_prefetch before: {ahead:.1f} ns")
    print(f"a memory read: {read:.1f} ns, of which a warm probe is {warm / read:.1f}")
    print(f"C, cold: {seconds:.1f} us")
    print(GOALS)


def main() -> None:
    """Read the command line, and measure."""
    parser = arguments(__doc__, tables="Default: KRKN, built first.", rules="wxf")
    options = parser.parse_args()
    report(options.tables, options.rules)


if __name__ == "__main__":
    main()

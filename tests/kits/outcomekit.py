"""Small win-draw-loss files for the tests, of the same random planes as tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tbgen.indexing.arrangement import Arrangement
from tbgen.indexing.layout import Layout
from tbgen.tables import TableSpec
from tbgen.tables.header import WdlSpec
from tbgen.tables.names import WdlName
from tbgen.tables.outcomes import encode_outcomes, outcomes_of
from tbgen.tables.wdl import PACKED, WdlFacts
from tbgen.tables.writer import write_table
from tests.kits.tablekit import Planes, source_of, statistics_of


def write_outcomes(
    directory: Path,
    spec: TableSpec,
    planes: Planes,
    arrangements: tuple[Arrangement, Arrangement] | None = None,
    *,
    block_slots: int,
    plain: bool = False,
) -> Path:
    """Write the outcomes of a table's planes under their own name, and return the path.

    Slots are in the order of the index unless arrangements are given.
    """
    name = WdlName.of(spec.name)
    path = directory / name.filename
    if arrangements is None:
        as_indexed = Arrangement.of_slots(Layout.of(spec.name.material))
        arrangements = as_indexed, as_indexed
    red, black = (outcomes_of(plane, spec.codes) for plane in planes)
    write_table(
        path,
        WdlSpec(name),
        source_of((red, black)),
        lambda: WdlFacts.of_table(spec.name, statistics_of(spec, planes), bytes(16)),
        packing=replace(PACKED, block_slots=block_slots, plain=plain),
        arrangements=arrangements,
        encode=encode_outcomes,
    )
    return path

"""Small win-draw-loss files for the tests: random outcomes of real materials, written to disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import Material
from tbgen.indexing.arrangement import Arrangement, possible_arrangements
from tbgen.indexing.layout import Layout
from tbgen.tables import Metric, Rules, RuleSet, TableName, WdlName
from tbgen.tables.header import WdlSpec
from tbgen.tables.outcomes import DRAW, LOSS, WIN, encode_outcomes
from tbgen.tables.statistics import SideCounts
from tbgen.tables.wdl import PACKED, SourceTable, WdlStatistics
from tbgen.tables.writer import write_table

Outcomes = tuple[NDArray[np.uint8], NDArray[np.uint8]]
"""Outcome of each slot, with Red and with Black to move: a code of `tables.outcomes`, or 0."""


def random_outcomes(material: str, seed: int, *, empty: float = 0.4, run: int = 9) -> Outcomes:
    """Return random outcomes of a material, in runs of equal ones; 0 for slots without a position.

    empty : share of the slots that have no position
    run : exclusive limit on the number of consecutive slots for which one outcome is chosen
    """
    rng = np.random.default_rng(seed)
    slots = Layout.of(Material.parse(material)).slots

    def plane() -> NDArray[np.uint8]:
        drawn = rng.integers(LOSS, WIN + 1, slots).astype(np.uint8)
        repeated = np.repeat(drawn, rng.integers(1, run, slots))[:slots]
        return np.where(rng.random(slots) < empty, 0, repeated).astype(np.uint8)

    return plane(), plane()


def facts_of(source: TableName, outcomes: Outcomes, digest: bytes = bytes(16)) -> WdlStatistics:
    """Return the metadata of a win-draw-loss file with these outcomes.

    Every slot with an outcome counts as a legal position. `source` and `digest` are name and digest
    of the table from which the file claims to be made.
    """
    red, black = (
        SideCounts(
            int(np.count_nonzero(plane)),
            *(int(np.count_nonzero(plane == code)) for code in (WIN, DRAW, LOSS)),
        )
        for plane in outcomes
    )
    rules, limit = str(source.rules), source.orders or None
    own = SourceTable(source.filename, digest.hex())
    return WdlStatistics(
        source.material.name, rules, "wdl", limit, len(outcomes[0]), red, black, own
    )


def write_outcomes(
    directory: Path,
    material: str,
    outcomes: Outcomes,
    *,
    block_slots: int = 1000,
    arrangements: tuple[Arrangement, Arrangement] | None = None,
    plain: bool = False,
    digest: bytes = bytes(16),
    rules: Rules = Rules.NONE,
) -> Path:
    """Write outcomes as a win-draw-loss file under its standard name, and return the path.

    block_slots : slots per block
    arrangements : orders of the stored slots, with Red and with Black to move; index order for None
    plain : store the blocks uncompressed
    digest : digest of the table from which the file claims to be made
    """
    source = TableName(Material.parse(material), RuleSet(rules), Metric.DTM)
    name = WdlName.of(source)
    layout = Layout.of(source.material)
    as_indexed = possible_arrangements(layout, layout.slots)[0]
    path = directory / name.filename
    write_table(
        path,
        WdlSpec(name),
        lambda side, first, count: outcomes[side][first : first + count],
        lambda: facts_of(source, outcomes, digest),
        packing=replace(PACKED, block_slots=block_slots, uncompressed=plain),
        arrangements=arrangements or (as_indexed, as_indexed),
        encode=encode_outcomes,
    )
    return path

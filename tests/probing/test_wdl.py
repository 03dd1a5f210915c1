"""Compiled probes of outcomes: every position of every table, in either colouring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tbgen.building.packing import pack_closure
from tbgen.compiling.jit import borrowing_kernel
from tbgen.indexing import InputError, Material, Side
from tbgen.indexing.layout import Layout
from tbgen.probing import INVALID, MISSING, OK
from tbgen.probing.columns import columns_of_slots
from tbgen.probing.wdl import WdlTables
from tbgen.probing.wdl_kernels import find_wdl, probe_wdl
from tbgen.tables import MissingTableError, Rules, RuleSet, Tablebase, TableFile
from tests.helpers.built import built
from tests.helpers.random_outcomes import random_outcomes, write_outcomes
from tests.helpers.random_tables import some_arrangements

CHUNK = 1 << 19
SMALL = ["KRK", "KNNK", "KPKA"]
LARGE = [
    "KRKNA", "KNPKA", "KCPKB", "KRKCA", "KRNKB", "KPPPK", "KRAKR", "KCAKN", "KRAAK", "KNBBK",
    "KPPKP", "KNKPB", "KNKNA", "KCKPA", "KRPKA", "KNAKC",
]  # fmt: skip
"""Materials of five men; with supporting tables they are at least forty tables."""


def lists(
    layout: Layout, squares: NDArray[np.uint8], *, swapped: bool, mirrored: bool, seed: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64]]:
    """Return placements as lists of pieces, all in one random order that `seed` determines.

    squares : (placements, pieces), in the order of `Layout.piece_codes`
    swapped, mirrored : whether to exchange the colours, and to mirror the board
    Returns piece codes and squares, both (placements, pieces), and numbers of pieces (placements,).
    """
    order = np.random.default_rng(seed).permutation(squares.shape[1])
    pieces = np.broadcast_to(np.array(layout.piece_codes, np.uint8), squares.shape)[:, order].copy()
    squares = squares[:, order].astype(np.uint8)
    if swapped:
        pieces ^= 8
        squares = 81 - 9 * (squares // 9) + squares % 9
    if mirrored:
        squares = squares + 8 - 2 * (squares % 9)
    return pieces, np.ascontiguousarray(squares), np.full(len(squares), squares.shape[1])


@borrowing_kernel
def probe_listed(buffers, pieces, squares, counts, sides, statuses, outcomes):
    for n in range(len(counts)):
        status, outcome = probe_wdl(buffers, pieces[n], squares[n], counts[n], sides[n])
        statuses[n], outcomes[n] = status, outcome


def probe_lists(
    tables: WdlTables,
    pieces: NDArray[np.uint8],
    squares: NDArray[np.uint8],
    counts: NDArray[np.int64],
    sides: NDArray[np.int64],
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return statuses and outcomes of positions, each a list of `counts` pieces (see `lists`)."""
    statuses, outcomes = np.empty(len(counts), np.int8), np.empty(len(counts), np.int8)
    probe_listed(tables.buffers, pieces, squares, counts, sides, statuses, outcomes)
    return statuses, outcomes


def disagreements(tablebase: Tablebase, tables: WdlTables, file: TableFile) -> tuple[int, int]:
    """Compare compiled probes, and Python's batch probe, with a table at all its legal positions.

    Compiled code probes each position four times: in both colourings, as it is and mirrored. The
    batch probe is tried once. Returns (number of compiled probes, number of wrong answers of both).
    """
    probes = wrong = 0
    layout = file.layout
    for side in Side:
        for first in range(0, layout.slots, CHUNK):
            slots = np.arange(first, min(first + CHUNK, layout.slots))
            columns = columns_of_slots(file, side, slots)
            expected = columns["outcome"]
            for turn in range(4):
                swapped, mirrored = turn % 2 == 1, turn >= 2
                listed = lists(
                    layout, columns.squares, swapped=swapped, mirrored=mirrored, seed=turn
                )
                sides = np.full(columns.rows, side ^ int(swapped))
                statuses, outcomes = probe_lists(tables, *listed, sides)
                wrong += int(((statuses != OK) | (outcomes != expected)).sum())
                probes += columns.rows
            boards = layout.boards_of_squares(columns.squares)
            found = tablebase.probe_wdl_boards(boards, np.full(columns.rows, side))
            wrong += int((found != expected).sum())
    return probes, wrong


def check_tables(directory: Path, rules: Rules, materials: list[str]) -> int:
    """Write win-draw-loss files of some materials, and check probes of all their legal positions.

    Supporting tables are included. `directory` has the tables, whose outcomes are expected, and
    receives the files. Returns the number of tables.
    """
    wanted = [Material.parse(name) for name in materials]
    pack_closure(directory, wanted, RuleSet(rules), threads=2)
    with Tablebase.open(directory) as tablebase:
        tables = WdlTables(tablebase)
        for material in tables.materials:
            file = tablebase.table(material)
            probes, wrong = disagreements(tablebase, tables, file)
            # Four probes of each legal position: two colourings, each also mirrored.
            assert (material, probes, wrong) == (material, 4 * file.statistics.legal, 0)
        return len(tables.materials)


def test_every_position_of_small_tables() -> None:
    assert check_tables(built(*SMALL), Rules.CHECK, SMALL) == 5


@pytest.mark.certification
def test_every_position_of_forty_tables() -> None:
    assert check_tables(built(*LARGE, rules="wxf"), Rules.WXF, LARGE) >= 40


# -- files that no table was packed into ----------------------------------------------------------


@pytest.fixture(scope="module", params=[1000, 4003], ids=["aligned", "unaligned"])
def random_files(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Tablebase]:
    """Yield a tablebase of win-draw-loss files with random outcomes, in different arrangements.

    The files have several tiles, a shorter last tile, and both orders of leads. In the `unaligned`
    run of the fixture, blocks begin within a byte.
    """
    folder = tmp_path_factory.mktemp("wdl")
    for material in ("KPKA", "KNNK", "KAKC", "KNAKB", "KPPK"):
        name = Material.parse(material).name
        layout = Layout.of(Material.parse(material))
        red, black = random_outcomes(name, 7, empty=0)
        if material == "KPPK":
            black[:] = 3
        write_outcomes(
            folder, name, (red, black), block_slots=request.param,
            arrangements=some_arrangements(layout, 11),
        )  # fmt: skip
    with Tablebase.open(folder) as tablebase:
        yield tablebase


def test_any_arrangement(random_files: Tablebase) -> None:
    tables = WdlTables(random_files)
    rng = np.random.default_rng(3)
    for material in tables.materials:
        file = random_files.wdl_file(material)
        assert file is not None
        slots = np.sort(rng.integers(file.layout.slots, size=4000))
        squares, sound = file.layout.squares_of_slots(slots)
        for side in Side:
            expected = file.codes(side, slots[sound]).astype(np.int8) - 2
            for turn in range(4):
                swapped = turn % 2 == 1
                listed = lists(
                    file.layout, squares[sound], swapped=swapped, mirrored=turn >= 2, seed=turn
                )
                sides = np.full(int(sound.sum()), side ^ int(swapped))
                statuses, outcomes = probe_lists(tables, *listed, sides)
                assert (statuses == OK).all()
                assert (outcomes == expected).all(), (material, side, turn)


def probe_one(tables: WdlTables, pieces: list[int], squares: list[int], side: int = 0):
    listed = np.array([pieces], np.uint8), np.array([squares], np.uint8)
    statuses, outcomes = probe_lists(tables, *listed, np.array([len(pieces)]), np.array([side]))
    return int(statuses[0]), int(outcomes[0])


def test_positions_without_an_outcome(random_files: Tablebase) -> None:
    tables = WdlTables(random_files, ["KPKA", "KNNK"])
    assert probe_one(tables, [1, 9], [4, 85]) == (OK, 0)  # no attackers
    assert probe_one(tables, [1, 9, 4], [4, 85, 40]) == (MISSING, 0)
    for pieces, squares in (
        ([1, 9, 5, 5], [4, 85, 40, 90]),  # no square
        ([1, 9, 5, 5], [30, 85, 40, 41]),  # a king outside its palace
        ([1, 9, 7, 10], [4, 85, 0, 66]),  # a pawn behind its first rank
        ([1, 9, 7, 10], [4, 85, 50, 67]),  # an advisor off its squares
        ([1, 1, 9, 5, 5], [4, 5, 85, 40, 41]),
        ([9, 5, 5], [85, 40, 41]),
        ([1, 9, 8, 5], [4, 85, 40, 41]),
        ([1, 9, *[5] * 6], [4, 85, *range(40, 46)]),
    ):
        assert probe_one(tables, pieces, squares) == (INVALID, 0), pieces
    assert probe_one(tables, [1, 9, 5, 5], [4, 85, 40, 41], side=2) == (INVALID, 0)


def test_materials_are_found_by_their_counts(random_files: Tablebase) -> None:
    tables = WdlTables(random_files)
    king = 1 << 4 | 1 << 36
    for flip in (0, 8):
        found = find_wdl(tables.buffers, king + (2 << 4 * (5 ^ flip)))
        assert tables.materials[found >> 1].name == "KNNK"
        assert found & 1 == flip // 8
    assert find_wdl(tables.buffers, king) == -2
    assert find_wdl(tables.buffers, king + (1 << 4 * 5)) == -1


def test_refusals(random_files: Tablebase) -> None:
    with pytest.raises(MissingTableError, match=r"win-draw-loss file of KRK, KPK .*pack KRK KPK "):
        WdlTables(random_files, ["KRK", "KPK"])
    with pytest.raises(InputError, match="unpacked"):
        WdlTables(random_files, max_bytes=1000)

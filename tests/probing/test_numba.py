"""Compiled probes agree with Python for every table, colouring and cache size."""

from __future__ import annotations

import pickle
import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import get_ident
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tbgen.compiling.jit import kernel
from tbgen.indexing import InputError, Material, Position, Side
from tbgen.indexing.layout import Layout
from tbgen.probing import (
    COLD,
    INVALID,
    MISSING,
    OK,
    NumbaTables,
    is_legal_board,
    kernels,
    order_of,
    outcome_of,
    plies_of,
    probe,
    probe_board,
)
from tbgen.probing.kernels import WIN
from tbgen.rules import is_legal
from tbgen.tables import (
    CodeSpace,
    MissingTableError,
    Tablebase,
    Value,
)
from tbgen.tables.blocks import DistanceCodec
from tests.helpers.boards import exchanged, random_boards
from tests.helpers.random_tables import random_planes, some_arrangements, spec_of, write
from tests.helpers.strategies import random_position

TABLES = [
    ("KRK", 1, 20),
    ("KNNK", 1, 1),
    ("KPPKA", 2, 400),
    ("KNKPB", 4, 30),
    ("KCAKC", 2, 90),
    ("KAKBB", 1, 5),
    ("KNPKA", 1, 40),
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("numba")
    for material, width, distinct in TABLES:
        if Material.parse(material).needs_table:
            spec = spec_of(material, width)
            arrangements = some_arrangements(Layout.of(spec.name.material), 1)
            planes = random_planes(spec, 7, distinct)
            write(folder, spec, planes, block_slots=5000, arrangements=arrangements)
    return folder


def expected(tablebase: Tablebase, positions: list[Position]) -> list[Value]:
    return [result.exact for result in tablebase.probe_many(positions)]


def values(scores: NDArray[np.int64]) -> list[Value]:
    return [Value(outcome_of(s), order_of(s), plies_of(s)) for s in scores.tolist()]


@pytest.mark.parametrize("cache_bytes", [0, 100_000, 1 << 28])
def test_compiled_probes_agree(directory: Path, cache_bytes: int) -> None:
    rng = random.Random(3)
    positions = [random_position(rng, [name for name, _, _ in TABLES]) for _ in range(600)]
    boards = np.array([list(p.board) for p in positions], np.uint8)
    sides = np.array([p.side for p in positions])
    with Tablebase.open(directory) as tablebase:
        tables = NumbaTables(tablebase, cache_bytes=cache_bytes)
        assert tables.cache_bytes <= max(cache_bytes, DistanceCodec(4).max_content(5000))
        statuses, scores = tables.probe_boards(boards, sides)
        assert (statuses == OK).all()
        assert values(scores) == expected(tablebase, positions)


def test_pieces_in_any_order_and_both_colourings(directory: Path) -> None:
    with Tablebase.open(directory) as tablebase:
        tables = NumbaTables(tablebase)
        assert tables.preload() == 0
        rng = np.random.default_rng(5)
        for name, _, _ in TABLES:
            boards = random_boards(Material.parse(name), 200, 5)
            for board, turned in zip(boards, exchanged(boards), strict=True):
                squares = rng.permutation(np.flatnonzero(board))
                answer = probe_board(tables.buffers, board, 1)
                assert answer[0] == OK
                assert probe(tables.buffers, board[squares], squares, len(squares), 1) == answer
                assert probe_board(tables.buffers, turned, 0) == answer


@pytest.mark.parametrize("cache_bytes", [60_000, 1 << 28], ids=["evicts", "all-blocks"])
def test_threads(directory: Path, cache_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads get the same scores; they wait for each other only if loading may evict blocks."""
    boards = random_boards(Material.parse("KPPKA"), 4000, 3)
    sides = np.arange(len(boards)) % 2
    probing: list[int] = []
    together: set[int] = set()

    def slow_probe(*arguments: Any) -> int:
        probing.append(get_ident())
        together.add(len(probing))
        time.sleep(0.003)
        cold: int = probe_boards(*arguments)
        probing.remove(get_ident())
        return cold

    with Tablebase.open(directory) as tablebase:
        tables = NumbaTables(tablebase, ["KPPKA"], cache_bytes=cache_bytes)
        assert (tables.preload() == 0) == (cache_bytes > 60_000)
        wanted = tables.probe_boards(boards, sides)[1]
        probe_boards = kernels.probe_boards
        monkeypatch.setattr(kernels, "probe_boards", slow_probe)
        with ThreadPoolExecutor(4) as pool:
            for _, scores in pool.map(lambda _: tables.probe_boards(boards, sides), range(8)):
                assert (scores == wanted).all()
    assert (max(together) > 1) == (cache_bytes > 60_000)


def test_probes_in_a_users_own_kernel(directory: Path) -> None:
    @kernel
    def best_of_two(buffers, boards, side):
        best = -WIN
        for i in range(2):
            status, score = probe_board(buffers, boards[i], side)
            if status != OK:
                return status, 0
            best = max(best, -score)
        return 0, best

    boards = random_boards(Material.parse("KRK"), 9, 1)[:2]
    with Tablebase.open(directory) as tablebase:
        tables = NumbaTables(tablebase, ["KRK"])
        assert best_of_two(tables.buffers, boards, 1) == (COLD, 0)
        assert tables.load_wanted() == 1
        status, best = best_of_two(tables.buffers, boards, 1)
        while status == COLD:
            assert tables.load_wanted() > 0
            status, best = best_of_two(tables.buffers, boards, 1)
        assert best == -tables.probe_boards(boards, np.array([1, 1]))[1].min()
        assert tables.load_wanted() == 0


def test_invalid_positions(directory: Path) -> None:
    with Tablebase.open(directory) as tablebase:
        buffers = NumbaTables(tablebase, ["KRK", "KAKBB"]).buffers
        good = [(1, 4), (9, 85), (4, 0)]

        def status(pieces: list[tuple[int, int]], side: int = 0) -> int:
            codes, squares = (np.array(column, np.int64) for column in zip(*pieces, strict=True))
            return int(probe(buffers, codes.astype(np.uint8), squares, len(codes), side)[0])

        assert status(good) == COLD
        assert status([(1, 4), (9, 85)]) == OK
        assert status([(1, 4), (9, 85), (5, 0)]) == MISSING
        for bad in (
            [(1, 4), (4, 0)],
            [(1, 0), (9, 85), (4, 1)],
            [(1, 4), (9, 85), (4, 85)],
            [(1, 4), (9, 85), (4, 90)],
            [(1, 4), (9, 85), (4, -1)],
            [(1, 4), (9, 85), (8, 1)],
            [(1, 4), (9, 85), (16, 1)],
            [(1, 4), (9, 85), *((4, s) for s in range(40, 46))],
            [(1, 4), (1, 5), (9, 85), (4, 1)],
        ):
            assert status(bad) == INVALID
        assert status(good, side=2) == INVALID


def test_preload_returns_the_blocks_that_stay_cold(directory: Path) -> None:
    with Tablebase.open(directory) as tablebase:
        tables = NumbaTables(tablebase, ["KNPKA", "KRK"], cache_bytes=50_000)
        assert tables.preload("KRK") == 0
        cold = tables.preload()
        assert cold > 0
        assert tables.preload("KRK", "KNPKA", "KNPKA") == cold
        with pytest.raises(KeyError, match="KNK"):
            tables.preload("KNK")


def test_preload_keeps_the_blocks_of_its_materials(directory: Path) -> None:
    """Blocks of a material that fits in the cache are all warm after `preload`.

    Before, blocks of the other material have taken a part of the cache.
    """
    with Tablebase.open(directory) as tablebase:
        tables = NumbaTables(tablebase, ["KNPKA", "KRK"], cache_bytes=50_000)
        for others in range(1, len(tables.buffers.frames) + 1):
            tables.buffers.wanted[:others] = 1
            tables.load_wanted()
            assert tables.preload("KRK") == 0


def test_all_missing_tables_are_named_at_once(directory: Path) -> None:
    with (
        Tablebase.open(directory) as tablebase,
        pytest.raises(MissingTableError, match=r"no table of KRCK, KNK under .*build KRCK KNK "),
    ):
        NumbaTables(tablebase, ["KRCK", "KRK", "KNK"])


def test_pickled_tables_load_their_blocks_again(directory: Path) -> None:
    boards = random_boards(Material.parse("KRK"), 50, 1)
    sides = np.zeros(len(boards), np.int64)
    with Tablebase.open(directory) as tablebase:
        tables = NumbaTables(tablebase, ["KRK"], cache_bytes=50_000)
        copied = pickle.loads(pickle.dumps(tables))
        assert (copied.materials, copied.cache_bytes) == (tables.materials, tables.cache_bytes)
        assert (
            copied.probe_boards(boards, sides)[1] == tables.probe_boards(boards, sides)[1]
        ).all()


def test_any_number_limits_the_cache(directory: Path) -> None:
    with Tablebase.open(directory) as tablebase:
        sizes = [
            NumbaTables(tablebase, ["KRK"], cache_bytes=limit).cache_bytes
            for limit in (1 << 30, 1e9, float("inf"))
        ]
    assert len(set(sizes)) == 1


def test_boards_need_as_many_sides(directory: Path) -> None:
    boards = random_boards(Material.parse("KRK"), 4, 1)
    with Tablebase.open(directory) as tablebase:
        tables = NumbaTables(tablebase, ["KRK"])
        for sides in ([0], [0, 1, 0, 2]):
            with pytest.raises(InputError, match="4 boards need as many sides"):
                tables.probe_boards(boards, np.array(sides))


def test_scores_are_in_order_of_preference() -> None:
    codes = CodeSpace(2)
    samples = [*range(1, 600), *range(codes.draw - 300, codes.draw + 300), *range(65000, 65536)]
    scores = []
    for code in samples:
        value = codes.decode(code)
        score = WIN - (value.order << 16) - value.plies if value.outcome else 0
        score = -score if value.outcome < 0 else score
        assert (outcome_of(score), order_of(score), plies_of(score)) == (
            value.outcome,
            value.order,
            value.plies,
        )
        scores.append(score)
    assert scores == sorted(scores)


def test_legality() -> None:
    boards = random_boards(Material.parse("KRCKNP"), 600, 2)
    for side in Side:
        found = [is_legal_board(board, int(side)) for board in boards.view(np.int8)]
        assert found == [is_legal_board(board, int(side)) for board in boards]
        assert found == [is_legal(Position(board.tobytes(), side)) for board in boards]
        assert 0 < sum(found) < len(boards)

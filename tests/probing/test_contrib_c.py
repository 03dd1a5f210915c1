"""The C reader: compiles without warnings, agrees with Python, and never crashes."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tbgen.indexing import Material, Position, Side
from tbgen.indexing.layout import Layout
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.tables import (
    CorruptTableError,
    FormatVersionError,
    Metric,
    Outcome,
    Rules,
    RuleSet,
    Tablebase,
    TableFile,
    TableName,
)
from tests.helpers import cprograms
from tests.helpers.boards import Boards, all_boards, exchanged
from tests.helpers.built import built
from tests.helpers.cprograms import (
    ADDRESSES,
    CACHE,
    CONTRIB,
    READER,
    THREADS,
    answers_of,
    compiled,
    needs_c,
    records_of,
    refused,
    results_of,
    run,
)
from tests.helpers.mutations import mutants
from tests.helpers.random_tables import random_planes, some_arrangements, spec_of, write
from tests.helpers.strategies import random_position

CHECK, NONE = "check", "none"

OK, MISSING = 0, -1

pytestmark = needs_c


@pytest.fixture(scope="module")
def harness() -> Path:
    return cprograms.harness()


def expected(file: TableFile, boards: Boards, side: int) -> NDArray[np.int32]:
    """Return Python's answers for boards with `side` to move, in the form of the C test program.

    Int32 (n, 4): status, outcome, order, plies. On the boards the table's first army is Red.
    """
    slots = Layout.of(file.header.spec.name.material).slots_of_boards(boards)
    codes, places = np.unique(file.codes(side, slots), return_inverse=True)
    values = [file.code_space.decode(code) for code in codes.tolist()]
    rows = [(OK, value.outcome, value.order, value.plies) for value in values]
    return np.array(rows, np.int32)[places]


@pytest.mark.parametrize("flags", [(), ("-DXQ_IN_MEMORY",), ("-O3", "-Wconversion", "-Wshadow")])
def test_the_reader_compiles_without_warnings(flags: tuple[str, ...]) -> None:
    compiled("strict", (CONTRIB / "example.c", *READER), *flags)


@pytest.mark.parametrize(
    ("material", "width", "distinct"),
    [
        ("KRK", 1, 20),
        ("KPKA", 2, 400),
        pytest.param("KNKAABB", 1, 60, marks=pytest.mark.certification),
        pytest.param("KCAKB", 4, 30, marks=pytest.mark.certification),
        pytest.param("KPPK", 2, 90, marks=pytest.mark.certification),
        ("KNNK", 4, 300),
        ("KPKP", 1, 200),
    ],
)
def test_every_position(
    tmp_path: Path, harness: Path, material: str, width: int, distinct: int
) -> None:
    spec = spec_of(material, width)
    planes = random_planes(spec, 9, distinct)
    arrangements = some_arrangements(Layout.of(spec.name.material), 3)
    path = write(tmp_path, spec, planes, block_slots=20_000, arrangements=arrangements)
    boards = all_boards(Material.parse(material))
    with TableFile(path) as file:
        for side in Side:
            wanted = expected(file, boards, side)
            for seen, mover in ((boards, side), (exchanged(boards), side.other)):
                output = run(harness, "probe", NONE, CACHE, path, records=records_of(seen, mover))
                if material == "KPKP" and seen is not boards:
                    # Equal armies are never exchanged: both colourings have their own slots.
                    slots = expected(file, seen, mover)
                    assert (answers_of(output) == slots).all()
                else:
                    assert (answers_of(output) == wanted).all()


RULE_SETS = [RuleSet(rules) for rules in Rules] + [RuleSet(Rules.WXF, minor_chases=False)]


@pytest.mark.parametrize("rule_set", RULE_SETS, ids=str)
def test_tables_of_another_rule_set_are_refused(
    tmp_path: Path, harness: Path, rule_set: RuleSet
) -> None:
    minor_chases = rule_set.minor_chases
    spec = spec_of("KRK", rules=Rules(rule_set.rules), minor_chases=minor_chases)
    path = write(tmp_path, spec, random_planes(spec, 9))
    boards = all_boards(Material.parse("KRK"))[:50]
    with TableFile(path) as file:
        output = run(harness, "probe", str(rule_set), CACHE, path, records=records_of(boards, 0))
        assert (answers_of(output) == expected(file, boards, 0)).all()
    for other in RULE_SETS:
        if other != rule_set:
            command = [harness, "probe", str(other), CACHE, path]
            refused = subprocess.run(command, input=b"", capture_output=True)
            assert refused.returncode == 1
            assert b"another rule set" in refused.stderr


def test_every_position_of_a_solved_material(harness: Path) -> None:
    directory = built("KRKN")
    boards = all_boards(Material.parse("KRKN"))
    with Tablebase.open(directory) as tablebase:
        file = tablebase.table("KRKN")
        for side in Side:
            output = run(
                harness, "probe", CHECK, CACHE, file.path, records=records_of(boards, side)
            )
            assert (answers_of(output) == expected(file, boards, side)).all()


def python_line(tables: GameTablebase, position: Position) -> str:
    """Return the line that the C test program should print for a position, computed by Python.

    It has the position's outcome, order and value, and then for each move: squares, status, flags
    (capture, check, best), value of the position after it, and value for the side that moves.
    """
    root, moves = tables.probe_with_moves(position)
    parts = [f"{root.outcome:d} {root.order} {root.value}"]
    for move in moves:
        after, worth = "0,0,0", "0,0,0"
        if move.result is not None and move.worth is not None:
            after = f"{move.result.outcome:d},{move.result.order},{move.result.value}"
            worth = f"{move.worth.outcome:d},{move.worth.order},{move.worth.plies}"
        flags = f"{move.capture:d}{move.check:d}{move.best:d}"
        status = OK if move.result is not None else MISSING
        source, target = move.move
        parts.append(f"{source}-{target}:{status}:{flags}:{after}:{worth}")
    return " ".join(parts)


@pytest.mark.parametrize(
    ("rules", "metric", "materials", "leave_out"),
    [
        ("check", None, ("KRKN", "KPKA"), ()),
        ("none", "dtc", ("KRKN", "KCAKP"), ()),
        ("check", None, ("KRKN",), ("KNK",)),
    ],
)
def test_ranked_moves(
    tmp_path: Path,
    harness: Path,
    rules: str,
    metric: str | None,
    materials: tuple[str, ...],
    leave_out: tuple[str, ...],
) -> None:
    for path in built(*materials, rules=rules, metric=metric).glob("*.xqt"):
        if path.name.split(".")[0] not in leave_out:
            (tmp_path / path.name).symlink_to(path)
    rng = random.Random(8)
    positions = [random_position(rng, materials) for _ in range(250)]
    records = b"".join(bytes([p.side]) + p.board for p in positions)
    files = sorted(tmp_path.glob("*.xqt"))
    lines = run(harness, "root", rules, CACHE, *files, records=records).decode().splitlines()
    with open_tablebase(tmp_path) as tables:
        for position, line in zip(positions, lines, strict=True):
            assert line == python_line(tables, position), position.fen


def test_invalid_positions(harness: Path) -> None:
    files = sorted(built("KRKN").glob("*.xqt"))

    def status(pieces: dict[int, int], side: int = 0, mode: str = "probe") -> int:
        board = bytearray(90)
        for square, code in pieces.items():
            board[square] = code
        output = run(harness, mode, CHECK, CACHE, *files, records=bytes([side]) + bytes(board))
        if mode == "root":
            return int(output.split()[1]) if output.startswith(b"status") else OK
        return int(answers_of(output)[0, 0])

    position, illegal, argument = -2, -3, -8
    assert status({4: 1, 84: 9, 0: 4}) == OK
    assert status({4: 1, 84: 9}) == OK
    assert status({4: 1, 84: 9, 0: 6}) == MISSING
    assert status({4: 1, 84: 9, 0: 4}, side=2) == argument
    assert status({4: 1, 0: 4}) == position
    assert status({4: 1, 84: 9, 0: 8}) == position
    assert status({4: 1, 84: 9, 0: 200}) == position
    assert status({0: 1, 84: 9, 8: 4}) == position
    assert status({4: 1, 84: 9, 1: 4, 2: 4, 3: 4}) == position
    assert status({4: 1, 85: 9, 0: 4}, mode="root") == illegal
    assert status({4: 1, 84: 9, 3: 4}, mode="root") == illegal
    assert status({4: 1, 84: 9, 0: 6}, mode="root") == MISSING


def test_threads_share_a_set() -> None:
    program = cprograms.harness("threads", *THREADS)
    files = sorted(built("KRKN").glob("*.xqt"))
    rng = random.Random(4)
    positions = [random_position(rng, ("KRKN", "KRK")) for _ in range(400)]
    records = b"".join(bytes([p.side]) + p.board for p in positions)
    answers = answers_of(run(program, "threads", CHECK, "150000", *files, records=records))
    with Tablebase.open(built("KRKN")) as tablebase:
        for answer, result in zip(answers.tolist(), tablebase.probe_many(positions), strict=True):
            assert answer == [OK, result.outcome, result.order, result.plies or 0]


@pytest.mark.parametrize(
    "other",
    ["KNK.none.dtm", "KRK.check.dtm", "KRK.none-o1.dtm", "KRK.none.dtc", "krk.none.dtm", "any"],
)
def test_a_name_must_agree_with_the_header(tmp_path: Path, harness: Path, other: str) -> None:
    spec = spec_of("KRK")
    path = write(tmp_path, spec, random_planes(spec, 9))
    renamed = path.rename(tmp_path / f"{other}.xqt")
    assert refused(harness, renamed) == "the file holds another table than its name says"


@pytest.mark.parametrize(
    ("rule_set", "metric"),
    [
        (RuleSet(Rules.WXF, minor_chases=False), Metric.DTC),
        (RuleSet(Rules.COMPUTER), Metric.DTM),
        (RuleSet(Rules.CHECK, orders=4_000_000_000), Metric.DTM),
    ],
)
def test_names_of_every_form(
    tmp_path: Path, harness: Path, rule_set: RuleSet, metric: Metric
) -> None:
    """The C reader parses every form of table name.

    Opened for a rule set without a limit on orders, it refuses a table whose name has a limit.
    """
    orders, minor_chases = rule_set.orders, rule_set.minor_chases
    spec = spec_of(
        "KRK", rules=Rules(rule_set.rules), orders=orders, metric=metric, minor_chases=minor_chases
    )
    path = write(tmp_path, spec, random_planes(spec, 9))
    command = [harness, "probe", str(rule_set.unlimited), CACHE, path]
    result = subprocess.run(command, input=b"", capture_output=True)
    assert (b"another rule set" in result.stderr) if orders else result.returncode == 0


def test_a_pipe_named_like_a_table_is_refused_at_once(tmp_path: Path, harness: Path) -> None:
    path = tmp_path / "KRK.none.dtm.xqt"
    os.mkfifo(path)
    assert refused(harness, path) == "the file or directory cannot be read"


def is_sound(path: Path, data: bytes) -> bool:
    """Write `data` to `path`; return whether Python opens the file as the table that it names."""
    path.write_bytes(data)
    try:
        TableFile(path, name=TableName.parse(path.name)).close()
    except (CorruptTableError, FormatVersionError):
        return False
    return True


@pytest.mark.parametrize(
    ("material", "width", "distinct"), [("KPKA", 1, 30), ("KRK", 2, 600), ("KCK", 4, 5)]
)
def test_mutated_files(tmp_path: Path, material: str, width: int, distinct: int) -> None:
    mutate(tmp_path, material, width, distinct, 300)


@pytest.mark.certification
@pytest.mark.parametrize(
    ("material", "width", "distinct"), [("KPKA", 1, 30), ("KRK", 2, 600), ("KCK", 4, 5)]
)
def test_many_mutated_files(tmp_path: Path, material: str, width: int, distinct: int) -> None:
    """The C reader reads 3,400 damaged files of each table without a crash, and reports damage."""
    mutate(tmp_path, material, width, distinct, 3400)


def mutate(tmp_path: Path, material: str, width: int, distinct: int, count: int) -> None:
    """Let the C reader read `count` damaged files under the sanitizers, and check the results.

    No file may cause an invalid memory access. A file must give correct values or an error, unless
    its checksums were corrected after the damage. Of the first 600 files, Python's reader must open
    the same ones. The codes have `width` bytes, and at most `distinct` different ones occur.
    """
    program = cprograms.harness("addresses", *ADDRESSES)
    spec = spec_of(material, width)
    red, black = random_planes(spec, 2, distinct)
    black[:700] = black.max()
    arrangements = some_arrangements(Layout.of(spec.name.material), 3)
    path = write(tmp_path, spec, (red, black), block_slots=700, arrangements=arrangements)
    sound = path.read_bytes()
    boards = all_boards(Material.parse(material))
    boards = boards[np.random.default_rng(1).choice(len(boards), 150)]
    records = records_of(boards[:75], 0) + records_of(exchanged(boards[75:]), 0)
    files = [(sound, True), *mutants(sound, count, seed=width)]
    stream = [struct.pack("<i", len(boards)), records]
    stream += [struct.pack("<i", len(data)) + data for data, _ in files]
    output = run(program, "mutants", NONE, "100000", path, records=b"".join(stream))
    results = results_of(output)
    assert len(results) == len(files)
    assert results[0, :3].tolist() == [OK, 0, 0]
    statuses = set(results[:, 0].tolist())
    # -9: a forged header with a rule set that the reader does not know.
    assert {0, -4, -5} <= statuses <= {0, -4, -5, -9, -10}
    honest = np.array([not forgery for _, forgery in files])
    assert not results[honest, 2].any(), "damage went unnoticed"
    for (data, _), (status, _, _) in list(zip(files, results[:, :3].tolist(), strict=True))[:600]:
        assert is_sound(path, data) == (status == OK)


def test_outcome_numbers() -> None:
    assert [int(outcome) for outcome in Outcome] == [-1, 0, 1]

"""`tbgen dump`: rows are what probing says, each legal position once; samples are among them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tbgen.cli import main
from tbgen.indexing import Material, Position, Side
from tbgen.indexing.layout import Layout
from tbgen.tablebase import open_tablebase
from tests.built import built


def dump(*arguments: str | Path) -> Result:
    directory = built("KRKN")
    return CliRunner().invoke(main, ["dump", *map(str, arguments), "--tables", str(directory)])


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_every_row_of_a_table() -> None:
    rows = read_csv(dump("KNK").stdout)
    with open_tablebase(built("KRKN")) as tables:
        statistics = tables.stats("KNK")
        layout = tables.table("KNK").layout
        positions = [Position.from_fen(row["fen"]) for row in rows]
        for row, position, result in zip(
            rows, positions, tables.probe_many(positions), strict=True
        ):
            assert (int(row["slot"]), int(row["side"])) == (layout.slot(position), position.side)
            written = [int(row[name]) for name in ("outcome", "order", "plies", "value")]
            assert written == [result.outcome, result.order, result.plies or 0, result.value]
    keys = [(int(row["side"]), int(row["slot"])) for row in rows]
    assert keys == sorted(set(keys))
    assert len(rows) == statistics.legal


def test_an_array_says_the_same(tmp_path: Path) -> None:
    out = tmp_path / "knk.npy"
    result = dump("KNK", "--format", "npy", "--out", out, "--json")
    assert result.exit_code == 0, result.output
    rows = np.load(out)
    described = json.loads((tmp_path / "knk.npy.json").read_text())
    assert json.loads(result.stdout) == described | {"out": str(out)}
    assert set(described["columns"]) == set(rows.dtype.names)
    text = read_csv(dump("KNK").stdout)
    assert len(rows) == described["rows"] == len(text)
    for row, line in zip(rows[::50], text[::50], strict=True):
        for column in ("slot", "side", "outcome", "order", "plies", "value"):
            assert int(row[column]) == int(line[column])
        board = bytearray(90)
        for letter, square in zip(described["pieces"], row["squares"], strict=True):
            board[square] = "KABRNCP".index(letter.upper()) + 1 + 8 * letter.islower()
        assert Position(bytes(board), Side(int(row["side"]))).fen == line["fen"]


def test_samples(tmp_path: Path) -> None:
    everything = dump("KNK").stdout.splitlines()
    for count in ("7", "900", "10000000"):
        lines = dump("KNK", "--sample", count, "--seed", "3").stdout.splitlines()
        assert len(lines) - 1 == min(int(count), len(everything) - 1)
        assert [line for line in everything if line in set(lines)] == lines
        again = tmp_path / "again.csv"
        assert dump("KNK", "--sample", count, "--seed", "3", "--out", again).exit_code == 0
        assert again.read_text().splitlines() == lines
    assert dump("KNK", "--sample", "7", "--seed", "4").stdout.splitlines() != lines[:8]
    assert [path.name for path in tmp_path.iterdir()] == ["again.csv"]


def test_bad_input() -> None:
    assert dump("KNK", "--format", "npy").exit_code == 2
    assert dump("KNK", "--json").exit_code == 2
    assert dump("KPK").exit_code == 1
    assert dump("KNX").exit_code == 2


@pytest.mark.parametrize("material", ["KRK", "KNNKB", "KPPPKA", "KAKB", "KCAAKPAB", "KRPPKNCC"])
def test_squares_of_many_slots(material: str) -> None:
    layout = Layout.of(Material.parse(material))
    slots = np.random.default_rng(6).integers(layout.slots, size=400)
    squares, sound = layout.squares_of_slots(slots)
    for slot, row, is_sound in zip(slots.tolist(), squares, sound, strict=True):
        position = layout.position(slot, Side.RED)
        canonical = position is not None and layout.slot(position) == slot
        assert is_sound == canonical
        if position is not None and is_sound:
            assert layout.boards_of_squares(row[None]).tobytes() == position.board

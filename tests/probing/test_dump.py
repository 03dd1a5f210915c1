"""`tbgen dump`: rows are what probing says, each legal position once; samples are among them."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tbgen.cli import main
from tbgen.indexing import Material, Position, Side
from tbgen.indexing.layout import Layout
from tbgen.play.tablebase import open_tablebase
from tbgen.probing import dump as dumping
from tbgen.tables import CorruptTableError, files
from tests.kits.built import built
from tests.kits.tablekit import with_statistics


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


class _FullDisk(io.RawIOBase):
    """A file on a disk that has room for so many bytes."""

    def __init__(self, room: int) -> None:
        self._room = room

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        if self._room == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = min(self._room, len(data))
        self._room -= written
        return written


@pytest.mark.parametrize("style", ["csv", "npy"])
@pytest.mark.parametrize("room", [0, 100, 1000, 50_000])
def test_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, style: str, room: int
) -> None:
    """An error that names the file, whatever fails first, and nothing that is left."""
    create = files._open_own

    def create_on_full_disk(path: Path, flags: int = 0) -> Any:
        with create(path, flags) as file:
            number = os.dup(file.fileno())
        full = io.BufferedWriter(_FullDisk(room))
        full.fileno = lambda: number  # type: ignore[method-assign]
        return full

    monkeypatch.setattr(files, "_open_own", create_on_full_disk)
    out = tmp_path / "knk"
    result = dump("KNK", "--format", style, "--out", out)
    assert result.exit_code == 2, result.output
    assert f"error: No space left on device: {out}" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for name in ("knk", "knk.json", f".knk.{os.getpid()}.tmp", f".knk.json.{os.getpid()}.tmp"):
        (tmp_path / name).symlink_to(precious)
    out = tmp_path / "knk"
    assert dump("KNK", "--format", "npy", "--out", out, "--sample", "9").exit_code == 0
    assert len(np.load(out)) == json.loads((tmp_path / "knk.json").read_text())["rows"] == 9
    assert {path.name for path in tmp_path.iterdir()} == {"precious", "knk", "knk.json"}
    assert precious.read_text() == "precious"


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


@pytest.mark.parametrize("share", [0.5, 1.1])
@pytest.mark.parametrize(
    "options", [(), ("--sample", "9999999"), ("--format", "npy")], ids=["csv", "sample", "npy"]
)
def test_no_count_of_positions_is_believed(
    tmp_path: Path, share: float, options: tuple[str, ...]
) -> None:
    path = tmp_path / "KNK.check.dtm.xqt"
    data = (built("KRKN") / path.name).read_bytes()
    with open_tablebase(built("KRKN")) as tables:
        facts = json.loads(json.dumps(tables.stats("KNK").to_json()))
    counts = {side: dict.fromkeys(("win", "draw", "loss"), 0) for side in ("red", "black")}
    for line in facts["histogram"]:
        line["positions"] = max(1, int(line["positions"] * share))
        counts[line["side"]][line["outcome"]] += line["positions"]
    for side, (wins, draws, losses) in ((side, n.values()) for side, n in counts.items()):
        facts[f"{side}_to_move"] = {
            "legal": wins + draws + losses, "wins": wins, "draws": draws, "losses": losses
        }  # fmt: skip
    path.write_bytes(with_statistics(data, json.dumps(facts).encode()))
    arguments = ["dump", "KNK", *options, "--out", tmp_path / "out", "--tables", tmp_path]
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == 3, result.output
    assert "count other positions" in result.output
    assert not (tmp_path / "out").exists()


def test_a_sample_comes_to_an_end_whatever_the_statistics_claim() -> None:
    with open_tablebase(built("KRKN")) as tables:
        file = tables.table("KNK")
        true = file.statistics
        more = replace(true.red_to_move, legal=20 * true.legal)
        file.__dict__["statistics"] = replace(true, red_to_move=more)
        with pytest.raises(CorruptTableError, match="count other positions"):
            dumping.sampled_rows(file, 5 * true.legal, 0)

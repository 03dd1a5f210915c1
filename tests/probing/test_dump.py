"""Tables as columns, and `tbgen dump`: one row per legal position, with its probed value."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import tbgen
from tbgen import (
    Outcome,
    Side,
    TableColumns,
    Value,
    map_columns,
    open_tablebase,
    read_chunks,
    read_table,
)
from tbgen.cli import main
from tbgen.indexing import InputError, Material
from tbgen.indexing.layout import Layout
from tbgen.probing import columns as columns_of_tables
from tbgen.probing.columns import piece_names, sampled_columns
from tbgen.probing.dump import write_csv
from tbgen.probing.placements import is_legal_board, squares_and_legality
from tbgen.system.platform import python_command
from tbgen.tables import CorruptTableError, files
from tbgen.tables.codes import LONG_SPAN, CodeSpace, value_columns
from tests.helpers.built import built
from tests.helpers.random_tables import with_statistics


def dump(*arguments: str | Path) -> Result:
    directory = built("KRKN")
    return CliRunner().invoke(main, ["dump", *map(str, arguments), "--tables", str(directory)])


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_a_pipe_is_written_to_also_through_a_link(tmp_path: Path) -> None:
    """Replacing `/dev/null` or `/dev/stdout` by a file would break the machine."""
    sample = "KNK", "--sample", "5"
    text, pipe, link = dump(*sample).stdout, tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (pipe, link):
        assert dump(*sample, "--format", "csv", "--out", path).exit_code == 0
        assert (pipe.is_fifo(), link.is_symlink()) == (True, True)
        assert os.read(reader, 1 << 16).decode() == text
    os.close(reader)


def test_the_standard_output_is_written_to_by_any_of_its_names(tmp_path: Path) -> None:
    command = python_command("-m", "tbgen", "dump", "KNK", "--tables", built("KRKN"))
    out = tmp_path / "out.csv"
    for name in ("-", "/dev/stdout", out):
        with out.open("wb", buffering=0) as stream:
            stream.write(b"first\n")
            subprocess.run([*command, "--out", name], stdout=stream, check=True)
            stream.write(b"last\n")
        assert out.read_text() == "first\n" + dump("KNK").stdout + "last\n"


def test_every_row_of_a_table() -> None:
    rows = read_csv(dump("KNK").stdout)
    with open_tablebase(built("KRKN")) as tables:
        columns = read_table("KNK", tables)
        layout, statistics = tables.table("KNK").layout, tables.stats("KNK")
        positions = list(columns.positions())
        results = tables.probe_many(positions)
        values = tables.probe_boards(columns.boards(), columns["side"])
    assert list(columns) == list(rows[0])
    for row, position, result in zip(rows, positions, results, strict=True):
        assert (int(row["slot"]), int(row["side"])) == (layout.slot(position), position.side)
        written = [int(row[name]) for name in ("outcome", "order", "plies")]
        assert written == [result.outcome, result.order, result.plies or 0]
        squares = [int(row[name]) for name in ("red_king", "black_king", "red_knight")]
        assert [position.board[square] for square in squares] == [1, 9, 5]
    for name, values_of in zip(("outcome", "order", "plies"), values, strict=True):
        assert (columns[name] == values_of).all()
    assert (layout.slots_of_boards(columns.boards()) == columns["slot"]).all()
    keys = list(zip(columns["side"].tolist(), columns["slot"].tolist(), strict=True))
    assert keys == sorted(set(keys))
    assert len(rows) == statistics.legal


def test_all_slots_have_a_row_on_request() -> None:
    with open_tablebase(built("KRKN")) as tables:
        slots = tables.table("KNK").layout.slots
        parts = list(read_chunks("KNK", tables, side=Side.BLACK, legal_only=False, chunk=999))
        legal = read_table("KNK", tables, side=Side.BLACK)
    assert max(part.rows for part in parts) == 999
    every = TableColumns.concatenate(parts)
    assert (every["slot"] == np.arange(slots)).all()
    chosen = every.take(every["legal"])
    assert all((chosen[name] == column).all() for name, column in legal.items())
    out = io.StringIO()
    write_csv(iter([every]), out)
    rows = csv.DictReader(out.getvalue().splitlines())
    assert [row["legal"] for row in rows] == ["01"[yes] for yes in every["legal"].tolist()]


def test_archives_have_equal_rows(tmp_path: Path) -> None:
    out = tmp_path / "knk.npz"
    result = dump("KNK", "--format", "npz", "--out", out, "--json")
    assert result.exit_code == 0, result.output
    described = json.loads(result.stdout)
    columns = read_table("KNK", built("KRKN"))
    mapped, loaded = map_columns(out), np.load(out)
    assert list(described["columns"]) == list(mapped) == list(loaded) == list(columns)
    assert described["rows"] == columns.rows
    with zipfile.ZipFile(out) as archive:
        assert json.loads(archive.comment) | {"out": str(out)} == described
    with open_tablebase(built("KRKN")) as tables:
        assert described["digest"] == tables.table("KNK").header.digest.hex()
    assert (described["material"], described["version"]) == ("KNK", tbgen.__version__)
    for name, column in columns.items():
        assert isinstance(mapped[name], np.memmap)
        assert mapped[name].dtype == loaded[name].dtype == column.dtype
        assert (mapped[name] == column).all()
        assert (loaded[name] == column).all()
    assert [path.name for path in tmp_path.iterdir()] == ["knk.npz"]


def test_the_help_names_every_column() -> None:
    columns = read_table("KNK", built("KRKN"))
    names = set(columns) - set(piece_names(columns.layout))
    for text in (dump("--help").stdout, str(columns_of_tables.__doc__)):
        assert names <= set(re.findall(r"\w+", text))


def test_parquet_has_equal_rows(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    out = tmp_path / "knk.parquet"
    assert dump("KNK", "--format", "parquet", "--out", out).exit_code == 0
    table = parquet.read_table(out)
    columns = read_table("KNK", built("KRKN"))
    assert table.column_names == list(columns)
    assert json.loads(table.schema.metadata[b"tbgen"])["rows"] == columns.rows
    assert all((table[name].to_numpy() == column).all() for name, column in columns.items())


def test_columns_keep_their_type() -> None:
    columns = read_table("KNK", built("KRKN"), side="black")
    assert (columns["side"] == Side.BLACK).all()
    assert columns.rows > 0
    for same in (columns.copy(), columns.take(slice(None)), columns | {}):
        assert isinstance(same, TableColumns)
        assert same is not columns
        assert all((same[name] == column).all() for name, column in columns.items())
    more = columns | {"twice": 2 * columns["plies"]}
    assert list(more.positions()) == list(columns.positions())
    assert list(more) == [*columns, "twice"]
    assert list(columns.take(3).positions()) == list(columns.positions())[3:4]
    other_rules = read_table("KNK", built("KNK", rules="none"))
    for parts in ([], [columns, more], [columns, other_rules]):
        with pytest.raises(InputError, match="parts of one table"):
            TableColumns.concatenate(parts)


def test_other_files_are_no_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_text("x")
    with pytest.raises(InputError, match=r"a\.npz is no archive of columns"):
        map_columns(path)
    np.savez_compressed(path, side=np.arange(3))
    with pytest.raises(InputError, match=r"a\.npz .* compressed columns cannot be mapped"):
        map_columns(path)
    np.savez(path, side=np.array([{}]))
    with pytest.raises(InputError, match=r"a\.npz .* columns of objects cannot be mapped"):
        map_columns(path)


def test_values_of_codes_agree_with_single_codes() -> None:
    for space in (CodeSpace(1), CodeSpace(2), CodeSpace(2, LONG_SPAN), CodeSpace(4, LONG_SPAN)):
        codes = np.random.default_rng(3).integers(1, space.top + 1, size=400)
        codes[:3] = 1, space.draw, space.top
        found = zip(*(part.tolist() for part in value_columns(codes, space)), strict=True)
        for code, (outcome, order, plies) in zip(codes.tolist(), found, strict=True):
            assert Value(Outcome(outcome), order, plies) == space.decode(code)


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
    """A file on a disk that has `room` bytes left; later writes raise `OSError` (ENOSPC)."""

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


@pytest.mark.parametrize("style", ["csv", "npz"])
@pytest.mark.parametrize("room", [0, 100, 1000, 50_000])
def test_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, style: str, room: int
) -> None:
    """If the disk is full at any moment of a dump, the error names the file, and no file is left.

    room : number of bytes for which the disk has room
    """
    create = files.open_to_write

    def create_on_full_disk(path: Path, flags: int = 0) -> Any:
        with create(path, flags) as file:
            number = os.dup(file.fileno())
        full = io.BufferedWriter(_FullDisk(room))
        full.fileno = lambda: number  # type: ignore[method-assign]
        return full

    monkeypatch.setattr(files, "open_to_write", create_on_full_disk)
    out = tmp_path / "knk"
    result = dump("KNK", "--format", style, "--out", out)
    assert result.exit_code == 2, result.output
    assert f"error: No space left on device: {out}" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_suffix_of_the_file_names_the_format(tmp_path: Path) -> None:
    for name in ("knk.NPZ", "knk.csv", "knk"):
        assert dump("KNK", "--out", tmp_path / name, "--sample", "9").exit_code == 0
    assert len(np.load(tmp_path / "knk.NPZ")["slot"]) == 9
    assert (tmp_path / "knk").read_text() == (tmp_path / "knk.csv").read_text()


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    out = tmp_path / "knk"
    out.symlink_to(precious)
    assert dump("KNK", "--format", "npz", "--out", out, "--sample", "9").exit_code == 0
    assert len(np.load(out)["slot"]) == 9
    assert {path.name for path in tmp_path.iterdir()} == {"precious", "knk"}
    assert precious.read_text() == "precious"


def test_bad_input() -> None:
    for chunk in (0, -5, 2.5):
        with pytest.raises(InputError, match="is no number of slots"):
            next(read_chunks("KRK", built("KRK"), chunk=chunk))  # type: ignore[arg-type]
    assert dump("KNK", "--format", "npz").exit_code == 2
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
    order = np.argsort(slots)
    unpacked, legal = squares_and_legality(layout, slots[order])
    assert (unpacked[sound[order]] == squares[order][sound[order]]).all()
    assert not legal[~sound[order]].any()
    boards = layout.boards_of_squares(squares[order][sound[order]])
    for side in Side:
        known = [is_legal_board(board, int(side)) for board in boards.view(np.int8)]
        assert (legal[sound[order]] & 1 << side != 0).tolist() == known


@pytest.mark.parametrize("share", [0.5, 1.1])
@pytest.mark.parametrize(
    "options", [(), ("--sample", "9999999"), ("--format", "npz")], ids=["csv", "sample", "npz"]
)
def test_wrong_counts_in_statistics_are_damage(
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


def test_sampling_ends_with_wrong_statistics() -> None:
    with open_tablebase(built("KRKN")) as tables:
        file = tables.table("KNK")
        true = file.statistics
        more = replace(true.red_to_move, legal=20 * true.legal)
        file.__dict__["statistics"] = replace(true, red_to_move=more)
        with pytest.raises(CorruptTableError, match="count other positions"):
            sampled_columns(file, 5 * true.legal, 0)

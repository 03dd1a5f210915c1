"""`tbgen verify`: exit statuses, JSON, damaged files, and wrong statistics."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from tbgen.cli import main
from tbgen.indexing import Material, Side
from tbgen.tables import (
    CorruptTableError,
    Metric,
    Rules,
    RuleSet,
    TableFile,
    TableName,
    TableStatistics,
    longest_codes,
)
from tbgen.tables.codes import DRAW, CodeSpace, Outcome, Value
from tbgen.tables.header import TableSpec
from tbgen.tables.writer import write_table
from tbgen.verify.files import FileTable
from tbgen.verify.report import describe
from tests.helpers.memory_tables import Planted
from tests.helpers.random_tables import with_valid_checksum
from tests.helpers.solutions import solution

NAMES = ["KRK", "KNK", "KRKN"]
DIGEST_OFFSET = 88


def write(directory, name, table=None, rules=Rules.NONE, **changes):
    """Write a table in memory to a file; return its path.

    name : material
    table : Planted; without it, the solved table of the material without repetition rules
    changes : wrong statistics: `fen`, for all longest wins and losses; `longest`, a function that
        returns a new entry for the first correct one; `histogram`, likewise for Red's histogram;
        `chase_patterns`
    """
    table = table if table is not None else Planted.of(solution(name))
    spec = TableSpec(
        TableName(Material.parse(name), RuleSet(rules), table.metric), table.code_space
    )
    histograms, fens = [], {}
    for side in Side:
        codes, counts = np.unique(table.planes[side], return_counts=True)
        histogram = {int(c): int(n) for c, n in zip(codes, counts, strict=True) if c}
        histograms.append(histogram)
        for order, code in longest_codes(histogram, table.code_space).items():
            slot = int(np.flatnonzero(table.planes[side] == code)[0])
            fens[order, side] = changes.get("fen", table.position(side, slot).fen)
    if "histogram" in changes:
        histograms[0] = changes["histogram"](histograms[0])
    statistics = TableStatistics.from_histograms(
        spec.name, spec.codes, table.layout.slots, histograms, fens, changes.get("chase_patterns")
    )
    if "longest" in changes:
        first, *others = statistics.longest
        statistics = replace(statistics, longest=(changes["longest"](first), *others))
    path = directory / spec.name.filename
    write_table(
        path, spec, lambda side, first, n: table.planes[side][first : first + n], lambda: statistics
    )
    return path


@pytest.fixture
def tables(tmp_path):
    for name in NAMES:
        write(tmp_path, name)
    return tmp_path


def run(tables, *arguments):
    return CliRunner().invoke(main, ["verify", *arguments, "--tables", str(tables)])


def test_sound_files(tables):
    result = run(tables, "krnk", "KRK", "knkr")
    assert result.exit_code == 1  # no table of KRNK
    result = run(tables, *NAMES)
    assert result.exit_code == 0, result.output
    assert result.stdout.count("dtm): proven") == 3


def test_json(tables):
    result = run(tables, "KRKN", "--json", "--threads", "1")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["ok"] is True
    (table,) = answer["tables"]
    assert table["material"] == "KRKN"
    assert table["first"] is None
    assert table["positions"] == 380325


def test_the_memory_limit_includes_the_process(tables, monkeypatch):
    limits = []

    def gather(*arguments):
        limits.append(arguments[3])
        raise MemoryError

    monkeypatch.setattr("tbgen.verify.prove.gather", gather)
    for size in ("100MiB", "400MiB"):
        run(tables, "KRK", "--memory", size)
        run(tables, "KRK", "--memory", size, "--closure", "--jobs", "1")
    assert limits == [0, 0, 100 << 20, limits[3]]
    assert 0 < limits[3] < 100 << 20


def test_a_wrong_value_in_a_sound_file(tables):
    table = Planted.of(solution("KRKN"))
    slot = int(np.flatnonzero(table.planes[0])[1000])
    table.planes[0][slot] = table.code_space.draw
    write(tables, "KRKN", table)
    result = run(tables, "KRKN", "--json")
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert answer["ok"] is False
    (report,) = answer["tables"]
    assert report["first"]["fen"] == table.position(0, slot).fen
    assert report["first"]["stored"]["outcome"] == "draw"
    assert report["first"]["expected"]["plies"] == 9
    result = run(tables, "KRKN")
    assert result.exit_code == 1
    assert "REFUTED" in result.stdout


def test_a_wrong_supporting_table(tables):
    table = Planted.of(solution("KRK"))
    for plane in table.planes:
        plane[plane > 0] = table.code_space.draw
    write(tables, "KRK", table)
    assert run(tables, "KRKN").exit_code == 1
    assert run(tables, "KRK").exit_code == 1


def test_a_damaged_file(tables):
    path = tables / "KRKN.none.dtm.xqt"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert run(tables, "KRKN").exit_code == 3


@pytest.mark.parametrize("name", ["KRKN", "KRK"])
def test_a_wrong_digest(tables, name):
    """`tbgen verify` finds a false digest in the header of a table or a supporting table.

    All checksums of the file are correct, as a forger would write them. The exit status is 3.
    """
    path = tables / f"{name}.none.dtm.xqt"
    data = bytearray(path.read_bytes())
    data[DIGEST_OFFSET] ^= 1
    path.write_bytes(with_valid_checksum(bytes(data)))
    result = run(tables, "KRKN")
    assert result.exit_code == 3
    assert "digest" in result.stderr
    assert not (tables / "KRKN.none.dtm.proof.json").exists()


def test_a_missing_supporting_table(tables):
    (tables / "KRK.none.dtm.xqt").unlink()
    result = run(tables, "KRKN")
    assert result.exit_code == 1
    assert "KRK" in result.stderr


def test_a_dtm_table_needs_dtm_tables(tables):
    conversion = Planted.of(solution("KRK", Rules.NONE, Metric.DTC))
    (tables / "KRK.none.dtm.xqt").unlink()
    write(tables, "KRK", conversion)
    result = run(tables, "KRKN")
    assert result.exit_code == 2
    assert "--metric dtm" in result.stderr


def test_bad_input(tables):
    assert run(tables, "KRX").exit_code == 2
    assert run(tables, "KAKB").exit_code == 2
    assert run(tables, "KRK", "--rules", "wxf").exit_code == 1  # no such table


def test_wrong_figures(tables):
    write(tables, "KRK", histogram=lambda counts: {code: n + 1 for code, n in counts.items()})
    result = run(tables, "KRK", "--json")
    assert result.exit_code == 1
    (table,) = json.loads(result.stdout)["tables"]
    assert table["findings"] == 0
    assert any("legal" in problem for problem in table["file_problems"])


def test_wrong_counts_of_patterns(tmp_path):
    for name in NAMES:
        table = Planted.of(solution(name, Rules.CHECK))
        write(tmp_path, name, table, Rules.CHECK, chase_patterns={1: 0})
    assert run(tmp_path, "KRKN").exit_code == 0
    write(tmp_path, "KRKN", table, Rules.CHECK, chase_patterns={1: 5})
    result = run(tmp_path, "KRKN", "--json")
    assert result.exit_code == 1
    (report,) = json.loads(result.stdout)["tables"]
    assert report["findings"] == 0
    assert ["stored orders" in problem for problem in report["file_problems"]] == [True]


@pytest.mark.parametrize(
    "fen",
    ["4k4/9/9/9/9/9/9/9/9/R2K5 w", "4k4/9/9/9/9/9/9/9/9/N2K5 w"],
)
def test_a_wrong_longest_position(tables, fen):
    write(tables, "KRK", fen=fen)
    result = run(tables, "KRK", "--json")
    assert result.exit_code == 1
    assert "longest" in json.loads(result.stdout)["tables"][0]["file_problems"][0]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda entry: replace(entry, value=entry.value + 2),
        lambda entry: replace(entry, order=7),
        lambda entry: replace(entry, order=7, fen=entry.fen.replace(" w", " b")),
        # Its slot has the code of a longest win, but the kings face each other.
        lambda entry: replace(entry, fen="9/9/3k5/9/9/9/9/9/9/1R1K5 w - - 0 1"),
    ],
    ids=["value", "order", "order-and-side", "illegal"],
)
def test_a_wrong_entry_of_a_longest_position(tables, wrong):
    write(tables, "KRK", longest=wrong)
    problems = json.loads(run(tables, "KRK", "--json").stdout)["tables"][0]["file_problems"]
    assert "is no longest position" in problems[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "no value"),
        (DRAW, "a draw"),
        (Value(Outcome.WIN, 0, 1), "a win in 1 ply"),
        (Value(Outcome.LOSS, 0, 4), "a loss in 4 plies"),
        (Value(Outcome.WIN, 2), "a direct win of order 2"),
        (Value(Outcome.LOSS, 1, 1), "a loss of order 1, 1 ply from a direct win"),
    ],
)
def test_values_in_words(value, text):
    assert describe(value) == text


def test_verify_reads_codes_of_every_width(tables):
    from tests.helpers.memory_tables import recoded

    wide = recoded(solution("KRKN"), CodeSpace(4, 16383))
    path = write(tables, "KRKN", wide)
    with TableFile(path) as file:
        assert file.header.spec.codes.width == 4
    result = run(tables, "KRKN")
    assert result.exit_code == 0, result.output


def test_a_file_that_changes_between_two_readings_is_corrupt(tables, tmp_path):
    """A proof may read a file twice. A block with another digest the second time is an error."""
    other = Planted.of(solution("KRKN"))
    slot = int(np.flatnonzero(other.planes[1])[-1])
    other.planes[1][slot] = other.code_space.draw
    (tmp_path / "other").mkdir()
    changed = write(tmp_path / "other", "KRKN", other)
    name = TableName(Material.parse("KRKN"), RuleSet(Rules.NONE), Metric.DTM)
    with FileTable(tables / name.filename, name=name) as table, TableFile(changed) as second:

        def read(side):
            return [table.tile(side, number, lambda codes: codes) for number in
                    range(table.tiles(side))]  # fmt: skip

        for side in (*Side, *Side):
            read(side)
        vars(table).update(vars(second))
        read(Side.RED)
        with pytest.raises(CorruptTableError, match="changed"):
            read(Side.BLACK)

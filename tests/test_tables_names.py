"""File names say which table is inside, errors say what to do."""

from pathlib import Path

import pytest

from tbgen.indexing import InputError, Material
from tbgen.tables import (
    CorruptTableError,
    FormatVersionError,
    IllegalPositionError,
    Metric,
    MissingTableError,
    Option,
    Rules,
    RuleSet,
    RulesMismatchError,
    TablebaseError,
    TableName,
    UnsupportedMaterialError,
    read_build_record,
    write_build_record,
)

KRNKR = Material.parse("KRNKR")


@pytest.mark.parametrize(
    ("name", "filename"),
    [
        (TableName(KRNKR, Rules.NONE, Metric.DTM), "KRNKR.none.dtm.xqt"),
        (TableName(KRNKR, Rules.CHECK, Metric.DTC, 1), "KRNKR.check-o1.dtc.xqt"),
        (TableName(KRNKR, Rules.WXF, Metric.DTM, 12), "KRNKR.wxf-o12.dtm.xqt"),
        (TableName(KRNKR, Rules.WXF, Metric.DTM, 0, False), "KRNKR.wxf-nominor.dtm.xqt"),
        (TableName(KRNKR, Rules.WXF, Metric.DTC, 3, False), "KRNKR.wxf-nominor-o3.dtc.xqt"),
    ],
)
def test_names_and_their_files(name: TableName, filename: str) -> None:
    assert name.filename == filename
    assert TableName.parse(filename) == name
    assert str(name) == filename[:-4]


@pytest.mark.parametrize(
    "filename",
    [
        "KRKRN.none.dtm.xqt",  # not the canonical order
        "krnkr.none.dtm.xqt",
        "KRNKR.none.dtm",
        "KRNKR.none.dtm.xqt.tmp",
        ".KRNKR.none.dtm.xqt.7.tmp",
        "KRNKR.none-o0.dtm.xqt",
        "KRNKR.none-o01.dtm.xqt",
        "KRNKR.none-o9999999999.dtm.xqt",
        "KRNKR.axf.dtm.xqt",
        "KRNKR.check-nominor.dtm.xqt",
        "KRNKR.wxf-o3-nominor.dtm.xqt",
        "KRNKR.wxf-minor.dtm.xqt",
        "KRNKR.none.dtz.xqt",
        "KRNK.none.xqt",
        "K.none.dtm.xqt",
        "KRRRK.none.dtm.xqt",
        "README.md",
        "",
    ],
)
def test_other_names_are_no_tables(filename: str) -> None:
    assert TableName.parse(filename) is None


def test_the_option_belongs_to_the_rules_that_know_chases() -> None:
    assert RuleSet(Rules.WXF).options == Option.MINOR_CHASES == 1
    assert RuleSet(Rules.WXF, minor_chases=False).options == Option.NONE
    for rules in (Rules.NONE, Rules.CHECK):
        assert RuleSet(rules).options == Option.NONE
        assert RuleSet(rules).choice is None
        with pytest.raises(InputError, match="know no chases"):
            RuleSet(rules, minor_chases=False)
        with pytest.raises(InputError, match="know no chases"):
            TableName(KRNKR, rules, Metric.DTM, minor_chases=False)


def test_stored_numbers_of_enums_never_change() -> None:
    assert [rules.number for rules in (Rules.NONE, Rules.CHECK, Rules.WXF)] == [0, 1, 2]
    assert [metric.number for metric in (Metric.DTM, Metric.DTC)] == [0, 1]


def test_build_records_lie_beside_the_table(tmp_path: Path) -> None:
    table = tmp_path / "KRNKR.none.dtm.xqt"
    assert read_build_record(table) == {}
    write_build_record(table, {"build_seconds": 1.5})
    assert read_build_record(table) == {"build_seconds": 1.5}
    sidecar = tmp_path / "KRNKR.none.dtm.build.json"
    for text in ("", "[]", "{", "[" * 100_000):
        sidecar.write_text(text)
        assert read_build_record(table) == {}


def test_errors_carry_facts_and_one_line() -> None:
    missing = MissingTableError("KRKN", "none")
    assert str(missing) == (
        "there is no table of KRKN under the rules 'none'; run: tbgen build KRKN --rules none"
    )
    assert isinstance(missing, KeyError)
    assert MissingTableError("KRKN", "check", 1).command.endswith("--rules check --orders 1")
    without = MissingTableError("KRKN", "wxf", minor_chases=False)
    assert without.command == "tbgen build KRKN --rules wxf --no-minor-chases"
    assert MissingTableError("KRKN").command == "tbgen build KRKN"
    file = Path("/somewhere/KRKN.none.dtm.xqt")
    errors: list[TablebaseError] = [
        missing,
        RulesMismatchError("several rule sets", ["none", "check"], "say which one to use"),
        IllegalPositionError("3k5/9/9/9/9/9/9/9/9/3K5 w - - 0 1", "the kings face each other"),
        UnsupportedMaterialError("KPPPPPK", "too large"),
        CorruptTableError(file, "the checksum is wrong", 7),
        FormatVersionError(file, 2, 1),
    ]
    for error in errors:
        assert "\n" not in str(error)
        assert not str(error).startswith("'")
    assert "block 7" in str(errors[4])

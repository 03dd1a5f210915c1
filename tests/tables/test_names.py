"""Names of table files, choice of rule sets, build records, and errors that suggest a remedy."""

from pathlib import Path

import numpy as np
import pytest

from tbgen.indexing import InputError, Material
from tbgen.tables import (
    CorruptTableError,
    FormatVersionError,
    IllegalPositionError,
    Metric,
    MissingTableError,
    RuleChoice,
    Rules,
    RuleSet,
    RulesMismatchError,
    TablebaseError,
    TableName,
    UnsupportedMaterialError,
    read_build_record,
)
from tbgen.tables.build_records import build_record_path, write_build_record

KRNKR = Material.parse("KRNKR")


@pytest.mark.parametrize(
    ("name", "filename"),
    [
        (TableName(KRNKR, RuleSet(Rules.NONE), Metric.DTM), "KRNKR.none.dtm.xqt"),
        (TableName(KRNKR, RuleSet(Rules.CHECK, 1), Metric.DTC), "KRNKR.check-o1.dtc.xqt"),
        (TableName(KRNKR, RuleSet(Rules.WXF, 12), Metric.DTM), "KRNKR.wxf-o12.dtm.xqt"),
        (
            TableName(KRNKR, RuleSet(Rules.WXF, None, False), Metric.DTM),
            "KRNKR.wxf-nominor.dtm.xqt",
        ),
        (
            TableName(KRNKR, RuleSet(Rules.WXF, 3, False), Metric.DTC),
            "KRNKR.wxf-nominor-o3.dtc.xqt",
        ),
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
def test_other_names_are_refused(filename: str) -> None:
    assert TableName.parse(filename) is None


def test_the_option_exists_only_for_rules_with_chases() -> None:
    assert RuleSet(Rules.WXF).options == 1
    assert RuleSet(Rules.WXF, minor_chases=False).options == 0
    for rules in (Rules.NONE, Rules.CHECK):
        assert RuleSet(rules).options == 0
        assert RuleSet(rules).choice is None
        with pytest.raises(InputError, match="leave no choice about chases"):
            RuleSet(rules, minor_chases=False)
    with pytest.raises(ValueError, match="rules of the table are unknown"):
        TableName(KRNKR, RuleSet(None), Metric.DTM)


def test_a_limit_on_orders_is_an_integer() -> None:
    assert type(RuleSet(Rules.WXF, np.int64(2)).orders) is int
    with pytest.raises(InputError, match="is no number of orders; give an integer"):
        RuleSet(Rules.WXF, 2.0)  # type: ignore[arg-type]


def test_an_unspecified_choice_admits_all() -> None:
    sets = [
        RuleSet(Rules.NONE), RuleSet(Rules.WXF), RuleSet(Rules.WXF, 2),
        RuleSet(Rules.WXF, 2, False),
    ]  # fmt: skip

    def admitted(choice: RuleChoice) -> list[bool]:
        return [choice.admits(rule_set) for rule_set in sets]

    assert admitted(RuleChoice()) == [True, True, True, True]
    assert admitted(RuleChoice(Rules.WXF)) == [False, True, True, True]
    assert admitted(RuleChoice(orders=0)) == [True, True, False, False]
    assert admitted(RuleChoice(orders=2, minor_chases=True)) == [False, False, True, False]
    assert RuleChoice(Rules.WXF).rule_set == RuleSet(Rules.WXF)
    assert RuleChoice(minor_chases=False).rule_set == RuleSet(None, minor_chases=False)


def test_stored_numbers_of_enums_never_change() -> None:
    assert [rules.number for rules in (Rules.NONE, Rules.CHECK, Rules.WXF)] == [0, 1, 2]
    assert [metric.number for metric in (Metric.DTM, Metric.DTC)] == [0, 1]


def test_build_records_are_beside_the_table(tmp_path: Path) -> None:
    table = tmp_path / "KRNKR.none.dtm.xqt"
    assert read_build_record(table) == {}
    write_build_record(table, {"build_seconds": 1.5})
    assert read_build_record(table) == {"build_seconds": 1.5}
    sidecar = tmp_path / "KRNKR.none.dtm.build.json"
    for text in ("", "[]", "{", "[" * 100_000, '{"a":' * 100_000, "1" * 10**6):
        sidecar.write_text(text)
        assert read_build_record(table) == {}


@pytest.mark.parametrize(
    "value", ['"\\u001b[2J"', "null", "true", "-1", "NaN", "1e999", "[]", "{}"]
)
def test_wrong_values_in_a_build_record_are_ignored(tmp_path: Path, value: str) -> None:
    table = tmp_path / "KRNKR.none.dtm.xqt"
    build_record_path(table).write_text(f'{{"build_seconds": {value}, "cpu_seconds": 2, "x": 1}}')
    assert read_build_record(table) == {"cpu_seconds": 2}


def test_errors_carry_facts_and_one_line() -> None:
    missing = MissingTableError("KRKN", RuleSet(Rules.NONE))
    assert str(missing) == (
        "there is no table of KRKN under the rules 'none'; run: tbgen build KRKN --rules none"
    )
    assert isinstance(missing, KeyError)
    limited = MissingTableError("KRKN", RuleSet(Rules.CHECK, 2))
    assert limited.command == "tbgen build KRKN --rules check --orders 2"
    assert "KRKN under the rules 'check' with at most 2 orders; run" in str(limited)
    without = MissingTableError("KRKN", RuleSet(Rules.WXF, minor_chases=False))
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

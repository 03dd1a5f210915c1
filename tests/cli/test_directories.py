"""Tables in a directory: strange names of files, and selections without names of materials."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from tbgen.cli import ls, main
from tbgen.tables import TableFile, TableName
from tests.cli.test_errors import KRK, assert_says, run


def test_strange_names_in_a_directory(tables_dir: Path, tmp_path: Path) -> None:
    """`ls` notes files whose name is no table's; `build` refuses a broken link as its directory."""
    shutil.copy(tables_dir / "KRK.check.dtm.xqt", tmp_path / "KRK.check.dtm (1).xqt")
    said = CliRunner().invoke(main, ["ls", "--tables", str(tmp_path)]).stderr
    assert "note: 1 file whose name is no table's: KRK.check.dtm (1).xqt" in said
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    result = CliRunner().invoke(main, ["build", "KRK", "--tables", str(tmp_path / "link")])
    assert (result.exit_code, "is a link to a directory" in result.stderr) == (2, True)


def test_verify_without_names_takes_all_tables(tables_dir: Path, tmp_path: Path) -> None:
    for table in tables_dir.glob("K*K.check.dtm.xqt"):
        shutil.copy(table, tmp_path)
    number = len(list(tmp_path.iterdir()))
    for words in ([], ["--men", "3"], ["K*K"]):
        command = ["verify", "--digests", *words, "--tables", str(tmp_path)]
        result = CliRunner().invoke(main, command)
        assert f"{number} tables: {number} not listed" in result.stdout, result.output
    for absent in (["KRKN"], ["--tables", str(tmp_path / "none")]):
        result = CliRunner().invoke(main, ["verify", "--tables", str(tmp_path), *absent])
        assert result.exit_code in (1, 2)
        assert "no table" in result.stderr


def test_a_metric_is_preferred_among_all_tables(tmp_path: Path) -> None:
    """A table of the other metric is taken where there is only one, as if its name was given."""
    for material, metric in (("KRK", "dtc"), ("KNK", "dtm"), ("KNK", "dtc")):
        assert not run("build", material, "--metric", metric, "--tables", tmp_path).exit_code
    chosen = ("--metric", "dtm", "--tables", tmp_path)
    verified = run("verify", "--digests", *chosen, "--json")
    names = [table["file"] for table in json.loads(verified.stdout)["tables"]]
    assert names == ["KNK.wxf.dtm.xqt", "KRK.wxf.dtc.xqt"]
    packed = run("pack", "--men", "3", *chosen, "--json")
    assert [file["source"] for file in json.loads(packed.stdout)["files"]] == names


@pytest.mark.parametrize("command", [("verify",), ("pack", "--men", "3"), ("index",)])
def test_nothing_to_verify_pack_or_index(
    tables_dir: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    assert_says(run(*command, "--tables", tmp_path), 2, "no tables", "tbgen build")
    assert list(tmp_path.iterdir()) == []
    chosen = ("--attackers", "1", "--men", "3")
    for path in tables_dir.glob("KRKN.check.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    before = sorted(tmp_path.iterdir())
    result = run(command[0], *chosen, "--tables", tmp_path)
    assert_says(result, 2, "none of those selected", "tbgen ls")
    assert sorted(tmp_path.iterdir()) == before


def test_a_name_too_long_for_a_file(tmp_path: Path) -> None:
    out = tmp_path / f"{'x' * 300}.svg"
    assert_says(run("diagram", KRK, "--out", out), 2, "File name too long", "a shorter name")


def test_ls_passes_over_a_table_that_vanishes(
    tmp_path: Path, tables_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KNK.check.dtm.xqt", "KRK.check.dtm.xqt"):
        shutil.copy(tables_dir / name, tmp_path)

    def slow(path: Path, name: TableName) -> TableFile:
        (tmp_path / "KRK.check.dtm.xqt").unlink()
        return TableFile(path, name=name)

    monkeypatch.setattr(ls, "TableFile", slow)
    listed = CliRunner().invoke(main, ["ls", "--tables", str(tmp_path), "--json"])
    assert listed.exit_code == 0
    assert [table["material"] for table in json.loads(listed.stdout)["tables"]] == ["KNK"]

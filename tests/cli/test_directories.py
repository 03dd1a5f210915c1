"""Tables in a directory: strange names of files, and commands without names of materials."""

from __future__ import annotations

import shutil
from pathlib import Path

from click.testing import CliRunner

from tbgen.cli import main


def test_strange_names_in_a_directory(tables_dir: Path, tmp_path: Path) -> None:
    """`ls` lists files whose name is no table's; `build` refuses a broken link as its directory."""
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

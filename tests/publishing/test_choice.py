"""Files that `index` and `fetch` choose: tables, and certificates of tables."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tbgen.cli import main
from tbgen.publishing.index import index_of, write_index
from tests.helpers.certificates import certify, name_of
from tests.publishing.conftest import CONTENT, KRK


def test_a_certificate_is_no_table(tables_dir: Path, tmp_path: Path) -> None:
    """`index` and `fetch` miss a table of which there is only a certificate, and do not fetch it.

    A listed certificate is fetched if the directory has its table.
    """
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    name = name_of("KRK.check.dtm")
    for folder in (shared, mine):
        folder.mkdir()
        shutil.copy(tables_dir / name.filename, folder)
    certify(shared, name)
    entries = [entry for entry in index_of(shared) if entry.file != name.filename]
    run = CliRunner().invoke
    (shared / name.filename).unlink()
    assert run(main, ["index", "KRK", "--tables", str(shared)]).exit_code == 1
    write_index(shared, entries)
    fetching_it = ["fetch", "KRK", "--from", str(shared), "--rules", "check", "--json"]
    for folder, fetched in ((mine, [entries[0].file]), (tmp_path / "new", [])):
        result = run(main, [*fetching_it, "--tables", str(folder)])
        answer = json.loads(result.stdout)
        assert (result.exit_code, answer["missing"], answer["fetched"]) == (1, ["KRK"], fetched)


def test_no_certificate_is_fetched_without_its_table(tables_dir: Path, tmp_path: Path) -> None:
    """The source lists a table and its certificate, but has lost the table."""
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    shared.mkdir()
    name = name_of("KRK.check.dtm")
    shutil.copy(tables_dir / name.filename, shared)
    certify(shared, name)
    write_index(shared, index_of(shared))
    (shared / name.filename).unlink()
    command = ["fetch", "KRK", "--from", str(shared), "--rules", "check", "--json"]
    result = CliRunner().invoke(main, [*command, "--tables", str(mine)])
    failed = [failure["input"] for failure in json.loads(result.stdout)["failed"]]
    assert (result.exit_code, failed) == (1, [name.filename, "KRK.check.dtm.proof.json"])
    assert list(mine.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "fetched"),
    [
        ((), ["KNK.check.dtc.xqt", "KNK.check.dtm.xqt", "KRK.check.dtm.xqt"]),
        (("--metric", "dtc"), ["KNK.check.dtc.xqt", "KRK.check.dtm.xqt"]),
        (("--metric", "dtm"), ["KNK.check.dtm.xqt", "KRK.check.dtm.xqt"]),
    ],
    ids=str,
)
def test_a_metric_is_preferred(
    tmp_path: Path, options: tuple[str, ...], fetched: list[str]
) -> None:
    files = ("KNK.check.dtc.xqt", "KNK.check.dtm.xqt", "KRK.check.dtm.xqt")
    for file in files:
        (tmp_path / file).write_bytes(CONTENT)
    write_index(tmp_path, [replace(KRK, file=file) for file in files])
    command = ["fetch", "KRKN", *options, "--rules", "check", "--from", str(tmp_path), "--json"]
    result = CliRunner().invoke(main, [*command, "--tables", str(tmp_path / "mine")])
    answer = json.loads(result.stdout)
    assert (answer["fetched"], answer["missing"]) == (fetched, ["KRKN"])
    assert "lists no table of KRKN under the rules 'check'" in result.stderr

"""Known digests: the project's list, and messages on tables that agree or differ."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tbgen.building.sets import materials_of
from tbgen.cli import main
from tbgen.indexing import InputError, Material
from tbgen.publishing.known import COLUMNS, Digests, Standing, read_known, standing
from tbgen.tables import CodeSpace, Metric, Rules, RuleSet, TableFile, TableName
from tbgen.tables.header import TableSpec
from tests.helpers.built import built
from tests.helpers.paths import DOCS
from tests.helpers.random_tables import with_valid_checksum, write

RUN = CliRunner().invoke
KRK = "KRK.check.dtm.xqt"


def compare(tables: Path, *arguments: str) -> tuple[int, dict[str, str]]:
    asked = ["verify", *arguments, "--digests", "--json", "--tables", str(tables)]
    answer = RUN(main, asked)
    assert answer.exit_code in (0, 1), answer.stderr
    found = json.loads(answer.stdout)
    assert found["ok"] == (answer.exit_code == 0)
    return answer.exit_code, {entry["file"]: entry["standing"] for entry in found["tables"]}


def listed(tables: Path) -> dict[str, Digests]:
    """Write the index of a directory of tables; return the digests in it by file name."""
    answer = RUN(main, ["index", "--tables", str(tables), "--json"])
    files = json.loads(answer.stdout)["files"]
    return {entry["file"]: Digests(entry["digest"], entry["values"]) for entry in files}


def file_of(material: Material) -> str:
    return TableName(material, RuleSet(Rules.WXF), Metric.DTM).filename


def test_the_list_has_its_documented_sets() -> None:
    names = {
        file_of(material)
        for material in [
            *materials_of((), 5),
            *materials_of((), 8, attackers=2),
            *materials_of((), attackers=1),
        ]
    }
    with (DOCS / "classical-books.csv").open(newline="", encoding="utf-8") as file:
        classical = materials_of([row["material"] for row in csv.DictReader(file)])
    known = set(read_known())
    assert names < known
    assert {file_of(above) for material in classical for above in material.closure()} < known
    assert len(materials_of((), 5)) == 209
    assert len(materials_of((), 8, attackers=2)) == 1176
    assert len(materials_of((), attackers=1)) == 324


def test_both_lists_agree() -> None:
    """Tables in both lists of known digests, docs/digests.csv and the package's, agree.

    docs/digests.csv has fewer materials of at most five men, and more rule sets.
    """
    known = read_known()
    with (DOCS / "digests.csv").open(newline="", encoding="utf-8") as file:
        common = [row for row in csv.DictReader(file) if row["file"] in known]
    assert len(common) > 50
    assert not [row for row in common if row["digest"] != known[row["file"]].digest]


def test_built_tables_agree_with_the_list() -> None:
    tables = built("KRKN", rules="wxf")
    status, found = compare(tables, "KRK", "KNK", "KRKN")
    assert status == 0
    assert set(found.values()) == {"agrees"}


def test_a_list_is_compared_by_values(tables_dir: Path, tmp_path: Path) -> None:
    tables, path = tmp_path / "tables", tmp_path / "list.csv"
    shutil.copytree(tables_dir, tables)
    known = listed(tables)
    rows = [COLUMNS, *((file, *found) for file, found in known.items())]
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    assert read_known(path) == known
    options = ["--rules", "check", "--against", str(path)]
    assert compare(tables, "KRK", *options) == (0, {KRK: "agrees"})
    # The same values in codes of two bytes, then one other value.
    name = TableName(Material.parse("KRK"), RuleSet(Rules.CHECK), Metric.DTM)
    with TableFile(tables / KRK) as file:
        space, planes = file.code_space, (file.plane(0), file.plane(1))
    wider = CodeSpace(2, space.span)
    recoded = []
    for plane in planes:
        codes, places = np.unique(plane, return_inverse=True)
        wide = [wider.encode(space.decode(code)) for code in codes.tolist()]
        recoded.append(np.array(wide, wider.dtype)[places])
    write(tables, TableSpec(name, wider), (recoded[0], recoded[1]))
    assert compare(tables, "KRK", *options) == (0, {KRK: "rearranged"})
    recoded[1][recoded[1] == wider.draw] = wider.draw + 1
    write(tables, TableSpec(name, wider), (recoded[0], recoded[1]))
    assert compare(tables, "KRK", *options) == (1, {KRK: "differs"})
    said = RUN(main, ["verify", "KRK", "--digests", "--tables", str(tables), *options])
    assert f"{KRK}: with OTHER VALUES than listed" in said.stdout
    which = f"--rules check --metric dtm --tables {tables} --force"
    assert f"`tbgen build KRK {which}` replaces it" in said.stdout
    assert compare(tables, "KRK", "--rules", "check") == (0, {KRK: "unknown"})


def test_values_are_recomputed_from_the_table(tables_dir: Path, tmp_path: Path) -> None:
    """The digest of values is computed from the table, and never taken from an index beside it.

    With `--check`, `stats` and `ls` show this digest. Without it, they show only the digest that
    the header states.
    """
    tables = tmp_path / "tables"
    shutil.copytree(tables_dir, tables)
    known, index = listed(tables), tables / "index.json"
    index.write_text(index.read_text().replace(known[KRK].values, "0" * 32))
    assert listed(tables) == known
    options = ["--tables", str(tables), "--rules", "check"]

    def stats(*more: str) -> dict[str, Any]:
        return dict(json.loads(RUN(main, ["stats", "KRK", "--json", *options, *more]).stdout))

    assert (stats()["values"], stats()["checked"]) == (None, False)
    assert (stats("--check")["values"], stats("--check")["checked"]) == (known[KRK].values, True)
    assert f"stated digest     {known[KRK].digest}" in RUN(main, ["stats", "KRK", *options]).stdout
    text = RUN(main, ["stats", "KRK", "--check", *options]).stdout
    assert "stated" not in text
    assert f"of values alone   {known[KRK].values}" in text
    assert "stated digest" in RUN(main, ["ls", *options]).stdout
    found = json.loads(RUN(main, ["ls", "--check", "--json", *options]).stdout)["tables"]
    assert {e["file"]: e["values"] for e in found} == {
        name: digests.values for name, digests in known.items() if ".check." in name
    }  # fmt: skip


def test_a_forged_digest_is_found(tables_dir: Path, tmp_path: Path) -> None:
    """`--check` finds a false digest in a table's header, although the checksum is correct."""
    path = tmp_path / KRK
    data = (tables_dir / KRK).read_bytes()
    with TableFile(tables_dir / KRK) as file:
        honest = file.header.digest
    path.write_bytes(with_valid_checksum(data.replace(honest, b"?" * 16, 1)))
    options = ["--tables", str(tmp_path)]
    for command in (["ls"], ["stats", "KRK"]):
        stated = RUN(main, [*command, *options])
        assert stated.exit_code == 0
        assert b"?".hex() * 16 in stated.stdout
        checked = RUN(main, [*command, "--check", *options])
        assert checked.exit_code == 3
        assert "the digest is wrong" in checked.stderr


def test_standings() -> None:
    known = {"a": Digests("1", "2")}
    assert standing("a", Digests("1", "2"), known) == Standing.AGREES
    assert standing("a", Digests("3", "2"), known) == Standing.REARRANGED
    assert standing("a", Digests("1", "3"), known) == Standing.DIFFERS
    assert standing("b", Digests("1", "2"), known) == Standing.UNKNOWN


def test_an_invalid_list_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    for content in (b"file,digest\nKRK,0\n", b"\xff\xfe", b'file,digest,values\n"\n', b"",
                    b"file,digest,values\nKRK,0,0\n", b"file,digest,values\nKRK\n"):  # fmt: skip
        path.write_bytes(content)
        with pytest.raises(InputError, match="is no list of digests"):
            read_known(path)
    assert RUN(main, ["verify", "KRK", "--against", str(path)]).exit_code == 2

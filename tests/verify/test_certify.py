"""`tbgen verify` and certificates: a proof writes one, a refutation removes it, `ls` shows it.

A certificate is a file beside a table. It records a proof of the table, with the digests of the
table and of its supporting tables, which captures lead to.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tbgen import __version__
from tbgen.cli import main
from tbgen.retrograde.solution import Solution
from tbgen.tables import Rules, TableFile
from tbgen.tables.certificates import certificate_path, read_certificate
from tests.helpers.built import built
from tests.helpers.memory_tables import Planted
from tests.helpers.random_tables import with_valid_checksum
from tests.helpers.solutions import solution
from tests.verify.test_files import write

NAMES = ["KRK", "KNK", "KRKN"]


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Directory with KRKN and its supporting tables, without certificates."""
    return Path(shutil.copytree(built("KRKN", rules="none"), tmp_path / "tables"))


def tbgen(tables: Path, command: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, [command, *arguments, "--tables", str(tables)])


def answer(tables: Path, command: str, *arguments: str, status: int = 0) -> dict[str, Any]:
    result = tbgen(tables, command, *arguments, "--json")
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


def states(tables: Path) -> dict[str, str]:
    """Return the proof status of each material, such as "unproven"; `ls` and `stats` must agree."""
    found = {
        table["material"]: table["proof"]["status"] for table in answer(tables, "ls")["tables"]
    }
    for material, state in found.items():
        assert answer(tables, "stats", material)["proof"]["status"] == state
    return found


def wrong_values(tables: Path, material: str) -> Path:
    """Replace a table by a valid file in which every legal position is drawn; return its path."""
    return write(tables, material, wrong_table(solution(material)))


def wrong_table(solved: Solution) -> Planted:
    """Return a table in memory in which every legal position is drawn."""
    table = Planted.of(solved)
    for plane in table.planes:
        plane[plane > 0] = table.code_space.draw
    return table


def test_a_certificate_holds_once_its_supporting_tables_are_proven(tables: Path) -> None:
    assert set(states(tables).values()) == {"unproven"}
    result = tbgen(tables, "verify", "KRKN")
    assert "  certificate   proven but for KNK, KRK\n" in result.stdout
    assert states(tables) == {"KNK": "unproven", "KRK": "unproven", "KRKN": "proven but for"}
    # Bottom-up, in any order of arguments.
    found = answer(tables, "verify", *reversed(NAMES))
    assert [table["material"] for table in found["tables"]] == ["KNK", "KRK", "KRKN"]
    assert {table["proof"]["status"] for table in found["tables"]} == {"proven"}
    assert set(states(tables).values()) == {"proven"}
    shown = tbgen(tables, "ls").stdout.splitlines()
    assert [line.split()[-1] for line in shown[1:-1]] == ["proven"] * 3
    assert ", 3 of them proven, " in shown[-1]
    assert "\nproof             proven\nproven in         " in tbgen(tables, "stats", "KRK").stdout


def test_another_proof_keeps_a_certificate_that_states_the_same(tables: Path) -> None:
    """Published copies of a certificate stay equal to the one in the directory."""
    path = certificate_path(tables / "KRK.none.dtm.xqt")
    tbgen(tables, "verify", "KRK")
    stated = path.read_text().replace(__version__, "0.1")
    path.write_text(stated)
    os.utime(tables / "KRK.none.dtm.xqt", ns=(10**18, 10**18))
    tbgen(tables, "verify", "KRK")
    assert path.read_text() == stated
    assert states(tables)["KRK"] == "proven"


def test_fields_of_a_certificate(tables: Path) -> None:
    (table,) = answer(tables, "verify", "KRKN")["tables"]
    path = tables / "KRKN.none.dtm.xqt"
    found = read_certificate(path)
    assert found is not None
    assert (str(found.table), found.digest) == ("KRKN.none.dtm", table["digest"])
    assert (found.tbgen, found.seconds) == (__version__, table["seconds"])
    for premise in found.supporting:
        with TableFile(tables / premise.table.filename) as below:
            assert premise.digest == below.header.digest.hex()
    assert certificate_path(path).stat().st_mtime_ns == path.stat().st_mtime_ns


def test_the_option_no_certificate_writes_no_file(tables: Path) -> None:
    before = sorted(tables.iterdir())
    result = tbgen(tables, "verify", *NAMES, "--no-certificate")
    assert result.exit_code == 0
    assert "certificate" not in result.stdout
    assert sorted(tables.iterdir()) == before


def test_a_proof_passes_if_its_certificate_cannot_be_written(tables: Path) -> None:
    """A proof passes if its certificate cannot be written: here a directory has the file's name."""
    certificate_path(tables / "KRK.none.dtm.xqt").mkdir()
    result = tbgen(tables, "verify", "KRK")
    assert result.exit_code == 0
    assert "KRK (none, dtm): proven" in result.stdout
    assert result.stderr == "note: KRK.none.dtm.proof.json could not be written: Is a directory\n"
    (table,) = answer(tables, "verify", "KRK")["tables"]
    assert table["notes"] == ["KRK.none.dtm.proof.json could not be written: Is a directory"]


def test_a_refuted_table_has_no_certificate(tables: Path) -> None:
    wrong = wrong_values(tables, "KRK")
    assert tbgen(tables, "verify", "KRK").exit_code == 1
    assert not certificate_path(wrong).exists()
    assert answer(tables, "ls")["tables"][1]["proof"]["status"] == "unproven"


def test_the_search_after_a_refutation_is_announced(tmp_path: Path) -> None:
    """The search of all positions may take hours, so that it is announced before it begins."""
    tables = Path(shutil.copytree(built("KRK", rules="check"), tmp_path / "tables"))
    assert tbgen(tables, "verify", "KRK").stderr == ""
    write(tables, "KRK", wrong_table(solution("KRK", Rules.CHECK)), rules=Rules.CHECK)
    result = tbgen(tables, "verify", "KRK")
    assert result.exit_code == 1
    announced = "KRK is refuted; for a complete report, all positions are searched\n"
    assert result.stderr.startswith(announced), result.stderr


def test_a_refutation_removes_a_certificate(tables: Path) -> None:
    """If `verify` refutes a table, it removes a certificate that names the digest of this table.

    KRKN is refuted because its supporting table KRK was replaced; its own file is unchanged. The
    certificate of KRK names the digest of the replaced file, so it is void anyway, and stays.
    """
    assert tbgen(tables, "verify", *NAMES).exit_code == 0
    wrong_values(tables, "KRK")
    assert states(tables) == {"KNK": "proven", "KRK": "unproven", "KRKN": "proven but for"}
    (table,) = answer(tables, "verify", "KRKN", status=1)["tables"]
    name = "KRKN.none.dtm.proof.json"
    assert table["notes"] == [f"{name} claimed a proof of these contents, and has been removed"]
    assert not (tables / name).exists()
    # A certificate with another digest is already void, and stays.
    assert tbgen(tables, "verify", "KRK").exit_code == 1
    assert (tables / "KRK.none.dtm.proof.json").exists()


def test_a_changed_byte_is_reported(tables: Path) -> None:
    assert tbgen(tables, "verify", *NAMES).exit_code == 0
    path = tables / "KRK.none.dtm.xqt"
    data, modified = bytearray(path.read_bytes()), path.stat().st_mtime_ns
    data[len(data) // 3] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(modified, modified + 10**9))
    result = tbgen(tables, "ls")
    assert result.exit_code == 3
    assert "KRK.none.dtm.xqt" in result.stderr
    assert "proven but for KRK (damaged)" in result.stdout
    assert tbgen(tables, "stats", "KRK").exit_code == 3
    found = answer(tables, "stats", "KRKN")["proof"]
    assert found["but_for"] == [{"table": "KRK.none.dtm", "fault": "damaged"}]
    assert tbgen(tables, "verify", "KRKN").exit_code == 3


def test_changed_values_with_correct_checksums_are_reported(tables: Path) -> None:
    """A table with changed values is reported as damaged, although all its checksums are correct.

    The header keeps the old digest. The new time stamp makes `stats` and `verify` read all bytes.
    """
    assert tbgen(tables, "verify", *NAMES).exit_code == 0
    path = tables / "KRK.none.dtm.xqt"
    right = path.read_bytes()
    modified = path.stat().st_mtime_ns
    forged = bytearray(wrong_values(tables, "KRK").read_bytes())
    forged[88:104] = right[88:104]
    path.write_bytes(with_valid_checksum(bytes(forged)))
    os.utime(path, ns=(modified, modified + 10**9))
    with TableFile(path) as file:
        assert file.header.digest == right[88:104]
    found = answer(tables, "stats", "KRKN")["proof"]
    assert found["but_for"] == [{"table": "KRK.none.dtm", "fault": "damaged"}]
    assert tbgen(tables, "verify", "KRKN").exit_code == 3


@pytest.mark.parametrize("content", [b"{}", b"\xff", b"{" * 30000], ids=["empty", "bytes", "huge"])
def test_an_invalid_certificate_is_refused_in_one_line(tables: Path, content: bytes) -> None:
    certificate_path(tables / "KRK.none.dtm.xqt").write_bytes(content)
    found = answer(tables, "stats", "KRK")["proof"]
    assert found["status"] == "unproven"
    assert found["reason"].startswith("KRK.none.dtm.proof.json is no certificate: ")
    (line,) = [line for line in tbgen(tables, "ls").stdout.splitlines() if "KRK " in line]
    assert "unproven: KRK.none.dtm.proof.json is no certificate: " in line
    assert tbgen(tables, "verify", "KRK").exit_code == 0
    assert states(tables)["KRK"] == "proven"

"""Proof status through chains of certificates, in every state of the supporting tables.

A certificate records a proof of a table, with the digests of the table and of its supporting
tables, which captures lead to.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from tbgen.tables import CorruptTableError, TableFile, TableName
from tbgen.tables.certificates import (
    Certificate,
    Premise,
    certificate_path,
    read_certificate,
)
from tbgen.tables.proofs import Proofs, ProofState, find_in_directory
from tests.helpers.certificates import (
    certificate,
    certify,
    digest_of,
    name_of,
    small_table,
    supporting,
)

MATERIALS = ["KRK", "KRAK", "KRKA", "KRAAK", "KRAKA"]
"""Materials in the order of building: KRAKA needs KRAK and KRKA, and all need KRK."""


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory with tables of all `MATERIALS` and their certificates; no test changes it."""
    directory = tmp_path_factory.mktemp("chain")
    for material in MATERIALS:
        certify(directory, small_table(directory, material))
    return directory


@pytest.fixture
def tables(chain: Path, tmp_path: Path) -> Path:
    """Copy of `chain` that a test may change, with the modification times of its files."""
    return Path(shutil.copytree(chain, tmp_path / "tables"))


def shown(directory: Path, material: str) -> str:
    return str(Proofs(find_in_directory(directory)).status(name_of(f"{material}.none.dtm")))


def flip(path: Path, at: int | None = None) -> None:
    """Flip the lowest bit of one byte of a file, and set the file's time a second later.

    at : offset of the byte; by default the middle of the file
    """
    data, modified = bytearray(path.read_bytes()), path.stat().st_mtime_ns
    data[len(data) // 2 if at is None else at] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(modified, modified + 10**9))


def test_a_whole_chain_is_proven(tables: Path) -> None:
    assert {shown(tables, material) for material in MATERIALS} == {"proven"}


def test_certificates_survive_copying(chain: Path, tmp_path: Path) -> None:
    """Copied certificates are valid, with the original modification times or new ones."""
    for number, keep in enumerate((shutil.copy2, shutil.copy)):
        copied = tmp_path / str(number)
        shutil.copytree(chain, copied, copy_function=keep)
        assert {shown(copied, material) for material in MATERIALS} == {"proven"}


def test_unchanged_files_are_not_read(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(TableFile, "check", lambda file, **_: read.append(file.path.name))
    assert shown(tables, "KRAKA") == "proven"
    assert read == []
    os.utime(tables / "KRAK.none.dtm.xqt")
    assert shown(tables, "KRAKA") == "proven"
    assert read == ["KRAK.none.dtm.xqt"]


def test_the_status_so_far_reads_no_whole_file(
    tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`status_so_far` is None for a table with a new time, and for tables that depend on it.

    KRAKA depends on KRAK, to which its captures lead. `status` reads KRAK as a whole.
    """
    os.utime(tables / "KRAK.none.dtm.xqt")
    read: list[str] = []
    monkeypatch.setattr(TableFile, "check", lambda file, **_: read.append(file.path.name))
    proofs = Proofs(find_in_directory(tables))
    names = [name_of(f"{material}.none.dtm") for material in ("KRK", "KRAK", "KRAKA")]
    shown = [proofs.status_so_far(name) for name in names]
    assert read == []
    assert shown[0] is not None
    assert shown[1:] == [None, None]
    assert [proofs.status(name) for name in names] == [proofs.status_so_far(name) for name in names]
    assert read == ["KRAK.none.dtm.xqt"]


def test_a_changed_byte_voids_dependent_proofs(tables: Path) -> None:
    flip(tables / "KRK.none.dtm.xqt")
    with pytest.raises(CorruptTableError):
        shown(tables, "KRK")
    for above in MATERIALS[1:]:
        assert shown(tables, above) == "proven but for KRK (damaged)"


def test_a_changed_certificate_never_proves_anything_else(tables: Path) -> None:
    """A damaged certificate of KRK leaves the status of KRAK as proven, or as proven but for KRK.

    KRK is a supporting table of KRAK. A bit of every fifth byte of the file is changed in turn.
    """
    path = certificate_path(tables / "KRK.none.dtm.xqt")
    text = path.read_bytes()
    for at in range(0, len(text), 5):
        flip(path, at)
        status = Proofs(find_in_directory(tables)).status(name_of("KRAK.none.dtm"))
        assert status.state == ProofState.PROVEN or str(status) == "proven but for KRK"
        path.write_bytes(text)


def test_other_contents_void_dependent_proofs(tables: Path) -> None:
    small_table(tables, "KRKA", seed=1)
    assert shown(tables, "KRKA") == "unproven: it has changed since it was proven"
    assert shown(tables, "KRAKA") == "proven but for KRKA (changed)"
    certify(tables, name_of("KRKA.none.dtm"))
    assert shown(tables, "KRKA") == "proven"
    assert shown(tables, "KRAKA") == "proven but for KRKA (changed)"
    certify(tables, name_of("KRAKA.none.dtm"))
    assert shown(tables, "KRAKA") == "proven"


def test_rewritten_equal_contents_stay_proven(tables: Path) -> None:
    small_table(tables, "KRKA")
    assert shown(tables, "KRAKA") == "proven"


def test_a_table_without_certificate(tables: Path) -> None:
    certificate_path(tables / "KRK.none.dtm.xqt").unlink()
    assert shown(tables, "KRK") == "unproven"
    assert shown(tables, "KRAAK") == "proven but for KRK"
    (tables / "KRK.none.dtm.xqt").unlink()
    assert shown(tables, "KRAKA") == "proven but for KRK (missing)"
    with pytest.raises(FileNotFoundError):
        shown(tables, "KRK")


def test_a_certificate_of_another_table(tables: Path) -> None:
    krk, krak = (certificate_path(tables / f"{m}.none.dtm.xqt") for m in ("KRK", "KRAK"))
    shutil.copy2(krk, krak)
    assert shown(tables, "KRAK") == "unproven: its certificate is one of KRK.none.dtm"


def test_an_invalid_certificate_is_reported(tables: Path) -> None:
    certificate_path(tables / "KRK.none.dtm.xqt").write_text("{}")
    reason = "KRK.none.dtm.proof.json is no certificate: not of the form 1"
    assert shown(tables, "KRK") == f"unproven: {reason}"
    assert shown(tables, "KRAK") == "proven but for KRK"


def test_as_json(tables: Path) -> None:
    certificate_path(tables / "KRK.none.dtm.xqt").unlink()
    proofs = Proofs(find_in_directory(tables))
    assert proofs.status(name_of("KRK.none.dtm")).to_json() == {
        "status": "unproven", "but_for": [], "reason": None,
    }  # fmt: skip
    assert proofs.status(name_of("KRKA.none.dtm")).to_json() == {
        "status": "proven but for",
        "but_for": [{"table": "KRK.none.dtm", "fault": "unproven"}],
        "reason": None,
    }


# -- every state, against naive code from the definitions ----------------------------------------

Written = dict[str, Certificate | str | None]
"""Content of each material's certificate file: the certificate, or other text; None for no file."""


def naive_gaps(name: TableName, digests: dict[str, str], written: Written) -> set[tuple[str, str]]:
    """Return (supporting material, fault) of each gap in a valid proof, by following certificates.

    A gap is a supporting table that is missing, damaged, changed or unproven, with that fault.

    digests : digest of each material's table, or `missing` or `damaged`
    written : content of each material's certificate file
    """
    found = written[name.material.name]
    assert isinstance(found, Certificate)
    gaps = set()
    for premise in found.supporting:
        below = premise.table.material.name
        if digests[below] in ("missing", "damaged"):
            gaps.add((below, digests[below]))
        elif digests[below] != premise.digest:
            gaps.add((below, "changed"))
        elif not naive_holds(below, digests, written):
            gaps.add((below, "unproven"))
        else:
            gaps |= naive_gaps(premise.table, digests, written)
    return gaps


def naive_holds(material: str, digests: dict[str, str], written: Written) -> bool:
    found = written[material]
    return isinstance(found, Certificate) and found.digest == digests[material]


def test_every_state_of_a_chain(chain: Path, tmp_path: Path) -> None:
    rng = random.Random(16)
    other = tmp_path / "other"
    other.mkdir()
    versions = [chain, other]
    names = {material: small_table(other, material, seed=1) for material in MATERIALS}
    known = {m: [digest_of(version, name) for version in versions] for m, name in names.items()}
    states: dict[str, int] = {}

    def mostly(first: str, *others: str) -> str:
        return first if rng.random() < 0.75 else rng.choice(others)

    for trial in range(80):
        tables = tmp_path / f"trial-{trial}"
        tables.mkdir()
        digests: dict[str, str] = {}
        written: Written = {}
        for material, name in names.items():
            path, version = tables / name.filename, int(rng.random() < 0.2)
            digests[material] = known[material][version]
            shutil.copy(versions[version] / name.filename, path)
            kind = mostly("right", "none", "text", "stale", "premise")
            stated = known[material][1 - version] if kind == "stale" else digests[material]
            premises = [
                Premise(below, "0" * 32 if kind == "premise" else known[below.material.name][0])
                for below in supporting(name)
            ]
            found = certificate(name, stated, premises)
            written[material] = {"none": None, "text": "{}"}.get(kind, found)
            if kind != "none":
                proof, modified = certificate_path(path), path.stat().st_mtime_ns
                proof.write_text("{}" if kind == "text" else found.to_text())
                os.utime(proof, ns=(modified, modified))
            condition = mostly("sound", "sound", "damaged", "missing")
            if condition == "missing":
                path.unlink()
            elif condition == "damaged":
                flip(path, at=3)  # in the header: known without a certificate, too
            if condition != "sound":
                digests[material] = condition
        _compare(tables, names, digests, written, states)
        shutil.rmtree(tables)
    assert min(states[state] for state in ("proven", "proven but for", "unproven")) > 15


def _compare(
    tables: Path,
    names: dict[str, TableName],
    digests: dict[str, str],
    written: Written,
    states: dict[str, int],
) -> None:
    """Check that `Proofs` gives every table in a directory the status that naive code finds.

    digests : digest of each material's table, or `missing` or `damaged`
    states : number of tables in each state; updated
    """
    proofs = Proofs(find_in_directory(tables))
    for material, name in names.items():
        if digests[material] in ("missing", "damaged"):
            with pytest.raises((FileNotFoundError, CorruptTableError)):
                proofs.status(name)
            continue
        status = proofs.status(name)
        holds = naive_holds(material, digests, written)
        expected = naive_gaps(name, digests, written) if holds else set()
        assert {(gap.table.material.name, str(gap.fault)) for gap in status.gaps} == expected
        assert (status.state == ProofState.UNPROVEN) == (not holds)
        assert (status.state == ProofState.BUT_FOR) == bool(expected)
        states[str(status.state)] = states.get(str(status.state), 0) + 1


def test_reading_the_status_does_not_change_certificates(tables: Path) -> None:
    before = {path.name: path.read_bytes() for path in tables.iterdir()}
    shown(tables, "KRAKA")
    assert {path.name: path.read_bytes() for path in tables.iterdir()} == before
    found = read_certificate(tables / "KRAKA.none.dtm.xqt")
    assert found is not None
    assert [str(p.table) for p in found.supporting] == ["KRAK.none.dtm", "KRKA.none.dtm"]

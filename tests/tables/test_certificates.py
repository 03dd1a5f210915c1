"""Certificate files, records of proofs of tables: they are read as written; invalid ones raise."""

from __future__ import annotations

import json
import os
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tbgen.tables import TableName
from tbgen.tables.certificates import (
    MAX_CERTIFICATE,
    Certificate,
    CertificateError,
    Premise,
    certificate_path,
    is_unmodified,
    read_certificate,
    set_certificate_time,
    write_certificate,
)
from tbgen.tables.checked_json import SchemaError
from tests.helpers.certificates import certificate, name_of, supporting

KRKN = name_of("KRKN.none.dtm")
PREMISES = [Premise(below, f"{number:032x}") for number, below in enumerate(supporting(KRKN))]
SOUND = certificate(KRKN, "a" * 32, PREMISES)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Path of an empty table file, since certificates are read without the table."""
    path = tmp_path / KRKN.filename
    path.write_bytes(b"")
    return path


def test_round_trip(table: Path) -> None:
    assert read_certificate(table) is None
    write_certificate(table, SOUND, 1_234_567_890_123_456_789)
    assert read_certificate(table) == SOUND
    assert certificate_path(table).name == "KRKN.none.dtm.proof.json"
    assert certificate_path(table).stat().st_mtime_ns == 1_234_567_890_123_456_789
    assert sorted(path.name for path in table.parent.iterdir()) == [
        "KRKN.none.dtm.proof.json", "KRKN.none.dtm.xqt",
    ]  # fmt: skip


def test_a_certificate_has_the_time_of_its_table(table: Path) -> None:
    assert not is_unmodified(table)  # there is no certificate
    write_certificate(table, SOUND, table.stat().st_mtime_ns)
    assert is_unmodified(table)
    for moved in (-1_000_000, 1_000_000):  # another time stamp, in either direction
        os.utime(table, ns=(0, certificate_path(table).stat().st_mtime_ns + moved))
        assert not is_unmodified(table)
    set_certificate_time(table, table.stat().st_mtime_ns)
    assert is_unmodified(table)
    assert read_certificate(table) == SOUND


def test_the_longest_certificate_is_read() -> None:
    """The longest possible certificate has less than a quarter of the allowed size.

    Its table has all pieces of a set, and the largest limit on orders in its name.
    """
    name = name_of("KRRNNCCPPPPPAABBKRRNNCCPPPPPAABB.wxf-nominor-o4294967295.dtm")
    materials = {child.name: child for child in name.material.captures().values()}
    premises = [Premise(TableName(child, name.rule_set, name.metric), "f" * 32)
                for child in materials.values()]  # fmt: skip
    longest = certificate(name, "f" * 32, premises)
    assert len(longest.to_text()) < MAX_CERTIFICATE / 4
    assert Certificate.from_text(longest.to_text()) == longest


def test_unknown_members_are_ignored() -> None:
    fields = json.loads(SOUND.to_text()) | {"signature": "none", "table2": [1, 2]}
    assert Certificate.from_text(json.dumps(fields)) == SOUND


@pytest.mark.parametrize(
    ("member", "value"),
    [
        *((member, None) for member in json.loads(SOUND.to_text())),
        ("certificate", 2),
        ("table", "KRKN.none.dtm.xqt"),
        ("table", "KNKR.none.dtm"),
        ("table", 7),
        ("digest", "A" * 32),
        ("digest", "a" * 31),
        ("method", "\u001b[2J"),
        ("method", "positions\n"),
        ("tbgen", "x" * 1000),
        ("seconds", -1),
        ("seconds", float("nan")),
        ("seconds", 1e400),
        ("supporting", []),
        ("supporting", {}),
        ("supporting", [{"table": "KRK.none.dtm", "digest": "0" * 32}]),
        ("supporting", [{"table": "KRK.none.dtm", "digest": "0" * 32}] * 2),
        ("supporting", [{"table": f"{m}.none.dtm", "digest": "0" * 32} for m in ("KCK", "KRK")]),
        ("supporting", [{"table": f"{m}.check.dtm", "digest": "0" * 32} for m in ("KNK", "KRK")]),
        ("supporting", [{"table": f"{m}.none.dtc", "digest": "0" * 32} for m in ("KNK", "KRK")]),
        ("supporting", [{"table": f"{m}.none.dtm"} for m in ("KNK", "KRK")]),
    ],
)
def test_every_value_is_checked(member: str, value: Any) -> None:
    fields = json.loads(SOUND.to_text())
    assert Certificate.from_text(json.dumps(fields)) == SOUND
    if value is None:
        del fields[member]
    else:
        fields[member] = value
    with pytest.raises(SchemaError) as error:
        Certificate.from_text(json.dumps(fields))
    assert "\n" not in str(error.value)


def test_a_dtc_table_may_rest_on_any_metric() -> None:
    fields = json.loads(SOUND.to_text()) | {"table": "KRKN.none.dtc"}
    assert Certificate.from_text(json.dumps(fields)).table == name_of("KRKN.none.dtc")
    fields["supporting"][0]["table"] = "KNK.none.dtc"
    assert Certificate.from_text(json.dumps(fields)).supporting[0].table == name_of("KNK.none.dtc")


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 3000, b'"' * 20_000,
     SOUND.to_text().encode() + b"x", SOUND.to_text().encode() + b" " * MAX_CERTIFICATE],
)  # fmt: skip
def test_an_invalid_certificate_is_an_error_of_one_line(table: Path, content: bytes) -> None:
    certificate_path(table).write_bytes(content)
    with pytest.raises(CertificateError) as error:
        read_certificate(table)
    assert str(error.value).startswith("KRKN.none.dtm.proof.json is no certificate: ")
    assert "\n" not in str(error.value)


def test_damaged_text_is_read_or_refused() -> None:
    rng, text = random.Random(3), SOUND.to_text()
    refused = 0
    for _ in range(3000):
        at, end = sorted(rng.randrange(len(text)) for _ in range(2))
        changed = rng.choice(
            [text[:at] + text[end:], text[:at] + chr(rng.randrange(32, 127)) + text[at + 1 :]]
        )
        try:
            Certificate.from_text(changed)
        except SchemaError:
            refused += 1
    assert refused > 1000


def test_a_huge_file_takes_no_memory(table: Path) -> None:
    with open(certificate_path(table), "wb") as file:
        file.truncate(1 << 32)
    tracemalloc.start()
    with pytest.raises(CertificateError):
        read_certificate(table)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("kind", ["pipe", "directory"])
def test_special_files_are_refused_at_once(table: Path, kind: str) -> None:
    path = certificate_path(table)
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    with pytest.raises(CertificateError):
        read_certificate(table)


def test_nothing_is_written_through_a_link(table: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    certificate_path(table).symlink_to(other)
    write_certificate(table, SOUND, 1)
    assert other.read_text() == "mine"
    assert read_certificate(table) == SOUND

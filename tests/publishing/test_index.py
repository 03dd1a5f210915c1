"""The index of a directory: written, read again, and refused if it is invalid."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tbgen.indexing import Material
from tbgen.publishing.fetching import FetchError, fetch_index
from tbgen.publishing.index import (
    BadIndexError,
    hash_of,
    index_of,
    read_index,
    write_index,
)
from tbgen.publishing.sources import DirectorySource
from tbgen.tables import CorruptTableError
from tests.publishing.conftest import KRK


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"file": "../KRK.wxf.dtm.xqt"}, "a name that no table has"),
        ({"file": "/etc/passwd"}, "a name that no table has"),
        ({"file": "KRK.wxf.dtm.xqt/../x"}, "a name that no table has"),
        ({"file": "index.json"}, "a name that no table has"),
        ({"bytes": -1}, "no whole number"),
        ({"bytes": 1.5}, "no whole number"),
        ({"bytes": 1 << 70}, "no whole number"),
        ({"sha256": "0" * 63}, "SHA-256"),
        ({"sha256": "A" * 64}, "SHA-256"),
        ({"digest": "x"}, "digest"),
        ({"more": 1}, "no Entry"),
    ],
    ids=repr,
)
def test_an_invalid_index_is_refused(change: dict[str, object], said: str) -> None:
    entry = {"file": KRK.file, "bytes": 5, "sha256": KRK.sha256} | change
    with pytest.raises(BadIndexError, match=said):
        read_index(json.dumps({"format": 1, "files": [entry]}).encode(), "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no {"), ("[]", "no {"), ("{}", "it has no 'files'"), ("<html>", "no {"),
        ('{"files": []}', "it has no 'format'"), ('{"files": [], "format": 2}', "is not 1"),
        ('{"format": 1, "files": [' + "[" * 100_000, "no JSON"),
    ],
    ids=range(7),
)  # fmt: skip
def test_text_that_is_no_index_is_refused(text: str, said: str) -> None:
    with pytest.raises(BadIndexError, match=said):
        read_index(text.encode(), "")


def test_a_file_is_listed_once() -> None:
    entry = {"file": KRK.file, "bytes": 5, "sha256": KRK.sha256}
    with pytest.raises(BadIndexError, match="listed twice"):
        read_index(json.dumps({"format": 1, "files": [entry, entry]}).encode(), "")


def test_round_trip_of_an_index(tables_dir: Path, tmp_path: Path) -> None:
    for path in tables_dir.iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "KRK.check.dtm.proof.json").write_text("{}")
    (tmp_path / "KRKR.check.dtm.proof.json").write_text("{}")  # without its table: not listed
    (tmp_path / "notes.txt").write_text("not for others")
    entries = index_of(tmp_path)
    assert {entry.file for entry in entries} == {
        *(path.name for path in tables_dir.glob("*.xqt")), "KRK.check.dtm.proof.json"
    }  # fmt: skip
    assert read_index(write_index(tmp_path, entries).read_bytes(), "") == entries
    krk = [entry for entry in entries if entry.file.startswith("KRK.")]
    assert index_of(tmp_path, only={Material.parse("KRK")}) == krk
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "index.json").write_text("{")
    sources = [DirectorySource(path) for path in (tmp_path / "no", broken, tmp_path)]
    assert fetch_index(sources) == entries
    with pytest.raises(FetchError, match=r"broken/index\.json: this is no index[^;]*$"):
        fetch_index(sources[:2])
    for entry in entries:
        assert hash_of(tmp_path / entry.file) == (entry.bytes, entry.sha256)
        assert (entry.digest is None) == entry.file.endswith(".json")
    with pytest.raises(FetchError):
        fetch_index([DirectorySource(tmp_path / "no")])
    table = tmp_path / "KRK.check.dtm.xqt"
    sound = table.read_bytes()
    table.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1]))  # the statistics are the end of the file
    with pytest.raises(CorruptTableError, match="statistics"):
        index_of(tmp_path)
    table.write_bytes(sound)
    (tmp_path / KRK.file).write_bytes(b"nothing")
    with pytest.raises(CorruptTableError):
        index_of(tmp_path)

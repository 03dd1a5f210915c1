"""Fetching from faulty sources: false content is refused in one line, stopped transfers resume."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tbgen.cli import main
from tbgen.indexing import InputError
from tbgen.publishing import fetching
from tbgen.publishing.fetching import FetchError, fetch, require_room
from tbgen.publishing.index import (
    index_of,
    write_index,
)
from tbgen.publishing.sources import DirectorySource, Source, WebSource, source_of
from tbgen.tables import Rules
from tbgen.tables.certificates import is_unmodified, write_certificate
from tbgen.tables.files import locked
from tbgen.tables.proofs import Proofs, ProofState, find_in_directory
from tests.helpers.certificates import certificate, certify, name_of
from tests.helpers.random_tables import random_planes, spec_of, write
from tests.publishing.conftest import CONTENT, KRK, Server


def part(directory: Path) -> Path:
    return directory / f".{KRK.file}.part"


def nothing_but(directory: Path, *names: str) -> None:
    assert {path.name for path in directory.iterdir()} == set(names)


def test_a_file_is_fetched_once(server: Server, tmp_path: Path) -> None:
    told: list[int] = []
    assert fetch(KRK, [WebSource(server.address)], tmp_path, told.append)
    assert (tmp_path / KRK.file).read_bytes() == CONTENT
    assert told[-1] == len(CONTENT)
    assert not fetch(KRK, [WebSource(server.address)], tmp_path)
    nothing_but(tmp_path, KRK.file)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "PAUSE_SECONDS", 0)


def test_an_interrupted_transfer_resumes(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.cut_at = 2_000_000
    source = WebSource(server.address + "/")
    monkeypatch.setattr(fetching, "TRIES", 1)
    with pytest.raises(FetchError, match=r"ended after 2,000,000 of 5,120,000 bytes") as caught:
        fetch(KRK, [source], tmp_path)
    assert "the same command resumes the download" in caught.value.hint
    nothing_but(tmp_path, part(tmp_path).name)
    # The next command tries again as long as bytes arrive.
    monkeypatch.setattr(fetching, "TRIES", 3)
    assert fetch(KRK, [source], tmp_path)
    assert (tmp_path / KRK.file).read_bytes() == CONTENT
    assert [asked for _, asked in server.asked] == [None, "bytes=2000000-", "bytes=4000000-"]


def test_another_source_resumes_an_interrupted_transfer(server: Server, tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / KRK.file).write_bytes(CONTENT[:3_000_000])
    assert fetch(KRK, [DirectorySource(mirror), WebSource(server.address)], tmp_path)
    assert server.asked == [(f"/{KRK.file}", "bytes=3000000-")]
    assert (tmp_path / KRK.file).read_bytes() == CONTENT


def test_a_server_without_ranges_restarts_the_transfer(server: Server, tmp_path: Path) -> None:
    part(tmp_path).write_bytes(b"something else")
    server.ranges = False
    assert fetch(KRK, [WebSource(server.address)], tmp_path)
    assert (tmp_path / KRK.file).read_bytes() == CONTENT


def test_a_server_without_ranges_costs_no_bytes_that_are_here(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "TRIES", 1)
    part(tmp_path).write_bytes(CONTENT[:3_000_000])
    server.ranges, server.cut_at = False, 2_000_000
    with pytest.raises(FetchError, match=r"ended after 3,000,000 of 5,120,000 bytes"):
        fetch(KRK, [WebSource(server.address)], tmp_path)
    assert part(tmp_path).read_bytes() == CONTENT[:3_000_000]
    server.cut_at = 4_000_000
    with pytest.raises(FetchError, match=r"ended after 4,000,000 of 5,120,000 bytes"):
        fetch(KRK, [WebSource(server.address)], tmp_path)
    assert part(tmp_path).read_bytes() == CONTENT[:4_000_000]


@pytest.mark.parametrize("content", [b"", CONTENT[:-1] + b"x", CONTENT + b"x", b"<html>"])
@pytest.mark.parametrize("ranges", [True, False])
def test_wrong_content_gets_no_final_name(
    server: Server, tmp_path: Path, content: bytes, ranges: bool
) -> None:
    server.files[f"/{KRK.file}"], server.ranges = content, ranges
    with pytest.raises(FetchError, match=r"longer than|another hash|ended after") as caught:
        fetch(KRK, [WebSource(server.address)], tmp_path)
    assert ("resumes" in caught.value.hint) == (content == b"<html>")
    # A possible prefix stays; other bytes are dropped.
    nothing_but(tmp_path, *([part(tmp_path).name] if content == b"<html>" else []))


def test_a_wrong_part_is_discarded_and_fetched_again(server: Server, tmp_path: Path) -> None:
    """A partial file with wrong content is discarded, and the whole file is fetched.

    The completed file would have another hash than the index states, or the part is too long.
    """
    part(tmp_path).write_bytes(b"x" * 1000)
    source = WebSource(server.address)
    assert fetch(KRK, [source], tmp_path)
    part(tmp_path).write_bytes(CONTENT + b"too long")
    (tmp_path / KRK.file).unlink()
    assert fetch(KRK, [source], tmp_path)


@pytest.mark.parametrize("stale_first", [True, False])
def test_a_stale_source_costs_no_earlier_bytes(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stale_first: bool
) -> None:
    """Of two sources one has another file of the same size, the other one cuts connections."""
    stale = tmp_path / "stale"
    stale.mkdir()
    (stale / KRK.file).write_bytes(CONTENT[::-1])
    monkeypatch.setattr(fetching, "TRIES", 1)
    server.cut_at = 2_000_000
    sources: list[Source] = [WebSource(server.address), DirectorySource(stale)]
    tables = tmp_path / "tables"
    tables.mkdir()
    for begin in (2_000_000, 4_000_000):
        with pytest.raises(FetchError, match="another hash"):
            fetch(KRK, sources[:: -1 if stale_first else 1], tables)
        assert part(tables).read_bytes() == CONTENT[:begin]
    assert fetch(KRK, sources[:: -1 if stale_first else 1], tables)
    assert (tables / KRK.file).read_bytes() == CONTENT


def test_a_complete_part_is_not_sent_again(server: Server, tmp_path: Path) -> None:
    part(tmp_path).write_bytes(CONTENT)
    assert fetch(KRK, [WebSource(server.address)], tmp_path)
    assert not server.asked
    nothing_but(tmp_path, KRK.file)


def test_a_range_that_begins_elsewhere_is_refused(server: Server, tmp_path: Path) -> None:
    part(tmp_path).write_bytes(CONTENT[:1000])
    server.off_by = 7
    with pytest.raises(FetchError, match="the server sent another range"):
        fetch(KRK, [WebSource(server.address)], tmp_path)
    assert part(tmp_path).read_bytes() == CONTENT[:1000]


def test_a_range_with_overlong_numbers_is_refused(server: Server, tmp_path: Path) -> None:
    part(tmp_path).write_bytes(CONTENT[:1000])
    server.range = f"bytes {'9' * 5000}-1/2"
    with pytest.raises(FetchError, match="the server sent another range"):
        fetch(KRK, [WebSource(server.address)], tmp_path)


@pytest.mark.parametrize("target", ["file:///etc/hostname", "ftp://127.0.0.1/x"])
def test_only_http_is_allowed(server: Server, tmp_path: Path, target: str) -> None:
    server.redirect = target
    with pytest.raises(FetchError):
        fetch(KRK, [WebSource(server.address)], tmp_path)
    assert not (tmp_path / KRK.file).exists()


def test_the_error_of_each_source_is_reported(server: Server, tmp_path: Path) -> None:
    server.files.clear()
    sources = [WebSource(server.address), source_of(str(tmp_path / "none")),
               WebSource("http://127.0.0.1:1")]  # fmt: skip
    with pytest.raises(FetchError) as caught:
        fetch(KRK, sources, tmp_path)
    said = str(caught.value.strerror)
    assert "the server says 404" in said
    assert "No such file" in said
    assert "refused" in said
    assert "\n" not in said


def test_a_different_existing_file_is_not_replaced(server: Server, tmp_path: Path) -> None:
    (tmp_path / KRK.file).write_bytes(b"mine")
    with pytest.raises(FetchError, match="differs from the file in the index"):
        fetch(KRK, [WebSource(server.address)], tmp_path)
    assert (tmp_path / KRK.file).read_bytes() == b"mine"
    assert not server.asked


def test_a_table_under_construction_is_not_fetched(server: Server, tmp_path: Path) -> None:
    with locked(tmp_path / ".KRK.wxf.dtm.lock"), pytest.raises(BlockingIOError):
        fetch(KRK, [WebSource(server.address)], tmp_path)


def test_tables_of_both_metrics_have_one_lock(server: Server, tmp_path: Path) -> None:
    """As for builds: they make a table of either metric, whichever was asked for."""
    listed = replace(KRK, file="KRK.wxf.dtc.xqt")
    with locked(tmp_path / ".KRK.wxf.dtm.lock"), pytest.raises(BlockingIOError):
        fetch(listed, [WebSource(server.address)], tmp_path)


def test_a_complete_file_needs_no_lock(tmp_path: Path) -> None:
    """A read-only directory, in which no lock can be taken, may have all files."""
    (tmp_path / KRK.file).write_bytes(CONTENT)
    with locked(tmp_path / ".KRK.wxf.dtm.lock"):
        assert not fetch(KRK, [], tmp_path)


def test_an_interrupted_fetch_leaves_a_part_and_no_lock(server: Server, tmp_path: Path) -> None:
    def interrupt(count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(KRK, [WebSource(server.address)], tmp_path, interrupt)
    nothing_but(tmp_path, part(tmp_path).name)


def test_an_interrupted_command_says_what_is_kept(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(fetching, "fetch", interrupt)
    index = str(write_index(tmp_path, [KRK]))
    command = ["fetch", "KRK", "--from", server.address, "--index", index, "--tables"]
    result = CliRunner().invoke(main, [*command, str(tmp_path)])
    assert result.exit_code == 130
    assert "hint: 0 of 1 file complete; the same command resumes" in result.stderr


def test_a_part_is_not_written_through_a_link(server: Server, tmp_path: Path) -> None:
    precious, tables = tmp_path / "precious", tmp_path / "tables"
    precious.write_text("precious")
    tables.mkdir()
    part(tables).symlink_to(precious)
    with pytest.raises(OSError, match="a link, which is not written through"):
        fetch(KRK, [WebSource(server.address)], tables)
    assert precious.read_text() == "precious"


def test_a_hard_linked_part_is_not_resumed(server: Server, tmp_path: Path) -> None:
    precious, tables = tmp_path / "precious", tmp_path / "tables"
    precious.write_bytes(CONTENT[:1000])
    tables.mkdir()
    part(tables).hardlink_to(precious)
    assert fetch(KRK, [WebSource(server.address)], tables)
    assert precious.read_bytes() == CONTENT[:1000]
    assert server.asked == [(f"/{KRK.file}", None)]


@pytest.mark.skipif(os.geteuid() != 0, reason="who is not root can give no file away")
def test_a_part_of_another_user_is_not_resumed(server: Server, tmp_path: Path) -> None:
    part(tmp_path).write_bytes(CONTENT[:1000])
    os.chown(part(tmp_path), 12_345, -1)
    assert fetch(KRK, [WebSource(server.address)], tmp_path)
    assert (tmp_path / KRK.file).stat().st_uid == 0
    assert server.asked == [(f"/{KRK.file}", None)]


def test_a_file_too_large_for_the_disk_is_named(server: Server, tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(OSError, match=KRK.file) as caught:
            fetch(KRK, [WebSource(server.address)], tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.filename == str(tmp_path / KRK.file)


def test_the_command_keeps_existing_tables_and_checks_digests(
    tables_dir: Path, tmp_path: Path
) -> None:
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    for folder in (shared, mine):
        folder.mkdir()
    table = tables_dir / "KNK.check.dtm.xqt"
    shutil.copy(table, shared)
    write_index(shared, index_of(shared))
    (mine / table.name).write_bytes(b"mine")
    run = CliRunner().invoke
    command = ["fetch", "KNK", "--from", str(shared), "--tables", str(mine), "--rules", "check"]
    failed = run(main, [*command, "--json"])
    assert failed.exit_code == 1
    (failure,) = json.loads(failed.stdout)["failed"]
    assert "differs from the file in the index" in failure["error"]
    write_index(tmp_path, [replace(KRK, file=table.name)])
    assert run(main, [*command, "--index", str(tmp_path / "index.json")]).exit_code == 1
    assert run(main, [*command, "--index", str(shared / table.name)]).exit_code == 2


def test_a_table_that_is_packed_otherwise_is_present(tables_dir: Path, tmp_path: Path) -> None:
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    for folder in (shared, mine):
        folder.mkdir()
        for table in ("KNK", "KRK", "KRKN"):
            shutil.copy(tables_dir / f"{table}.check.dtm.xqt", folder)
        certify(folder, name_of("KRKN.check.dtm"))
    fetching_it = ["--from", str(shared), "--tables", str(mine), "--rules", "check"]
    run = CliRunner().invoke
    assert run(main, ["index", "--dense", "--tables", str(shared)]).exit_code == 0
    fetched = run(main, ["fetch", "KRKN", *fetching_it])
    assert "4 present" in fetched.stderr, fetched.output
    (mine / "KRKN.check.dtm.xqt").write_bytes(b"damaged")
    assert "2 present, 2 failed" in run(main, ["fetch", "KRKN", *fetching_it]).stderr


def test_a_fetched_certificate_belongs_to_its_table(tables_dir: Path, tmp_path: Path) -> None:
    """A certificate of other contents is replaced; the right one has the time of its table."""
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    name = name_of("KRK.check.dtm")
    for folder in (shared, mine):
        folder.mkdir()
    shutil.copy(tables_dir / name.filename, shared)
    certify(shared, name)
    write_index(shared, index_of(shared))
    other = certificate(name, "0" * 32, ())
    write_certificate(mine / name.filename, other, 0)
    command = ["fetch", "KRK", "--from", str(shared), "--tables", str(mine), "--rules", "check"]
    fetched = CliRunner().invoke(main, command)
    assert "2 fetched" in fetched.stderr, fetched.output
    assert is_unmodified(mine / name.filename)
    assert Proofs(find_in_directory(mine)).status(name).state == ProofState.PROVEN


@pytest.mark.parametrize("has_own", [True, False])
def test_no_certificate_is_fetched_for_another_table(
    tables_dir: Path, tmp_path: Path, has_own: bool
) -> None:
    """A table with other contents keeps its certificate, even a stale one, or stays without one."""
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    name = name_of("KRK.check.dtm")
    for folder in (shared, mine):
        folder.mkdir()
    shutil.copy(tables_dir / name.filename, shared)
    certify(shared, name)
    write_index(shared, index_of(shared))
    spec = spec_of("KRK", rules=Rules.CHECK)
    table = write(mine, spec, random_planes(spec, 1))
    if has_own:
        write_certificate(table, certificate(name, "0" * 32, ()), 0)
    before = {path.name: path.read_bytes() for path in mine.iterdir()}
    command = ["fetch", "KRK", "--from", str(shared), "--tables", str(mine), "--rules", "check"]
    fetched = CliRunner().invoke(main, command)
    assert fetched.exit_code == 1
    assert "it is no certificate of the table here" in fetched.stderr
    assert fetched.stderr.count("hint: move the table away") == 1
    assert {path.name: path.read_bytes() for path in mine.iterdir()} == before


def test_an_index_is_kept_if_a_named_table_is_missing(tables_dir: Path, tmp_path: Path) -> None:
    shutil.copy(tables_dir / "KNK.check.dtm.xqt", tmp_path)
    run = CliRunner().invoke
    assert run(main, ["index", "--tables", str(tmp_path)]).exit_code == 0
    before = (tmp_path / "index.json").read_bytes()
    result = run(main, ["index", "KNK", "KRPKN", "--tables", str(tmp_path)])
    assert (result.exit_code, "no table of KRPKN" in result.stderr) == (1, True)
    assert (tmp_path / "index.json").read_bytes() == before


def test_files_larger_than_the_free_space_are_refused(tmp_path: Path) -> None:
    listed = replace(KRK, bytes=1 << 60)
    write_index(tmp_path, [listed])
    words = ["--from", str(tmp_path), "--tables", str(tmp_path / "mine")]
    result = CliRunner().invoke(main, ["fetch", "KRK", *words])
    assert (result.exit_code, "GiB are to be fetched, and" in result.stderr) == (2, True)


def test_bytes_of_a_part_need_no_more_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=10))
    part(tmp_path).write_bytes(bytes(90))
    require_room([replace(KRK, bytes=100)], tmp_path)
    with pytest.raises(InputError, match="are to be fetched, and"):
        require_room([replace(KRK, bytes=101)], tmp_path)
    complete = replace(KRK, file="KNK.wxf.dtm.xqt", bytes=1000)
    (tmp_path / complete.file).write_bytes(bytes(1000))
    require_room([replace(KRK, bytes=100), complete], tmp_path)


def test_an_index_without_an_end_is_refused(tmp_path: Path) -> None:
    """An index larger than 8 MiB is refused, before it takes all memory; here /dev/zero."""
    words = ["--from", str(tmp_path), "--index", "/dev/zero", "--tables", str(tmp_path / "mine")]
    result = CliRunner().invoke(main, ["fetch", "KRK", *words])
    assert result.exit_code == 2
    assert "/dev/zero has more than 8 MiB" in result.stderr


def test_hints(tables_dir: Path, tmp_path: Path) -> None:
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    shutil.copytree(tables_dir, shared)

    def said(source: Path | str, status: int, *materials: str) -> list[str]:
        """Fetch tables, which must exit with `status`, and return the hints on stderr."""
        words = ["--from", str(source), "--tables", str(mine), "--rules", "check"]
        result = CliRunner().invoke(main, ["fetch", *materials, *words])
        assert result.exit_code == status, result.output
        return re.findall("^hint: (.*)$", result.stderr, re.MULTILINE)

    assert said("ftp://127.0.0.1/", 2, "KRK") == [
        "give an address that begins with https:// or http://, or a directory"
    ]
    assert said(shared, 2, "KRK") == [
        "name a folder that has an index.json, as tbgen index writes it, with --from"
    ]
    CliRunner().invoke(main, ["index", "--tables", str(shared)])
    for table in shared.glob("*.check.*"):
        table.unlink()
    assert said(shared, 1, "KRKN", "KRKR") == [
        "name another source with --from",
        "name a folder that has them with --from, or build them with tbgen build",
    ]


def test_a_failed_fetch_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(FetchError):
        fetch(KRK, [DirectorySource(tmp_path / "none")], tmp_path)
    nothing_but(tmp_path)

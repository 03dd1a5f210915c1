"""Workers without a shared directory: whole tables are exchanged through a storage address."""

from __future__ import annotations

import contextlib
import errno
import json
import pickle
import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner

pytest.importorskip("fsspec", reason="the extra `cluster` is not installed")

import fsspec
from fsspec.implementations.memory import MemoryFileSystem

from tbgen.building.builder import TWO_COMPILERS_BYTES
from tbgen.building.collection import Collection
from tbgen.building.exchange import Exchange, ExchangeError, RemoteTableBuilder, scratch_folder
from tbgen.cli import main
from tbgen.indexing import InputError, Material
from tbgen.scheduling.queue import Start
from tbgen.scheduling.run import InProcess, Observer
from tbgen.tables import Metric, Rules, TableName
from tbgen.tables.files import locked
from tbgen.tables.rule_sets import RuleSet
from tests.building.test_builder import digests
from tests.helpers.built import built

CHECK = RuleSet(Rules.CHECK)
KRKN = Material.parse("KRKN")
NAMES = [f"{name}.check.dtm.xqt" for name in ("KNK", "KRK", "KRKN")]


class ObjectStore(MemoryFileSystem):  # type: ignore[misc]
    """Storage in memory that has no folders, as a bucket: a folder is a prefix of names."""

    protocol = "objects"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = []

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Do nothing: folders need not be made."""


fsspec.register_implementation("objects", ObjectStore)


@pytest.fixture(params=["file", "memory", "objects"])
def exchange(request: pytest.FixtureRequest, tmp_path: Path) -> Exchange:
    return Exchange(f"{request.param}://{tmp_path}/exchange")


def build(exchange: Exchange, directory: Path, *, force: bool = False) -> list[str]:
    """Build KRKN by a worker in this process, and download the tables that the worker makes.

    Returns the keys of the jobs (one per table) that were given to the worker.
    """
    collection = Collection([KRKN], directory, CHECK, force=force)
    exchange.synchronise(collection)
    remote = pickle.loads(pickle.dumps(RemoteTableBuilder(collection.table_builder(1), exchange)))
    sent = []

    def elsewhere(start: Start) -> object:
        sent.append(start.job.key)
        return remote(start)

    collection.build(
        collection.jobs(1, TWO_COMPILERS_BYTES), InProcess(elsewhere), Observer(), keep_going=False,
        download=lambda built: [exchange.get(table.name, directory) for table in built],
    )  # fmt: skip
    return sent


def test_tables_built_by_a_worker_arrive_here(exchange: Exchange, tmp_path: Path) -> None:
    here, expected = tmp_path / "here", built("KRKN")
    assert sorted(build(exchange, here)) == ["KNK", "KRK", "KRKN"]
    assert digests(here) == digests(expected)
    assert {name for name in exchange.names() if name.endswith(".xqt")} == set(NAMES)
    assert not [name for name in exchange.names() if name.endswith(".part")]
    assert build(exchange, here) == []
    assert build(exchange, here, force=True) == ["KRKN"]


def test_existing_tables_are_exchanged(exchange: Exchange, tmp_path: Path) -> None:
    here, expected = tmp_path / "here", built("KRKN")
    here.mkdir()
    shutil.copy(expected / NAMES[0], here)
    exchange.names()
    exchange.put(expected / NAMES[1])
    assert build(exchange, here) == ["KRKN"]
    assert digests(here) == digests(expected)
    assert set(NAMES) <= exchange.names()


def test_a_table_to_be_rebuilt_is_not_downloaded(exchange: Exchange, tmp_path: Path) -> None:
    exchange.names()
    for name in NAMES:
        exchange.put(built("KRKN") / name)
    here = tmp_path / "here"
    exchange.synchronise(Collection([KRKN], here, CHECK, force=True))
    assert sorted(path.name for path in here.glob("*.xqt")) == NAMES[:2]


def test_a_table_uploaded_by_a_lost_worker_is_not_rebuilt(
    exchange: Exchange, tmp_path: Path
) -> None:
    collection = Collection([Material.parse("KRK")], tmp_path / "here", CHECK)
    remote = RemoteTableBuilder(collection.table_builder(1), exchange)
    (job,) = collection.jobs(1, TWO_COMPILERS_BYTES)
    first, again = (remote(Start(job, job.memory, 1, 0.0)) for _ in range(2))
    assert first.size
    assert again.size is None


def test_an_incomplete_table_gets_no_final_name(exchange: Exchange, tmp_path: Path) -> None:
    name = TableName(KRKN, CHECK, Metric.DTM)
    content = (built("KRKN") / name.filename).read_bytes()
    exchange.names()
    for wrong in (content[:-1], content[:9000] + b"?" + content[9001:], b""):
        source = tmp_path / name.filename
        source.write_bytes(wrong)
        exchange.put(source)
        source.unlink()
        with pytest.raises(ExchangeError, match="xqt is damaged, remove it there"):
            exchange.get(name, tmp_path)
        assert not list(tmp_path.glob("*.xqt"))
    with pytest.raises(ExchangeError):
        exchange.get(TableName(KRKN, CHECK, Metric.DTC), tmp_path)


@pytest.mark.parametrize(
    ("cause", "said"), [("no\n route", "': no route"), ("", "': RuntimeError")]
)
def test_a_file_system_that_cannot_connect_is_an_error_of_one_line(cause: str, said: str) -> None:
    class Unreachable(MemoryFileSystem):  # type: ignore[misc]
        protocol = "unreachable"

        def __init__(self, *arguments: Any, **options: Any) -> None:
            raise RuntimeError(cause)

    fsspec.register_implementation("unreachable", Unreachable, clobber=True)
    with pytest.raises(ExchangeError, match=f"{said}$"):
        Exchange("unreachable://host/folder").names()


def test_invalid_addresses() -> None:
    with pytest.raises(InputError, match="is no address to exchange tables by"):
        Exchange("nothing://there").names()
    result = CliRunner().invoke(main, ["build", "KRK", "--via", "s3://bucket"])
    assert result.exit_code == 2
    assert "--via needs --dask" in result.stderr


@pytest.mark.parametrize("via", ["there", "file://there", "local://there", "objects://there"])
def test_local_addresses_are_made_absolute(
    via: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers have other working directories; all must see the folder of a local address."""
    module = pytest.importorskip("tbgen.scheduling.cluster")
    given: list[Any] = []

    def cluster(function: RemoteTableBuilder, *arguments: object, folder: Path, **more: int) -> Any:
        given.extend([function.exchange.address, folder])
        raise InputError("enough")

    monkeypatch.setattr(module, "Cluster", cluster)
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(main, ["build", "KRK", "--dask", "10.0.0.1:8786", "--via", via])
    there = tmp_path / "there"
    assert given == ([via, None] if via.startswith("objects") else [str(there), there])


@pytest.mark.certification
def test_dask_workers_by_an_address(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    options = ["--rules", "check", "--tables", str(tmp_path / "here"), "--dask", "local:2"]
    via = ["--via", f"file://{tmp_path}/exchange", "--json"]
    result = CliRunner().invoke(main, ["build", "KRKN", *options, *via])
    assert result.exit_code == 0, result.stderr
    assert len(json.loads(result.stdout)["tables"]) == 3
    assert digests(tmp_path / "here") == digests(built("KRKN"))


def test_folders_of_killed_workers_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others stay: those in use, those without a lock file, and what is behind a link."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed, used, unmarked, other = (
        tmp_path / name
        for name in ("tbgen-exchange-a", "tbgen-exchange-b", "tbgen-exchange-c", "precious")
    )
    for folder in (killed, used, unmarked, other):
        folder.mkdir()
        (folder / "KRK.check.dtm.xqt").write_bytes(b"table")
        if folder != unmarked:
            (folder / ".lock").touch()
    link = tmp_path / "tbgen-exchange-d"
    link.symlink_to(other)
    with locked(used / ".lock"), scratch_folder() as mine, scratch_folder() as second:
        assert set(tmp_path.iterdir()) == {used, unmarked, other, link, mine, second}
        assert (used / "KRK.check.dtm.xqt").exists()
        assert len(list(other.iterdir())) == 2
    assert set(tmp_path.iterdir()) == {used, unmarked, other, link}


@pytest.mark.parametrize("error", [BlockingIOError, FileNotFoundError])
def test_a_folder_removed_before_it_is_locked_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    tried = []

    def locked_late(path: Path) -> contextlib.AbstractContextManager[None]:
        tried.append(path)
        if len(tried) == 1:
            raise error
        return locked(path)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("tbgen.building.exchange.locked", locked_late)
    with scratch_folder() as folder:
        assert folder == tried[1].parent != tried[0].parent
        assert tried[1].exists()
    assert not list(tmp_path.iterdir())


def test_file_systems_without_locks_have_scratch_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(file: object, *, wait: bool) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for module in ("tbgen.building.exchange", "tbgen.tables.files"):
        monkeypatch.setattr(f"{module}.lock", refuse)
    with scratch_folder() as first, scratch_folder():
        assert first.exists()
    assert not list(tmp_path.iterdir())

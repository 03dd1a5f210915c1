"""Search processes: cancellation, replacement, compilation in advance."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from queue import LifoQueue

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")

from starlette.requests import Request

from tbgen import open_tablebase
from tbgen.board.knowledge.store import TableStore
from tbgen.board.language.error_messages import localise_error
from tbgen.board.web.http import AbandonedError, RequestError
from tbgen.board.web.search_processes import SearchProcess, SearchProcesses
from tests.board.test_search import KNK, asked
from tests.helpers.board_server import demo


@pytest.fixture(scope="module")
def store() -> Iterator[TableStore]:
    with open_tablebase(demo().tables) as tables:
        yield TableStore(tables)


def test_a_cancelled_search_frees_its_process(store: TableStore) -> None:
    searcher = SearchProcess()

    def leave() -> None:
        raise AbandonedError

    try:
        with pytest.raises(AbandonedError):
            searcher.ask("json", asked("zugzwang=1&differs=1"), store, leave)
        answer = searcher.ask("json", asked("outcome=win&limit=1"), store, lambda: None)
    finally:
        searcher.end()
    assert len(answer.body["positions"]) == 1


def test_cancelling_does_not_wait_for_compilation(store: TableStore) -> None:
    searcher = SearchProcess()

    def leave() -> None:
        raise AbandonedError

    try:
        searcher.ask("json", asked("outcome=win&limit=1"), store, lambda: None)
        os.kill(searcher._process.pid or 0, signal.SIGSTOP)
        for _ in range(2):
            with pytest.raises(AbandonedError):
                searcher.ask("json", asked("outcome=draw&limit=2"), store, leave)
        os.kill(searcher._process.pid or 0, signal.SIGCONT)
        answer = searcher.ask("json", asked("outcome=loss&limit=3"), store, lambda: None)
    finally:
        searcher.end()
    assert [entry["outcome"] for entry in answer.body["positions"]] == ["loss"] * 3


def test_a_dead_search_process_is_reported_and_replaced(
    store: TableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    searchers = SearchProcesses(store)
    search_elsewhere = searchers.endpoint("json")
    died = SearchProcess()
    died.end()
    monkeypatch.setattr(searchers, "_free", LifoQueue())
    searchers._free.put(died)
    with pytest.raises(RequestError, match="ended"):
        search_elsewhere(Request(asked("outcome=win")))
    assert search_elsewhere(Request(asked("outcome=win"))).status == 200
    wrong = Request(asked("outcome=maybe"))
    with pytest.raises(RequestError, match="outcome is none of"):
        search_elsewhere(wrong)
    searcher = searchers._free.get()
    assert searcher is not None
    searcher.end()


def test_a_process_compiles_in_advance(store: TableStore) -> None:
    searchers = SearchProcesses(store)
    searchers.compile()
    searcher = searchers._free.get()
    assert searcher is not None
    assert searcher._process.is_alive()
    answer = searcher.ask("json", asked("outcome=win&limit=1"), store, lambda: None)
    searcher.end()
    assert len(answer.body["positions"]) == 1


def test_a_search_waits_for_compilation(store: TableStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def leave() -> None:
        raise AbandonedError

    searchers = SearchProcesses(store)
    searchers._compiled.clear()
    monkeypatch.setattr(store.tables, "checkpoint", leave)
    with pytest.raises(AbandonedError):
        searchers.endpoint("json")(Request(asked("outcome=win")))
    assert set(searchers._free.queue) == {None}


def test_a_search_during_a_long_compilation_is_refused(
    store: TableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tbgen.board.web.search_processes.COMPILE_SECONDS", 0.0)
    searchers = SearchProcesses(store)
    searchers._compiled.clear()
    with pytest.raises(RequestError, match="still being compiled") as refused:
        searchers.endpoint("page")(Request(asked("outcome=win")))
    assert (refused.value.status, refused.value.hint) == (503, "try again in a minute")
    chinese = localise_error(str(refused.value), refused.value.hint, "zh-Hans")
    assert chinese == ("查找程序仍在编译", "请过一分钟再试")


def test_no_process_starts_without_tables(tmp_path: Path) -> None:
    with open_tablebase(tmp_path) as tables:
        searchers = SearchProcesses(TableStore(tables, tmp_path))
        searchers.compile()
        assert searchers._free.get() is None


def test_figures_are_read_in_advance(tmp_path: Path) -> None:
    for file in demo().tables.iterdir():
        shutil.copy(file, tmp_path)
    broken = next(tmp_path.glob("KNK.*.xqt"))
    broken.write_bytes(b"broken")
    with open_tablebase(tmp_path) as tables:
        store = TableStore(tables, tmp_path)
        store.start_reading().join()
        tables.close()
        for name in store.available():
            if name.material != KNK:
                assert store.statistics(name.material)[0].legal
                assert store.proof(name.material)


def test_files_of_the_current_directory_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search process does not import modules from the current directory."""
    for name in ("multiprocessing", "pickle", "signal"):
        (tmp_path / f"{name}.py").write_text("open('planted', 'w')")
    monkeypatch.chdir(tmp_path)
    searcher = SearchProcess()
    searcher._connection.close()
    searcher._process.join(60)
    assert searcher._process.exitcode == 0
    assert not (tmp_path / "planted").exists()

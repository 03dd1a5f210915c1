"""The search thread and the wait for readiness, without kernels."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from queue import Empty, Queue

import pytest

from tbgen.engine.clock import Limits
from tbgen.engine.game import Game
from tbgen.engine.options import Options
from tbgen.engine.thinking import Answer, Thinker
from tbgen.play.tablebase import open_tablebase
from tbgen.system.allowance import Allowance

ROOK_ALONE = "3k5/9/9/9/9/9/9/9/9/R3K4 w"


@dataclass
class Hash:
    """Mock of the compiled searcher; `sizes` records the calls that concern its hash table.

    `resize` adds the size in MiB, `allocate` adds -1, `clear` adds -2. `threads` is the last number
    of threads.
    """

    sizes: list[int] = field(default_factory=list)
    threads: int = 0

    def resize(self, mebibytes: int) -> None:
        self.sizes.append(mebibytes)

    def allocate(self, ended: object) -> None:
        self.sizes.append(-1)

    def clear(self) -> None:
        self.sizes.append(-2)

    def use_threads(self, threads: int) -> None:
        self.threads = threads

    def use_tables(self, tables: object) -> None:
        pass


def test_a_long_wait_for_the_kernels_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the search waits for its kernels, a note says why; when stopped, it still gives a move.

    In this test the kernels are never loaded.
    """
    monkeypatch.setattr("tbgen.engine.resources._WAITS_BEFORE_NOTE", 1)
    notes: Queue[str] = Queue()
    answers: Queue[Answer] = Queue()
    thinker = Thinker(lambda found, seconds: None, answers.put, notes.put)
    thinker.begin(Game.read(["startpos"]), Options(), Limits(infinite=True))
    assert "compiling the search" in notes.get(timeout=60)
    thinker.stop()
    assert answers.get(timeout=60).move is not None
    thinker.finish()


def thinker_with(notes: Queue[str]) -> tuple[Thinker, Hash]:
    """Return a thinker, and the mock searcher that it uses.

    The kernels count as loaded once the event `_loaded_proofs` is set, which the test must do.
    """
    thinker, searcher = Thinker(lambda found, seconds: None, lambda answer: None, notes.put), Hash()
    thinker.resources._searcher = searcher  # type: ignore[assignment]
    return thinker, searcher


def test_a_hash_table_is_allocated_again_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    told: Queue[str] = Queue()
    thinker, searcher = thinker_with(told)
    thinker.resources._loaded_proofs.set()

    def refuse(mebibytes: int) -> None:
        if mebibytes:
            raise MemoryError

    with monkeypatch.context() as changed:
        changed.setattr(searcher, "resize", refuse)
        thinker.get_ready(Options(hash=4), lambda: told.put("ready"))
        assert "MemoryError" in told.get(timeout=60)
        assert told.get(timeout=60) == "ready"
    thinker.get_ready(Options(hash=4), lambda: told.put("ready"))
    assert told.get(timeout=60) == "ready"
    assert searcher.sizes == [0, 4, -2, -1]


def test_readiness_waits_for_kernels_and_hash_table() -> None:
    """Readiness is reported once the kernels are loaded and the hash table is allocated."""
    told: Queue[str] = Queue()
    thinker, searcher = thinker_with(told)
    thinker.get_ready(Options(hash=4), lambda: told.put("ready"))
    with pytest.raises(Empty):
        told.get(timeout=0.2)
    assert searcher.sizes == []
    thinker.resources._loaded_proofs.set()
    assert told.get(timeout=60) == "ready"
    # The former table is freed (0), then the new one of 4 MiB is set, cleared and allocated.
    assert searcher.sizes == [0, 4, -2, -1]
    thinker.get_ready(Options(hash=4), lambda: told.put("ready"))
    assert told.get(timeout=60) == "ready"
    assert searcher.sizes == [0, 4, -2, -1, -1]
    # Histories are cleared for a new game, with a new hash table, too.
    thinker.resources.forget()
    thinker.get_ready(Options(hash=8), lambda: told.put("ready"))
    assert told.get(timeout=60) == "ready"
    assert searcher.sizes == [0, 4, -2, -1, -1, 0, 8, -2, -1]


def test_the_end_answers_a_wait_for_readiness() -> None:
    told: Queue[str] = Queue()
    thinker, searcher = thinker_with(told)
    thinker.get_ready(Options(), lambda: told.put("ready"))
    thinker.close()
    assert told.get_nowait() == "ready"
    assert searcher.sizes == []


def test_a_search_waits_for_readiness() -> None:
    """The time limit of a search does not run while the search waits for the engine to be ready.

    `stop` ends the wait.
    """
    told: Queue[str] = Queue()
    answers: Queue[Answer] = Queue()
    thinker = Thinker(lambda found, seconds: None, answers.put, told.put)
    thinker.get_ready(Options(), lambda: told.put("ready"))
    thinker.begin(Game.read(["startpos"]), Options(), Limits(move_time=0.01))
    with pytest.raises(Empty):
        answers.get(timeout=0.2)
    thinker.stop()
    assert answers.get(timeout=60).move is not None
    thinker.close()


def test_tables_answer_a_search_that_is_stopped_before_readiness(tables_dir: Path) -> None:
    """A search that waits for readiness, and is stopped, plays the table's move."""
    told: Queue[str] = Queue()
    answers: Queue[Answer] = Queue()
    thinker = Thinker(lambda found, seconds: None, answers.put, told.put)
    options = Options(paths=(tables_dir,), rules="check")
    thinker.get_ready(options, lambda: told.put("ready"))  # the kernels are never loaded
    thinker.begin(Game.read(["fen", *ROOK_ALONE.split()]), options, Limits(infinite=True))
    thinker.stop()
    move = answers.get(timeout=60).move
    assert told.empty(), "no note about a move without search"
    with open_tablebase(tables_dir, rules="check") as tables:
        best = tables.best_move(ROOK_ALONE)
    assert best is not None
    assert move == best.move
    thinker.close()


def test_no_timer_is_left_after_a_ponder_search() -> None:
    """The timer that `ponderhit` starts ends with the search, so it stops no later search."""
    answers: Queue[Answer] = Queue()
    thinker = Thinker(lambda found, seconds: None, answers.put, lambda text: None)
    mated = Game.read(["fen", "3Rk4/9/4P4/9/9/9/9/9/9/3K5", "b"])
    thinker.begin(mated, Options(), Limits(move_time=100.0, ponder=True))
    with pytest.raises(Empty):
        answers.get(timeout=0.2)
    thinker.ponder_hit()
    assert answers.get(timeout=60).move is None
    assert thinker._timer is not None
    assert thinker._timer.finished.is_set()
    thinker.close()


def test_readiness_waits_for_all_of_a_large_hash_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it takes, only a search that waits or the end of the engine stops it."""
    told: Queue[str] = Queue()
    thinker, searcher = thinker_with(told)

    def allocate(ended: Callable[[], bool]) -> None:
        monkeypatch.setattr("time.monotonic", count(time.monotonic() + 3600).__next__)
        told.put(f"ended: {ended()}")
        thinker._answered = False  # as if a search had begun
        told.put(f"ended: {ended()}")
        thinker._answered = True
        thinker._closed.set()
        told.put(f"ended: {ended()}")

    monkeypatch.setattr(searcher, "allocate", allocate)
    thinker.resources._loaded_proofs.set()
    thinker.get_ready(Options(hash=4), lambda: told.put("ready"))
    assert [told.get(timeout=60) for _ in range(4)] == [
        "ended: False", "ended: True", "ended: True", "ready",
    ]  # fmt: skip


def test_the_hash_table_fits_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = Allowance(1000 << 20, "free memory", 1 << 50)
    monkeypatch.setattr("tbgen.engine.resources.usable_memory", lambda: allowed)
    notes: Queue[str] = Queue()
    thinker, searcher = thinker_with(notes)
    thinker.resources._loaded_proofs.set()
    thinker.get_ready(Options(hash=4096), lambda: notes.put("ready"))
    note = notes.get(timeout=60)
    assert note == "no memory for a hash table of 4096 MiB: it has 512 MiB"
    assert notes.get(timeout=60) == "ready"
    assert searcher.sizes == [0, 512, -2, -1]


@pytest.mark.parametrize(
    ("cores", "room", "startable", "threads"),
    [
        (3, 1 << 40, 9, 3),
        (8, 170 << 20, 9, 2),
        (8, 0, 9, 1),
        (8, 1 << 40, 5, 3),
        (8, 1 << 40, 1, 1),
    ],
)
def test_threads_have_cores_memory_and_processes(
    monkeypatch: pytest.MonkeyPatch, cores: int, room: int, startable: int, threads: int
) -> None:
    """There are fewer threads than the option says if cores, addresses or processes are short."""
    monkeypatch.setattr(
        "tbgen.engine.resources.startable_threads", lambda most: min(most, startable)
    )
    monkeypatch.setattr("tbgen.engine.resources.usable_cores", lambda: cores)
    monkeypatch.setattr("tbgen.engine.resources.memory_left", lambda: (1 << 50, room))
    monkeypatch.setattr("tbgen.engine.resources.stack_bytes", lambda: 8 << 20)
    notes: Queue[str] = Queue()
    thinker, searcher = thinker_with(notes)
    thinker.resources._loaded_proofs.set()
    thinker.get_ready(Options(threads=32), lambda: notes.put("ready"))
    reason = "no cores, memory or processes for 32 threads"
    assert notes.get(timeout=60) == f"{reason}: the search has {threads}"
    assert notes.get(timeout=60) == "ready"
    assert searcher.threads == threads
    thinker.get_ready(Options(threads=32), lambda: notes.put("ready"))
    assert notes.get(timeout=60) == "ready"

"""Tables, search kernels and hash table of the engine, as the options set them.

    kernels      loaded, or compiled once on a machine, in a thread that starts after the first
                 command
    tables       opened for a search or for readiness; one that cannot be read is left out
    hash table   resized when the option changes; made smaller, with a note, if memory is short

The search thread and the wait for readiness may open tables, one at a time. One thread at a time
uses the searcher.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from tbgen.engine.options import Options
from tbgen.engine.tables import EngineTables
from tbgen.system.allowance import usable_memory
from tbgen.system.platform import memory_left, stack_bytes, trim_process, usable_cores
from tbgen.system.threads import startable_threads

if TYPE_CHECKING:
    from tbgen.engine.search.searcher import Searcher
    from tbgen.play.tablebase import GameTablebase
    from tbgen.tables.rule_sets import RuleSet

_OTHER_BYTES = 256 << 20
"""Bytes of memory that the hash table leaves to the rest of the engine."""

_THREAD_BYTES = 72 << 20
"""Bytes of address space of a search thread besides its stack: glibc's heap, and its record."""

_OTHER_THREADS = 3
"""Number of threads besides those of the search that must be able to start: that which begins a
search, that of its time limit, and a wait for readiness.
"""

_WAITS_BEFORE_NOTE = 150
"""Number of waits of 0.02 s for kernels (3 s in all) before a note that they are being compiled."""

Result = TypeVar("Result")


class Resources:
    """Tables and searcher of the engine; `on_note` is called with texts for the user."""

    def __init__(self, on_note: Callable[[str], None]) -> None:
        self._on_note = on_note
        self._tables = EngineTables()
        self._opening = threading.Lock()
        self._tables_changed = False  # whether the searcher uses other tables than the open ones
        self._searcher: Searcher | None = None
        self._loaded, self._loaded_proofs = threading.Event(), threading.Event()
        self._hash = 0
        """Option `hash` (MiB) of the hash table, which is smaller if memory was short; 0 before."""
        self._threads = 0
        """Option `threads` that the searcher uses, as far as it can; 0 before the first search."""
        self._forget = False  # whether the searcher is to be cleared before it is used again

    @property
    def tables(self) -> GameTablebase | None:
        """The open tables; None if none can be used."""
        return self._tables.tables

    def rule_set(self, options: Options) -> RuleSet:
        """Return the rule set of the open tables, else that of the options."""
        from tbgen.tables import Rules
        from tbgen.tables.rule_sets import RuleSet

        tables = self.tables
        return RuleSet(Rules(options.rules)) if tables is None else tables.rule_set

    def load(self) -> None:
        """Start to load the kernels in the background."""
        threading.Thread(target=self._load, daemon=True).start()

    def _load(self) -> None:
        """Import numba; load or compile the kernels of the search, then those of its proofs.

        An error is reported to the user: there is then no searcher, or one without proofs.
        """
        try:
            from tbgen.engine.search.searcher import Searcher

            searcher = Searcher(hash_mebibytes=1, on_note=self._on_note)
            searcher.warm_up()
            searcher.tries_proofs = False
            self._searcher = searcher
            self._loaded.set()
            # Last: only positions with few pieces need proofs. The first searcher may be in use.
            Searcher(hash_mebibytes=1).warm_up_proofs()
            searcher.tries_proofs = True
            # Arrays of a new proof then get fresh pages, which are 0, instead of being cleared.
            trim_process()
        except Exception as error:  # tables can still be used
            self._on_note(f"the search cannot be loaded: {type(error).__name__}: {error}")
        self._loaded.set()
        self._loaded_proofs.set()

    def stop(self) -> None:
        """Stop the searcher, if there is one; its stop flag stays set."""
        if self._searcher is not None:
            self._searcher.stop()

    def forget(self) -> None:
        """Let the next search clear the hash table and the counters; calls `find_tables`."""
        self._forget = True
        self.find_tables()

    def find_tables(self) -> None:
        """Let the next search open the tables again if a directory has changed."""
        self._tables.is_current = False

    def with_tables(self, options: Options, act: Callable[[], Result]) -> Result:
        """Open the tables of the options, unless they are open, and return the result of `act()`.

        If `act` raises an error of a table, a file or memory, the table that the error names is
        left out, or all tables if it names none. A note tells the user, and `act` is called again.
        Without open tables, the error is raised.
        """
        with self._opening:
            if self._tables.use(options.directories, options.rules):
                self._tables_changed = True
                for problem in self._tables.problems:
                    self._on_note(problem)
        from tbgen.tables import TablebaseError

        while True:
            try:
                return act()
            except (TablebaseError, OSError, MemoryError) as error:
                with self._opening:
                    if self.tables is None:
                        raise
                    self._on_note(self._tables.leave_out(error))
                    self._tables_changed = True

    def searcher(self, options: Options, ended: threading.Event) -> Searcher | None:
        """Wait for the kernels; return the searcher with options and tables applied.

        Returns None if `ended` is set before the kernels are loaded, or if they cannot be loaded.
        Raises the errors of `NumbaTables`.
        """
        searcher = self._wait_for(self._loaded, ended)
        if searcher is not None:
            self._set_up(searcher, options)
        return searcher

    def get_ready(
        self, options: Options, ended: threading.Event, is_awaited: Callable[[], bool]
    ) -> None:
        """Wait for all kernels, open the tables and allocate the hash table.

        Does nothing if `ended` is set before the kernels are loaded, or if those of the search
        cannot be loaded. Raises the errors of `with_tables`.

        is_awaited : returns True once the allocation must end early, since a search waits for it or
            the engine ends
        """
        # Proof kernels, too: compiling them later would delay the first answers.
        searcher = self._wait_for(self._loaded_proofs, ended)
        if searcher is not None:
            self.with_tables(options, lambda: self._set_up(searcher, options))
            searcher.allocate(is_awaited)

    def _wait_for(self, loaded: threading.Event, ended: threading.Event) -> Searcher | None:
        """Wait until the event `loaded` or `ended` is set; return the searcher if `loaded` is set.

        Returns None otherwise, and if the search cannot be loaded.
        """
        waits = 0
        while not loaded.wait(0.02) and not ended.is_set():
            waits += 1
            if waits == _WAITS_BEFORE_NOTE:
                self._on_note("compiling the search, once on this machine: about 20 s")
        return self._searcher if loaded.is_set() else None

    def _set_up(self, searcher: Searcher, options: Options) -> None:
        """Apply the options and the open tables to the searcher.

        A hash table that does not fit into the available memory is halved, down to 1 MiB, until it
        does. There is at most one thread a core, and as many as address space and system allow.
        Notes tell the user. Raises the errors of `NumbaTables`.
        """
        if options.hash != self._hash:
            searcher.resize(0)  # frees the former table's memory
            self._hash = 0  # if memory is short, the next search tries again
            self._threads = 0  # another table leaves other room for threads
            room = (usable_memory().memory - _OTHER_BYTES) >> 20
            fitting = options.hash
            while fitting > max(room, 1):
                fitting //= 2
            searcher.resize(fitting)
            self._hash = options.hash
            if fitting < self._hash:
                self._on_note(
                    f"no memory for a hash table of {self._hash} MiB: it has {fitting} MiB"
                )
        if self._forget:
            searcher.clear()
        self._forget = False
        if options.threads != self._threads:
            searcher.use_threads(1)  # ends the former threads
            room = min(memory_left()) // (stack_bytes() + _THREAD_BYTES)
            threads = max(1, min(options.threads, usable_cores(), room))
            tried = min(threads - 1 + _OTHER_THREADS, room)
            if threads > 1 and (startable := startable_threads(tried)) < tried:
                threads = max(1, 1 + startable - _OTHER_THREADS)
            searcher.use_threads(threads)
            self._threads = options.threads
            if threads < self._threads:
                self._on_note(
                    f"no cores, memory or processes for {self._threads} threads: "
                    f"the search has {threads}"
                )
        if self._tables_changed:
            from tbgen.probing import NumbaTables

            # Entries of the hash table may depend on the former tables or rules.
            searcher.clear()
            searcher.use_tables(None if self.tables is None else NumbaTables(self.tables))
            self._tables_changed = False

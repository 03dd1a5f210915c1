# mypy: allow-untyped-calls
"""Driver of the search: iterative deepening until `stop`, or a limit on depth or nodes.

Table blocks that an iteration did not find in memory are loaded before the next one. Further
threads search the same root, each in its own record. They share the hash table with the first
thread (lazy SMP), whose result is reported. Kernels run without the GIL.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import compile_lock, is_compiled, note_compiled
from tbgen.engine.search import scores, transposition
from tbgen.engine.search.prover import Prover
from tbgen.engine.search.scores import Iteration, Line
from tbgen.engine.search.state import (
    GAME_PLIES,
    MAX_PLY,
    STATE,
    Shared,
    begin,
    move_of_number,
    numbers_of_moves,
)
from tbgen.engine.search.tree import search_root
from tbgen.indexing import Move, Position
from tbgen.probing import NumbaTables, probe_board
from tbgen.rules import legal_moves
from tbgen.system.threads import thread_pool
from tbgen.tables import Rules, Tablebase
from tbgen.tables.rule_sets import RuleSet

NO_LIMIT = 1 << 62
_WINDOW, _WIDEST = 25, 1_000
"""`_WINDOW`: half-width of the first aspiration window. From half-width `_WIDEST` on, a bound that
the score has reached becomes infinite.
"""
_ALLOCATED_ENTRIES, _PAGE_ENTRIES = 1 << 20, 4096 // transposition.ENTRY_BYTES
"""Number of hash table entries that `allocate` covers between two calls of `ended` (16 MiB), and
number in a page of memory (4 KiB).
"""
_EMPTY = "3k5/9/9/9/9/9/9/9/9/4K4 w"
_EVEN_SCORE = 25
"""Largest absolute score of a line without advantage, and the largest loss of score accepted for an
easier proof (`Searcher._easier_to_prove`).
"""
_HISTORIES = ("history", "followups", "countermoves")
"""Fields of the search's record that are kept from search to search."""
_WXF = RuleSet(Rules.WXF)


@contextlib.contextmanager
def _compiling(kernels: str) -> Iterator[None]:
    """Context manager: holds the lock of the kernel cache while the body compiles kernels.

    kernels : name of the set of kernels; a set that was compiled before is loaded without the lock,
        which another process may hold for minutes
    """
    with compile_lock(held=is_compiled(kernels)):
        yield
    note_compiled(kernels)


class Searcher:
    """Driver of the search; keeps hash table and histories of moves between searches.

    Runs one search at a time. Any thread may call `stop`, also before a search begins; the stop
    flag stays set until `clear_stop`. `on_note` is called with texts for the user.
    """

    def __init__(
        self, hash_mebibytes: int = 16, on_note: Callable[[str], None] = lambda text: None
    ) -> None:
        self._on_note = on_note
        self._states = np.zeros(1, STATE)
        self._others: ThreadPoolExecutor | None = None
        self._expected: dict[int, int] = {}  # score in the last iteration, by the line's number
        self._prover = Prover()
        self.tries_proofs = True
        """Whether to try proofs; the first one compiles or loads the kernel of proofs.

        False, too, after a search had no memory for a proof.
        """
        self._preferred: Move | None = None  # last choice of `_easier_to_prove`
        self.resize(hash_mebibytes)
        self._no_tables = NumbaTables(Tablebase(rules=Rules.WXF), ())
        self._tables = self._no_tables
        # Compile the probe separately: kernels compiled within the search count no references,
        # but the probe allocates arrays.
        probe_board(self._no_tables.buffers, self._states["boards"][0, 0], 0)

    def warm_up(self) -> None:
        """Compile or load the kernels of the search; one process at a time compiles them."""
        with _compiling("search"):
            for _ in self.think([Position.from_fen(_EMPTY)], [], depth=1):
                pass

    def warm_up_proofs(self) -> None:
        """Compile or load the kernel of proofs."""
        with _compiling("proofs"):
            state = self._begin([Position.from_fen(_EMPTY)], [], _WXF)
            self._prover.warm_up(state[:1], self._tables.buffers)

    def resize(self, hash_mebibytes: int) -> None:
        """Free the hash table, then make an empty one of at most `hash_mebibytes` MiB."""
        self._table = transposition.new_table(0)
        self._table = transposition.new_table(hash_mebibytes)
        self._hash = hash_mebibytes
        self._is_allocated = False

    def allocate(self, ended: Callable[[], bool]) -> None:
        """Write to every page of a new hash table, so that the system allocates it before a search.

        Stops early once `ended()` is true. Does nothing once a search has used the table.
        """
        if not self._is_allocated:
            for first in range(0, len(self._table), _ALLOCATED_ENTRIES):
                if ended():
                    return
                self._table[first : first + _ALLOCATED_ENTRIES : _PAGE_ENTRIES] = 0
        self._is_allocated = True

    def use_threads(self, threads: int) -> None:
        """Set the number of search threads; keeps the histories of moves (`ordering`)."""
        if threads == len(self._states):
            return
        others = thread_pool(threads - 1) if threads > 1 else None
        if self._others is not None:
            self._others.shutdown()
        self._others = others
        states = np.zeros(threads, STATE)
        states[0] = self._states[0]
        self._states = states

    def clear(self) -> None:
        """Clear the hash table and the histories, and discard the last proof."""
        self.resize(self._hash)
        self._prover.forget()
        for name in _HISTORIES:
            self._states[name] = 0

    def use_tables(self, tables: NumbaTables | None) -> None:
        """Set the tables to probe in later searches, None for none; discards the last proof."""
        self._tables = tables or self._no_tables
        self._prover.forget()

    @property
    def nodes(self) -> int:
        """Nodes of the last search in all threads, including an unfinished iteration."""
        return int(self._states["nodes"].sum())

    def stop(self) -> None:
        """Stop the search at its next node, in all threads."""
        self._states["stop"] = 1

    def think(
        self,
        positions: Sequence[Position],
        moves: Sequence[Move],
        *,
        rule_set: RuleSet = _WXF,
        depth: int | None = None,
        nodes: int | None = None,
        lines: int = 1,
        only: Sequence[Move] | None = None,
        full_width: bool = False,
    ) -> Iterator[Iteration]:
        """Search the last position of a game; yields the result of each iteration.

        positions : positions of the game, oldest first
        moves : the moves between the positions
        rule_set : rule set that decides repetitions
        depth : maximum depth in plies; None for no limit
        nodes : maximum nodes of each thread; None for no limit
        lines : number of best lines (MultiPV)
        only : moves that may be played; None for all legal moves
        full_width : no reductions and no pruning

        Yields nothing if no legal move may be played. After a stop, by `stop` or by `nodes`, the
        lines of the unfinished iteration are yielded last, if there are any, and the stop flag is
        set. A win proven by `prover` ends the search; its line is one move with the score
        `PROVEN_WIN`. Raises the errors of `NumbaTables.load_wanted`.
        """
        legal = legal_moves(positions[-1])
        if only is not None:
            legal = [move for move in legal if move in only]
        if not legal:
            return
        self._is_allocated = True  # entries follow, which `allocate` must not clear
        state = self._begin(positions, moves, rule_set)
        state["node_limit"] = nodes or NO_LIMIT
        state["full_width"] = full_width
        root_moves = numbers_of_moves(legal)
        # No proof where a depth is given: a proven win may take more plies than necessary.
        proves = depth is None and only is None and lines == 1 and not full_width
        proves = proves and self.tries_proofs and rule_set.rules != Rules.NONE
        if proves:
            move = self._prover.known(state)
            if move is not None:
                yield self._iteration(1, [Line(scores.PROVEN_WIN, (move,))])
                return
            try:
                self._prover.begin(state)
            except MemoryError:
                self.tries_proofs = proves = False
                self._on_note("no memory for proofs of wins: the engine searches without them")
        self._preferred = None
        for reached in range(1, min(depth or MAX_PLY, MAX_PLY) + 1):
            self._tables.load_wanted()
            found = self._search_lines(root_moves, min(lines, len(legal)), reached)
            proven = None
            if proves and found and not scores.is_decided(found[0].score):
                proven = self._prover.continue_proof(state[:1], self._tables.buffers)
                if proven is None:
                    found = [self._easier_to_prove(found[0], reached)]
                else:
                    found = [Line(scores.PROVEN_WIN, (proven,))]
            if found:
                yield self._iteration(reached, found)
            if proven is not None or state["stop"][0]:
                return

    def _easier_to_prove(self, line: Line, depth: int) -> Line:
        """Replace the moves of an even line by a move after which a win is easier to prove.

        It is the root move with the smallest proof number, if a search to `depth` finds its score
        at most `_EVEN_SCORE` lower than the line's. The line keeps its score. If the search is
        stopped meanwhile, the move that was chosen last is used, if any.
        """
        if abs(line.score) > _EVEN_SCORE:
            return line
        state, move = self._states[:1], self._prover.least_to_prove()
        least, score = line.score - _EVEN_SCORE, -scores.INFINITE
        if move is not None and move != line.moves[0]:
            moves = numbers_of_moves([move])
            score = search_root(state, self._shared, moves, 0, depth, least - 1, least)
        if not state["stop"][0]:
            self._preferred = move if score >= least else None
        return line if self._preferred is None else Line(line.score, (self._preferred,))

    def _iteration(self, depth: int, found: Sequence[Line]) -> Iteration:
        names = ("nodes", "table_hits", "judged", "spared")
        sums = {name: int(self._states[name].sum()) for name in names}
        deepest = int(self._states["deepest"].max())
        filled = int(np.count_nonzero(self._table[:1000, 1]))
        return Iteration(depth, deepest, tuple(found), filled=filled, **sums)

    def _begin(
        self, positions: Sequence[Position], moves: Sequence[Move], rule_set: RuleSet
    ) -> NDArray[np.void]:
        """Set up the records of all threads for a search; return them, an array (threads,).

        Of the first thread's former record, `_HISTORIES` and the stop flag are kept, for all.
        """
        state = self._states[:1]
        for name in STATE.names or ():
            if name not in (*_HISTORIES, "generation", "stop"):
                state[name] = 0
        state["generation"] = (state["generation"] + 1) % 128
        self._expected.clear()
        first = max(0, len(moves) - GAME_PLIES)
        state["boards"][0, 0] = np.frombuffer(positions[first].board, np.int8)
        begin(state, numbers_of_moves(moves[first:]), int(positions[first].side))
        rules = rule_set.rules or Rules.WXF
        state["offences"], state["chase_rules"] = rules.offences, rule_set.chase_rules
        state["table_pieces"] = max((m.men for m in self._tables.materials), default=0)
        self._states[1:] = state
        return self._states

    @contextlib.contextmanager
    def _other_threads(self, root_moves: NDArray[np.int32], depth: int) -> Iterator[None]:
        """Context manager: the other threads search the root inside, and are stopped at the end.

        The first, third and so on of them search one ply deeper than `depth`.
        """
        others = self._states[1:]
        if self._others is None:
            yield
            return
        others["stop"] = self._states["stop"][0]
        tasks = []
        try:
            for i in range(len(others)):
                task = self._others.submit(
                    search_root, others[i : i + 1], self._shared, np.roll(root_moves, -i), 0,
                    depth + (i + 1) % 2, -scores.INFINITE, scores.INFINITE,
                )  # fmt: skip
                tasks.append(task)
            yield
        finally:
            others["stop"] = 1
            for task in tasks:
                task.result()

    def _search_lines(self, root_moves: NDArray[np.int32], lines: int, depth: int) -> list[Line]:
        """Search to a depth for `lines` lines; return them, best first; fewer after a stop.

        root_moves : int32 (n,), inout; the moves `source << 7 | target`; the first moves of the
            lines are moved to the front, and left out of the searches for later lines
        """
        state, found = self._states[:1], []
        for first in range(lines):
            with self._other_threads(root_moves, depth):
                score = self._search_line(root_moves, first, depth)
            length = int(state["pv_length"][0, 0])
            # A stopped search has not tried all moves, and so proves no loss.
            if length == 0 or (state["stop"][0] and score < -scores.MAX_EVALUATION):
                break
            found.append(Line(score, tuple(map(move_of_number, state["pv"][0, 0, :length]))))
            self._expected[first] = score
        return sorted(found, key=lambda line: -line.score)

    def _search_line(self, root_moves: NDArray[np.int32], first: int, depth: int) -> int:
        """Search the root moves from index `first` on, by aspiration; return the best score."""
        state, expected = self._states[:1], self._expected.get(first)
        width, low, high = _WINDOW, -scores.INFINITE, scores.INFINITE
        if expected is not None and not scores.is_decided(expected):
            low, high = expected - width, expected + width
        while True:
            score = int(search_root(state, self._shared, root_moves, first, depth, low, high))
            if state["stop"][0] or low < score < high:
                return score
            width *= 4
            if score <= low:
                low = score - width if width < _WIDEST else -scores.INFINITE
            else:
                high = score + width if width < _WIDEST else scores.INFINITE

    @property
    def _shared(self) -> Shared:
        return Shared(self._table, self._tables.buffers)

    def clear_stop(self) -> None:
        """Clear the stop flag."""
        self._states["stop"][0] = 0

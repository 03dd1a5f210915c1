"""Search thread of the engine: searches one position at a time, and can be stopped at any moment.

The answer comes from the first of these that is available:

    tables at the root     an answer at once, without numba
    the search             once its kernels are loaded; loading starts after the first command
    choice without search  if time is up before the kernels are loaded, if they cannot be compiled,
                           or after an unexpected error

Tables are opened and the hash table is allocated (`resources`) when the GUI asks for readiness
(`get_ready`), else by the next search. A search that begins during `get_ready` waits for its end.
If it is stopped while it waits, only the tables or the choice without search can answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from tbgen.engine.clock import Limits
from tbgen.engine.game import Game
from tbgen.engine.options import Options
from tbgen.engine.resources import Resources
from tbgen.engine.search import scores
from tbgen.engine.search.scores import Iteration, Line
from tbgen.engine.tables import probe_lines
from tbgen.indexing import Move, Position
from tbgen.rules import is_terminal, legal_moves
from tbgen.rules.attacks import is_attacked

if TYPE_CHECKING:
    from tbgen.engine.search.searcher import Searcher

_RESIGN_PLIES = 4
"""Maximum distance to mate, in plies, at which the losing engine resigns."""

_FALLBACK_NODES = 50_000
"""Node limit of the search to depth 1 that runs if a search was stopped before its first result."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Move to play, expected reply (`ponder`), and decisions about a draw or resignation.

    `move` is None if no legal move may be played, or if there is no valid position. `accepts_draw`:
    an offered draw is accepted. `resigns`: the engine will be mated within `_RESIGN_PLIES` plies.
    """

    move: Move | None
    ponder: Move | None = None
    accepts_draw: bool = False
    resigns: bool = False

    @classmethod
    def of_line(cls, line: Line, *, accepts_draw: bool) -> Answer:
        """Return the answer that plays the first move of a line and expects the second."""
        plies = scores.mate_plies(line.score)
        resigns = plies is not None and -_RESIGN_PLIES <= plies < 0
        move, reply = [*line.moves, None][:2]
        return cls(move, reply, accepts_draw, resigns)


class Thinker:
    """Runner of one search at a time, in a thread of its own.

    The search thread calls `on_report(iteration, seconds since the start)` for each iteration, and
    then `on_answer(answer)` once. Any thread may call `on_note(text)`, with a text for the user.
    """

    def __init__(
        self,
        on_report: Callable[[Iteration, float], None],
        on_answer: Callable[[Answer], None],
        on_note: Callable[[str], None],
    ) -> None:
        self._on_report, self._on_answer, self._on_note = on_report, on_answer, on_note
        self.resources = Resources(on_note)
        self._closed = threading.Event()
        self._preparing: threading.Thread | None = None
        self._stopped = threading.Event()
        self._may_answer = threading.Event()
        self._thread: threading.Thread | None = None
        self._answering = threading.Lock()
        self._answered = True
        self._timer: threading.Timer | None = None
        self._search_start = self._clock_start = 0.0
        """Times by `time.monotonic` from which reports and time limits count, in this order."""
        self._limits = Limits()

    def get_ready(self, options: Options, on_ready: Callable[[], None]) -> None:
        """Start a thread that runs `Resources.get_ready`, and then calls `on_ready`.

        If a search is running, nothing is prepared: `on_ready` is called at once, or after the
        thread of an earlier call.
        """
        before, is_searching = self._preparation, self.thinking
        if is_searching and before is None:
            on_ready()
            return

        def get_ready() -> None:
            if before is not None:
                before.join()
            if not is_searching:
                try:
                    self.resources.get_ready(
                        options, self._closed, lambda: self._closed.is_set() or not self._answered
                    )
                except Exception as error:  # a bug in the engine must not end the game
                    self._on_note(f"internal error: {type(error).__name__}: {error}")
            on_ready()

        self._preparing = threading.Thread(target=get_ready, daemon=True)
        self._preparing.start()

    @property
    def _preparation(self) -> threading.Thread | None:
        """Thread of `get_ready` while it runs, else None."""
        thread = self._preparing
        return thread if thread is not None and thread.is_alive() else None

    @property
    def thinking(self) -> bool:
        """Return whether a search is running; waits for one that is writing its answer."""
        with self._answering:
            return not self._answered

    def begin(self, game: Game, options: Options, limits: Limits) -> None:
        """Start a search of the game's last position; ends a running search first."""
        self.finish()
        self._stopped.clear()
        self._may_answer.clear()
        self._answered = False
        self._limits = limits
        if not (limits.infinite or limits.ponder):
            self._may_answer.set()
        preparation = self._preparation
        if preparation is None:
            self._start_clock()
        self._thread = threading.Thread(
            target=self._run, args=(game, options, preparation), daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """End the search as soon as possible, without waiting for its answer."""
        self._stopped.set()
        self._may_answer.set()
        self.resources.stop()

    def ponder_hit(self, *, draw_offered: bool = False) -> None:
        """End pondering and start the clock: the opponent has played the expected move.

        `draw_offered`: the opponent also offers a draw. Does nothing unless pondering.
        """
        if self._limits.ponder:
            draw_offered |= self._limits.draw_offered
            self._limits = replace(self._limits, ponder=False, draw_offered=draw_offered)
            self._start_clock()
            if not self._limits.infinite:
                self._may_answer.set()

    def finish(self) -> None:
        """Stop the search and wait for its answer."""
        if self._thread is not None:
            self.stop()
            self._thread.join()
            self._thread = None

    def close(self) -> None:
        """End the search and `get_ready`; return once `on_answer` and `on_ready` were called."""
        self._closed.set()
        self.finish()
        if self._preparing is not None:
            self._preparing.join()

    def _start_clock(self) -> None:
        """Start the clock now, and a timer that stops the search at the hard time limit, if any."""
        self._clock_start = time.monotonic()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        budget = self._limits.budget()
        if budget is not None and not self._limits.ponder:

            def time_up() -> None:
                if self._timer is timer:  # neither replaced, nor that of an earlier search
                    self.stop()

            self._timer = timer = threading.Timer(budget.hard, time_up)
            timer.daemon = True
            timer.start()

    def _run(self, game: Game, options: Options, preparation: threading.Thread | None) -> None:
        """Find the answer, wait until it may be written, and write it: body of the search thread.

        preparation : thread of `get_ready`, None if it does not run; the clock starts after its
            end, or once the search is stopped

        An answer waits for `stop` with `infinite`, and for `stop` or `ponder_hit` with `ponder`.
        """
        if preparation is not None:
            while preparation.is_alive() and not self._stopped.is_set():
                preparation.join(0.02)
            self._start_clock()
        is_ready = preparation is None or not preparation.is_alive()
        self._search_start = time.monotonic()
        try:
            if is_terminal(game.position):
                self._report(Iteration(0, 0, (Line(-scores.MATE, ()),), 0, 0, 0))
                answer = Answer(None)
            else:
                find = partial(self._answer, game, options, is_ready)
                answer = self.resources.with_tables(options, find)
        except Exception as error:  # a bug in the engine must not end the game
            self._on_note(f"internal error, move without search: {type(error).__name__}: {error}")
            answer = Answer(_move_without_search(game.position, self._limits.only))
        self._may_answer.wait()
        if self._timer is not None:
            self._timer.cancel()
        with self._answering:
            self._answered = True
            accepts = answer.accepts_draw and self._limits.draw_offered
            self._on_answer(replace(answer, accepts_draw=accepts))

    def _answer(self, game: Game, options: Options, searches: bool) -> Answer:
        """Return the answer of the tables, else of the search, else a move without search.

        searches : whether the position may be searched if the tables have no answer
        """
        tables = self.resources.tables
        if tables is not None:
            found = probe_lines(
                tables, game, options.multipv, self._limits.only, self._stopped.is_set
            )
            if found is not None:
                outcome, lines = found
                self._report(Iteration(1, 1, lines, 0, 1, 0))
                return Answer.of_line(lines[0], accepts_draw=outcome <= 0)
        searcher = self.resources.searcher(options, self._stopped) if searches else None
        if searcher is None:
            self._on_note("the search is not ready: move without search")
            return Answer(_move_without_search(game.position, self._limits.only))
        return self._search(searcher, game, options)

    def _search(self, searcher: Searcher, game: Game, options: Options) -> Answer:
        limits = self._limits
        self._search_start = time.monotonic()
        searcher.clear_stop()
        if self._stopped.is_set():
            searcher.stop()
        think = partial(
            searcher.think, game.positions, game.moves,
            rule_set=self.resources.rule_set(options), only=limits.only,
        )  # fmt: skip
        best = self._last(think(depth=limits.depth, nodes=limits.nodes, lines=options.multipv))
        if best is None:
            searcher.clear_stop()
            best = self._last(think(depth=1, nodes=_FALLBACK_NODES))
        if best is None:
            return Answer(_move_without_search(game.position, limits.only))
        line = best.lines[0]
        return Answer.of_line(line, accepts_draw=line.score < 0)

    def _last(self, iterations: Iterable[Iteration]) -> Iteration | None:
        """Report iterations until one passes `_is_enough`; return the last reported, or None."""
        last = None
        for last in iterations:
            self._report(last)
            if self._is_enough(last):
                break
        return last

    def _is_enough(self, found: Iteration) -> bool:
        """Return whether the search ends after an iteration: by a mate, or by the soft limit."""
        limits, budget = self._limits, self._limits.budget()
        plies = scores.mate_plies(found.lines[0].score)
        if limits.mate is not None and plies is not None and 0 < plies <= 2 * limits.mate:
            return True
        if budget is None or limits.ponder:
            return False
        is_mate = plies is not None and abs(plies) <= found.depth
        return is_mate or time.monotonic() - self._clock_start > budget.soft

    def _report(self, found: Iteration) -> None:
        self._on_report(found, time.monotonic() - self._search_start)


def _move_without_search(position: Position, only: tuple[Move, ...] | None) -> Move | None:
    """Return a legal move chosen without search, one of `only` unless that is None.

    Returns None if there is no such move. The choice is by the value of the captured piece, minus
    that of the moved piece if the opponent attacks the target.
    """

    def gain(move: Move) -> int:
        after = position.after(*move)
        if is_terminal(after):
            return 100
        lost = 0
        if is_attacked(after.board, move.target, after.side):
            lost = _PIECE_VALUES[position.board[move.source] & 7]
        return _PIECE_VALUES[position.board[move.target] & 7] - lost

    moves = [move for move in legal_moves(position) if only is None or move in only]
    return max(moves, key=gain, default=None)


_PIECE_VALUES = (0, 50, 2, 2, 9, 4, 4, 1)
"""Piece values by kind (piece code & 7); 0 for an empty square."""

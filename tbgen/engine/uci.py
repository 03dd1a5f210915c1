"""UCI in the variants that xiangqi programs use.

Squares are a0 to i9, as in most xiangqi programs. Once a GUI sets `UCI_Variant` they are a1 to i10,
as in Fairy-Stockfish. In the Cyclone dialect squares are always a0 to i9, and a position is a
command of its own (`fen F moves ...`, `startpos moves ...`); a GUI may select the dialect by
`ucicyclone` before `uci`. Every `info` line about a depth has `tbhits`, even 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from tbgen import __version__
from tbgen.engine.options import MAX_HASH, MAX_LINES, MAX_THREADS, REPETITION_RULES, RULES
from tbgen.engine.protocol import FLAGS, NUMBERS, EngineProtocol
from tbgen.engine.search import scores
from tbgen.engine.search.scores import Iteration
from tbgen.indexing import InputError, Move
from tbgen.indexing.rulesets import Rules
from tbgen.notation import parse_move


class Uci(EngineProtocol):
    """Engine side of UCI."""

    NOTE, NO_MOVE = "info string", "bestmove (none)"
    CLOCKS = (("wtime", "winc"), ("btime", "binc"))

    _cyclone = False  # True once the GUI has sent a command of the Cyclone dialect

    @property
    def notation(self) -> str:
        """Notation of moves: ranks 1 to 10 once `UCI_Variant` is set; in Cyclone always 0 to 9."""
        return "fairy" if self.options.variant and not self._cyclone else "iccs"

    def do_uci(self, words: Sequence[str]) -> None:
        """Write name, options and `uciok`."""
        options = self.options
        rules = " ".join(f"var {name}" for name in RULES)
        repetitions = " ".join(f"var {name}" for name in REPETITION_RULES)
        repetition = Rules(options.rules).terms.option
        for line in (
            f"id name tbgen {__version__}",
            "id author the authors of tbgen",
            f"option name Hash type spin default {options.hash} min 1 max {MAX_HASH}",
            "option name Clear Hash type button",
            f"option name Threads type spin default 1 min 1 max {MAX_THREADS}",
            f"option name MultiPV type spin default 1 min 1 max {MAX_LINES}",
            "option name Ponder type check default false",
            "option name UCI_Variant type combo default xiangqi var xiangqi",
            f"option name Rules type combo default {options.rules} {rules}",
            f"option name Repetition Rule type combo default {repetition} {repetitions}",
            "option name UseEGTB type check default true",
            f"option name EGTBPaths type string default {options.path_list or '<empty>'}",
            "uciok",
        ):
            self.write(line)

    def do_ucicyclone(self, words: Sequence[str]) -> None:
        """Select the Cyclone dialect, without an answer."""
        self._cyclone = True

    def do_ucinewgame(self, words: Sequence[str]) -> None:
        """Stop the search; let the next one clear hash table and move-ordering counters."""
        self.thinker.finish()
        self.thinker.resources.forget()

    def do_newgame(self, words: Sequence[str]) -> None:
        """Execute Cyclone's `newgame` as `ucinewgame`."""
        self._cyclone = True
        self.do_ucinewgame(words)

    def do_fen(self, words: Sequence[str]) -> None:
        """Execute Cyclone's `fen` as `position fen`."""
        self._cyclone = True
        self.do_position(words)

    def do_startpos(self, words: Sequence[str]) -> None:
        """Execute Cyclone's `startpos` as `position startpos`."""
        self._cyclone = True
        self.do_position(["startpos", *words])

    def do_debug(self, words: Sequence[str]) -> None:
        """Ignore the UCI commands `debug` and `register`."""

    do_register = do_debug

    def allowed_moves(self, words: Sequence[str]) -> tuple[Move, ...] | None:
        """Return the legal moves after `searchmoves`; None, for all moves, if there are none.

        The list ends at the next argument of `go`. Writes a note for a word that is no legal move.
        """
        if "searchmoves" not in words:
            return None
        only = []
        for word in words[words.index("searchmoves") + 1 :]:
            if word in NUMBERS or word in FLAGS:
                break
            try:
                only.append(parse_move(self.game.position, word, self.notation))
            except InputError as error:
                self.note(f"go: searchmoves: {error}: ignored")
        return tuple(only) or None

    def report(self, found: Iteration, seconds: float) -> None:
        """Write `info depth ... pv ...` for each line of an iteration."""
        rate = int(found.nodes / max(seconds, 0.001))
        for number, line in enumerate(found.lines, 1):
            plies = scores.mate_plies(line.score)
            if plies is None:
                score = f"cp {scores.centipawns(line.score)}"
            else:
                # UCI counts moves: a side mated in n plies has n // 2 moves left.
                score = f"mate {(plies + 1) // 2 if plies > 0 else -(-plies // 2)}"
            self.write(
                f"info depth {found.depth} seldepth {found.deepest} multipv {number} "
                f"score {score} nodes {found.nodes} nps {rate} hashfull {found.filled} "
                f"tbhits {found.table_hits} time {int(1000 * seconds)}{self.line_text(line)}"
            )

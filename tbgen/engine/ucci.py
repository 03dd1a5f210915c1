"""UCCI 3.0, the protocol of Chinese xiangqi programs.

Squares are a0 to i9, and scores are plain numbers. Times of `go` are seconds, or milliseconds if
`usemillisec` is set; times in `info` are always milliseconds. The standard option `egtbpaths` lists
table directories, separated by semicolons or as in PATH.
"""

from __future__ import annotations

from collections.abc import Sequence

from tbgen import __version__
from tbgen.engine.options import MAX_HASH, MAX_THREADS, RULES
from tbgen.engine.protocol import EngineProtocol
from tbgen.engine.search import scores
from tbgen.engine.search.scores import Iteration
from tbgen.engine.thinking import Answer
from tbgen.indexing import Move
from tbgen.notation import parse_move
from tbgen.rules import legal_moves

_MATE_SCORE = 30_000
"""Score of a mate in 0 plies; a mate in n plies is reported as `_MATE_SCORE` - n."""


class Ucci(EngineProtocol):
    """Engine side of UCCI."""

    NOTE, NO_MOVE = "info message", "nobestmove"
    _banned: tuple[Move, ...] = ()

    def do_ucci(self, words: Sequence[str]) -> None:
        """Write name, options and `ucciok`."""
        options = self.options
        rules = " ".join(f"var {name}" for name in RULES)
        for line in (
            f"id name tbgen {__version__}",
            "id author the authors of tbgen",
            "option usemillisec type check default false",
            f"option hashsize type spin min 1 max {MAX_HASH} default {options.hash}",
            f"option threads type spin min 1 max {MAX_THREADS} default 1",
            "option newgame type button",
            "option useegtb type check default true",
            f"option egtbpaths type string default {options.path_list or 'null'}",
            f"option rules type combo {rules} default {options.rules}",
            "ucciok",
        ):
            self.write(line)

    def do_position(self, words: Sequence[str]) -> None:
        """Set the game, and clear the banned moves; raises like the method of the base class."""
        super().do_position(words)
        self._banned = ()

    def do_banmoves(self, words: Sequence[str]) -> None:
        """Set the moves that must not be played from the current position.

        Raises `InputError` for a word that is no legal move; the former moves are then kept.
        """
        self._banned = tuple(parse_move(self.game.position, word, "iccs") for word in words)

    def do_stop(self, words: Sequence[str]) -> None:
        """Stop the search; answer `nobestmove` if none is running."""
        if self.thinker.thinking:
            super().do_stop(words)
        else:
            self.write("nobestmove")

    def do_probe(self, words: Sequence[str]) -> None:
        """Answer the debugging command `probe` by `pophash`, without data of the hash table."""
        self.write("pophash")

    def do_quit(self, words: Sequence[str]) -> None:
        """Stop the search and write `bye`."""
        super().do_quit(words)
        self.write("bye")

    @property
    def seconds(self) -> float:
        """Unit of the times of `go`, in seconds: 0.001 with the option `usemillisec`, else 1."""
        return 0.001 if self.options.usemillisec else 1.0

    def allowed_moves(self, words: Sequence[str]) -> tuple[Move, ...] | None:
        """Return the legal moves that are not banned; None if none is banned. Ignores `words`."""
        legal = legal_moves(self.game.position)
        return tuple(move for move in legal if move not in self._banned) if self._banned else None

    def report(self, found: Iteration, seconds: float) -> None:
        """Write `info depth D score S ... pv ...` for each line of an iteration."""
        for line in found.lines:
            plies = scores.mate_plies(line.score)
            if plies is None:
                score = scores.centipawns(line.score)
            else:
                score = _MATE_SCORE - plies if plies > 0 else -_MATE_SCORE - plies
            self.write(
                f"info depth {found.depth} score {score} time {int(1000 * seconds)} "
                f"nodes {found.nodes} tbhits {found.table_hits}{self.line_text(line)}"
            )

    def answer(self, answer: Answer) -> None:
        """Write `bestmove M [ponder M] [draw|resign]`, or `nobestmove`; `draw` accepts an offer."""
        decision = " draw" if answer.accepts_draw else " resign" if answer.resigns else ""
        self.write(self.best_move(answer) + decision)

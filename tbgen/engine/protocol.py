"""State and commands shared by both protocols: game, options, running search.

    EngineProtocol.handle(line)   ->   one method per command, `do_NAME(words)`   ->   write(line)

An invalid command is answered by a note, a line of text for the user. `write` is called once per
line, by several threads: the reader, the search, the loading of kernels, and the wait for
readiness.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tbgen.engine.clock import DEFAULT_SECONDS, Limits
from tbgen.engine.game import Game
from tbgen.engine.options import Options, integer
from tbgen.engine.search.scores import Iteration, Line
from tbgen.engine.thinking import Answer, Thinker
from tbgen.indexing import InputError, Move
from tbgen.indexing.errors import excerpt
from tbgen.notation import format_move

MAX_NUMBER = 10**18
"""Largest number in a `go` command; larger ones are clamped: the search counts in 62 bits."""
NUMBERS = {
    "depth": 1, "nodes": 1, "mate": 1, "movestogo": 0, "movetime": 0,
    "wtime": 0, "btime": 0, "winc": 0, "binc": 0, "time": 0, "increment": 0,
    "opptime": 0, "oppincrement": 0, "oppmovestogo": 1,
}  # fmt: skip
"""Numeric arguments of `go` in both protocols, with the least value of each; smaller numbers are
raised to it. The `opp...` arguments of UCCI, the opponent's clock, are not used.
"""
FLAGS = ("infinite", "ponder", "draw", "searchmoves")
"""Arguments of `go` without a number; moves follow `searchmoves`."""


class EngineProtocol:
    """Base class of `Uci` and `Ucci`, which add their own commands and formats of the output."""

    NOTE = NO_MOVE = ""
    """`NOTE`: words before each text for the user. `NO_MOVE`: the answer if there is no move."""
    CLOCKS = (("time", "increment"),) * 2
    """Names of the arguments of `go` for remaining time and increment: Red's pair, then Black's."""

    def __init__(self, write: Callable[[str], None], directories: Sequence[Path] = ()) -> None:
        self.write = write
        self.options = Options(paths=tuple(directories))
        self.game = Game.read(["startpos"])
        self._refused = False
        """Whether the last `position` was invalid, or a later line was too long (`refuse`)."""
        self.thinker = Thinker(self.report, self.answer, self.note)

    def report(self, found: Iteration, seconds: float) -> None:
        """Write the `info` lines of an iteration that ended `seconds` after the search began."""
        raise NotImplementedError

    def allowed_moves(self, words: Sequence[str]) -> tuple[Move, ...] | None:
        """Return the moves that may be played after `go` with these words; None for all moves."""
        raise NotImplementedError

    def answer(self, answer: Answer) -> None:
        """Write the answer of a finished search (`best_move`)."""
        self.write(self.best_move(answer))

    @property
    def seconds(self) -> float:
        """Seconds in one unit of the times of `go`: here 0.001."""
        return 0.001

    @property
    def notation(self) -> str:
        """Name of this protocol's notation of moves in `tbgen.notation`."""
        return "iccs"

    def handle(self, line: str) -> bool:
        """Execute a command line, or write a note if it is invalid; return False for `quit`."""
        name, *words = line.split() or [""]
        command = getattr(self, f"do_{name}", None)
        if command is not None:
            try:
                command(words)
            except (InputError, ValueError) as error:
                self.note(f"{name}: {error}")
        elif name:
            self.note(f"unknown command: {excerpt(line, 60)}")
        return name != "quit"

    def refuse(self, reason: str) -> None:
        """Write a note that gives the reason why a line was not read.

        It may have been a `position`: until a valid one, `go` is answered without a move.
        """
        self._refused = True
        self.note(reason)

    def do_isready(self, words: Sequence[str]) -> None:
        """Answer `readyok` once kernels and tables are ready (`Thinker.get_ready`)."""
        self.thinker.get_ready(replace(self.options), lambda: self.write("readyok"))

    def do_setoption(self, words: Sequence[str]) -> None:
        """Execute `setoption name N value V` or UCCI's `setoption N V`; ignore unknown names.

        A running search keeps its options. The next search opens changed tables again, and after
        the buttons `Clear Hash` and `newgame` also clears the hash table and the counters for move
        ordering. Raises `ValueError` for an invalid value.
        """
        words = list(words)
        if words[:1] == ["name"]:
            at = words.index("value") if "value" in words else len(words)
            name, value = " ".join(words[1:at]), " ".join(words[at + 1 :])
        else:
            name, value = (words or [""])[0], " ".join(words[1:])
        if name.lower().replace(" ", "") in ("clearhash", "newgame"):
            self.thinker.resources.forget()
        elif self.options.set(name, value):
            self.thinker.resources.find_tables()

    def do_position(self, words: Sequence[str]) -> None:
        """Set the current game from the words of a `position` command, or raise `InputError`."""
        self._refused = True
        self.game = Game.read(words, self.notation, self.game)
        self._refused = False

    def do_go(self, words: Sequence[str]) -> None:
        """End a running search, and start one; without a valid position, answer without a move."""
        if self._refused:
            self.thinker.finish()
            self.note("go: no position, as the last one was refused")
            self.answer(Answer(None))
            return
        self.thinker.begin(self.game, replace(self.options), self.limits(words))

    def do_stop(self, words: Sequence[str]) -> None:
        """Stop the search; its answer is then written."""
        self.thinker.stop()

    def do_ponderhit(self, words: Sequence[str]) -> None:
        """Start the clock: the expected move has been played; the word `draw` offers a draw."""
        self.thinker.ponder_hit(draw_offered="draw" in words)

    def do_quit(self, words: Sequence[str]) -> None:
        """Stop the search and all waits of `isready`; return when their answers are written."""
        self.thinker.close()

    def limits(self, words: Sequence[str]) -> Limits:
        """Parse the words after `go`; leave out invalid arguments, with a note.

        The time for the move is `DEFAULT_SECONDS` if the words give none of these: `infinite`,
        `depth`, `nodes`, `mate`, `movetime`, and the remaining time of the side to move.
        """
        found = self._numbers(words)
        times = {name: number * self.seconds for name, number in found.items()}
        clock, increment = self.CLOCKS[self.game.position.side]
        infinite = "infinite" in words
        if not infinite and found.keys().isdisjoint({"depth", "nodes", "mate", "movetime", clock}):
            times["movetime"] = DEFAULT_SECONDS
        return Limits(
            depth=found.get("depth"),
            nodes=found.get("nodes"),
            mate=found.get("mate"),
            move_time=times.get("movetime"),
            remaining=times.get(clock),
            increment=times.get(increment, 0.0),
            moves_to_go=found.get("movestogo"),
            infinite=infinite,
            ponder="ponder" in words,
            draw_offered="draw" in words,
            only=self.allowed_moves(words),
        )

    def _numbers(self, words: Sequence[str]) -> dict[str, int]:
        """Parse the numeric arguments of a `go` command; return the numbers by name, clamped.

        Writes a note for an argument without its number, and for an unknown word.
        """
        found, last = {}, ""
        for name, text in zip(words, [*words, ""][1:], strict=True):
            if name in NUMBERS and (name, text) != ("depth", "infinite"):
                try:
                    found[name] = min(max(NUMBERS[name], integer(text)), MAX_NUMBER)
                except ValueError as error:
                    self.note(f"go: {name}: {error}: ignored")
            if name in NUMBERS or name in FLAGS:
                last = name
            elif last in NUMBERS:
                last = ""
            elif last != "searchmoves":
                self.note(f"go: {excerpt(name, 20)} is unknown: ignored")
        return found

    def note(self, text: str) -> None:
        """Write a line of text for the user, such as a warning."""
        self.write(f"{self.NOTE} {' '.join(text.split())}")

    def best_move(self, answer: Answer) -> str:
        """Return `bestmove M [ponder M]`, or `NO_MOVE`."""
        if answer.move is None:
            return self.NO_MOVE
        ponder = f" ponder {self.moves_text([answer.ponder])}" if answer.ponder else ""
        return f"bestmove {self.moves_text([answer.move])}{ponder}"

    def line_text(self, line: Line) -> str:
        """Return the moves of a line as ` pv M ...`; empty for a line without moves."""
        return f" pv {self.moves_text(line.moves)}" if line.moves else ""

    def moves_text(self, moves: Sequence[Move]) -> str:
        """Format moves played from the current position, in the protocol's notation."""
        position = self.game.position
        return " ".join(format_move(position, move, self.notation) for move in moves)

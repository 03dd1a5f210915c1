"""Tables whose `best_move` is chosen by a mock engine in a process.

The mock engine (tests/probing/mock_engine.cpp) probes tables through contrib/adapter.h.
`EngineTables` replaces a tablebase in the games of `tests.helpers.play`.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Self

from tbgen.indexing import Position
from tbgen.play.preference import RootMove
from tbgen.play.repetition import move_between
from tbgen.play.tablebase import GameTablebase
from tbgen.tables.rule_sets import RuleSet


class MockEngine:
    """A running mock engine, which searches to `depth` plies and probes tables in a directory."""

    def __init__(self, program: Path, rule_set: RuleSet, depth: int, directory: Path) -> None:
        self._process = subprocess.Popen(
            [str(program), str(rule_set), str(depth), str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, game: Sequence[Position]) -> dict[str, str]:
        """Search the last position of a game (positions, oldest first), and return the answer.

        The answer has texts by keyword: `bestmove` (ICCS, or `(none)` without further keywords),
        `score`, `tbhits`, and `root` (`1` if tables ranked the moves of the root, else `0`).
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        words = game[0].fen.split()[:2]
        for before, after in pairwise(game):
            move = move_between(before, after)
            assert move is not None
            words.append(move.iccs)
        self._process.stdin.write(" ".join(words) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().split()
        return dict(zip(answer[::2], answer[1::2], strict=True))


class EngineTables(GameTablebase):
    """Tablebase whose `best_move` returns the move of the mock engine `engine`."""

    engine: MockEngine

    def best_move(self, position: Position, history: Sequence[Position] = ()) -> RootMove | None:
        chosen = self.engine.ask([*history, position])["bestmove"]
        moves = {move.move.iccs: move for move in self.probe_root(position)}
        return None if chosen == "(none)" else moves[chosen]

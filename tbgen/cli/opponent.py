"""Opponent on the board for positions without a table: the engine, in a process of its own.

    start, moves  ->  UCCI  ->  `tbgen engine`  ->  a move

The process starts with the first request and ends with the server. If it does not answer in time,
it is killed, and the next request starts another one.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, Queue

from tbgen.board.knowledge.puzzles import NoReplyError
from tbgen.indexing import Move, Position
from tbgen.system.platform import OWN_GROUP, python_command

THINKING_SECONDS = 1.0

REPLY_SECONDS = 8.0
"""Seconds to wait for a line of the engine, less than `tbgen.board.web.http.ANSWER_SECONDS`."""


class Opponent:
    """Thread-safe callable that returns the engine's move.

    directory : directory of the engine's tables
    rules : name of the rules under which the engine plays
    """

    def __init__(self, directory: Path, rules: str) -> None:
        self._command = python_command("-m", "tbgen", "engine", "--tables", str(directory))
        self._rules = rules
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._output: Queue[str] = Queue()

    def __call__(self, start: Position, moves: Sequence[Move]) -> Move:
        """Return the engine's move after `moves` from `start`.

        Raises `NoReplyError` if the engine cannot be started, has no move, or answers too late.
        """
        game = f"position fen {start.fen}"
        if moves:
            game += f" moves {' '.join(move.iccs for move in moves)}"
        with self._lock:
            try:
                self._begin()
                self._send(game, f"go time {1000 * THINKING_SECONDS:.0f} movestogo 1")
                words = self._answer().split()
            except (OSError, Empty) as error:
                self._end()
                raise NoReplyError("the engine does not answer", "try again") from error
        if words[:1] != ["bestmove"]:
            raise NoReplyError("the engine does not answer", "try again")
        return Move.from_iccs(words[1])

    def close(self) -> None:
        """End the engine's process."""
        with self._lock:
            self._end()

    def _begin(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, **OWN_GROUP,
        )  # fmt: skip
        self._output = Queue()
        threading.Thread(
            target=_listen, args=(self._process, self._output), name="tbgen-engine", daemon=True
        ).start()
        self._send("ucci", "setoption usemillisec true", f"setoption rules {self._rules}")

    def _send(self, *lines: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{line}\n" for line in lines))
        self._process.stdin.flush()

    def _answer(self) -> str:
        """Return the line that ends the search; raises `queue.Empty` after `REPLY_SECONDS`."""
        while True:
            line = self._output.get(timeout=REPLY_SECONDS)
            if line.startswith(("bestmove", "nobestmove")):
                return line

    def _end(self) -> None:
        if self._process is None:
            return
        # The context closes the pipes, which fails if a command is still to be sent.
        with contextlib.suppress(OSError), self._process:
            self._process.kill()
            self._process.wait()
        self._process = None


def _listen(process: subprocess.Popen[str], output: Queue[str]) -> None:
    assert process.stdout is not None
    with contextlib.suppress(ValueError, OSError):
        for line in process.stdout:
            output.put(line)

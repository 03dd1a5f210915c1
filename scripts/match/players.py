"""Engines as processes: one class per protocol, with one method to ask for a move.

    open_player("uci:tbgen-engine", {"Hash": "64"})  ->  Player
    Player.choose(start, moves, limit)               ->  a move, or None if the engine has none

Protocols are UCI, UCCI and xboard's (CECP). UCI engines number ranks from 0, or from 1 if they have
the option UCI_Variant. If an engine does not answer in time, or ends, methods raise `PlayerError`;
for an illegal move `choose` raises `InputError`, for a limit that the protocol lacks `ValueError`.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import resource
import shlex
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tbgen.indexing import START_FEN, Move, Position, Side
from tbgen.notation import format_move, parse_move

REPLY_SECONDS = 60.0
"""Seconds by which an engine may exceed its limit: it may have to compile kernels first.

An answer over CECP may take so many seconds in all.
"""


class PlayerError(Exception):
    """Raised if an engine does not start or answer, or has ended, and for options of CECP."""


class Clock(NamedTuple):
    """Seconds left to each side for a game, and the seconds that each move adds."""

    red: float
    black: float
    increment: float

    def after(self, side: Side, seconds: float) -> Clock:
        """Return the clock after a side has used `seconds` for a move, with the increment added."""
        left = seconds - self.increment
        if side == Side.RED:
            return self._replace(red=self.red - left)
        return self._replace(black=self.black - left)


@dataclass(frozen=True, slots=True)
class Limit:
    """Limit of a search: seconds, nodes or plies (`depth`) for a move, or a clock for the game.

    The engine gets the first given of clock, seconds, nodes, depth; over CECP of seconds, depth.
    """

    seconds: float | None = None
    nodes: int | None = None
    depth: int | None = None
    clock: Clock | None = None


class Player:
    """Engine process that reads and writes lines; the base class of the protocols."""

    def __init__(self, command: Sequence[str]) -> None:
        self.name = command[0].rpartition("/")[2]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, errors="replace",
        )  # fmt: skip
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.failed = False
        """True once the engine has ended, or failed to answer; it cannot play another game."""
        self.table_moves = 0
        """Number of moves for which the engine reported positions in tables."""
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.strip())
        self._lines.put(None)

    def send(self, line: str) -> None:
        """Send a line to the engine; raises `PlayerError` if it has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._failure("has ended") from None

    def read_until(self, *words: str, seconds: float = REPLY_SECONDS) -> list[str]:
        """Read the engine's output up to the first line that begins with one of `words`.

        Returns the lines read, that one included. Raises `PlayerError` after `seconds` without such
        a line, or if the engine has ended.
        """
        lines: list[str] = []
        until = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise self._failure(f"says no {' or '.join(words)}") from None
            if line is None:
                raise self._failure("has ended")
            lines.append(line)
            if line.startswith(words):
                return lines

    def _failure(self, what: str) -> PlayerError:
        """Mark the engine as failed; return the error to raise, with the text "NAME `what`"."""
        self.failed = True
        return PlayerError(f"{self.name} {what}")

    def greet(self, options: Mapping[str, str]) -> None:
        """Begin the conversation, and set options; raises `PlayerError` if that fails."""
        raise NotImplementedError

    def begin(self) -> None:
        """Tell the engine that a new game begins."""
        raise NotImplementedError

    def choose(self, start: Position, moves: Sequence[Move], limit: Limit) -> Move | None:
        """Return the engine's move after `moves` from `start`; None if the engine gives up."""
        raise NotImplementedError

    def cpu_seconds(self) -> float:
        """Return the processor time of the process so far in seconds (Linux only)."""
        stat = Path(f"/proc/{self._process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> float:
        """End the process, and return the processor time that it used, in seconds."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with contextlib.suppress(PlayerError):
            self.send("quit")
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Uci(Player):
    """Player over UCI.

    For an engine with the option UCI_Variant, the option is set to xiangqi, and moves number ranks
    from 1; otherwise from 0.
    """

    HELLO, READY, NEW_GAME = "uci", "uciok", "ucinewgame"

    def greet(self, options: Mapping[str, str]) -> None:
        """Learn the engine's name and notation, and set options."""
        self.send(self.HELLO)
        lines = self.read_until(self.READY)
        self._notation = "iccs"
        for line in lines:
            if line.startswith("id name "):
                self.name = line.removeprefix("id name ")
            if line.startswith("option name UCI_Variant "):
                self._notation = "fairy"
                self.send(self.set_option("UCI_Variant", "xiangqi"))
        for name, value in options.items():
            self.send(self.set_option(name, value))

    def set_option(self, name: str, value: str) -> str:
        """Return the line that sets an option."""
        return f"setoption name {name} value {value}"

    def begin(self) -> None:
        """Begin a new game, and wait until the engine is ready."""
        self.send(self.NEW_GAME)
        self.send("isready")
        self.read_until("readyok")

    def choose(self, start: Position, moves: Sequence[Move], limit: Limit) -> Move | None:
        """Start a search, and return the move of the engine's `bestmove`; None if it has none."""
        position, words = start, []
        for move in moves:
            words.append(format_move(position, move, self._notation))
            position = position.after(*move)
        played = f" moves {' '.join(words)}" if words else ""
        self.send(f"position fen {start.fen}{played}")
        self.send(self.go(limit))
        longest = max(limit.clock or (limit.seconds or 0.0,)) + REPLY_SECONDS
        lines = self.read_until("bestmove", "nobestmove", seconds=longest)
        self.table_moves += any(re.search(r" tbhits [1-9]", line) for line in lines)
        text = lines[-1].split()[1:2]
        if not text or text[0] in ("(none)", "0000"):
            return None
        return parse_move(position, text[0], self._notation)

    def go(self, limit: Limit) -> str:
        """Return the line that starts a search with a limit."""
        if limit.clock is not None:
            red, black, each = (max(1, round(1000 * seconds)) for seconds in limit.clock)
            return f"go wtime {red} btime {black} winc {each} binc {each}"
        if limit.seconds is not None:
            return f"go movetime {max(1, round(1000 * limit.seconds))}"
        if limit.nodes is not None:
            return f"go nodes {limit.nodes}"
        return f"go depth {limit.depth}"


class Ucci(Uci):
    """Player over UCCI 3.0; times are in milliseconds."""

    HELLO, READY, NEW_GAME = "ucci", "ucciok", "setoption newgame"

    def greet(self, options: Mapping[str, str]) -> None:
        """Learn the engine's name, and set options; times are in milliseconds."""
        super().greet({"usemillisec": "true", **options})

    def set_option(self, name: str, value: str) -> str:
        """Return the line that sets an option."""
        return f"setoption {name} {value}"

    def go(self, limit: Limit) -> str:
        """Return the line that starts a search with a limit.

        Seconds become a clock for a single move. Raises `ValueError` for a clock of a whole game.
        """
        if limit.clock is not None:
            raise ValueError("clocks of whole games are for UCI engines alone")
        if limit.seconds is not None:
            return f"go time {max(1, round(1000 * limit.seconds))} movestogo 1"
        return super().go(limit)


class Cecp(Player):
    """Player over xboard's protocol (CECP), version 2; limits of seconds are rounded to whole ones.

    Takes no options.
    """

    def greet(self, options: Mapping[str, str]) -> None:
        """Learn the engine's name and features; raises `PlayerError` for any option."""
        if options:
            raise PlayerError("options of CECP engines cannot be set")
        self.send("xboard")
        self.send("protover 2")
        self._move_word, self._answers_pings = "", False
        self._played = 0
        line = ""
        with contextlib.suppress(PlayerError):  # older engines do not answer
            while "done=1" not in line:
                line = self.read_until("feature", seconds=2)[-1]
                if 'myname="' in line:
                    self.name = line.partition('myname="')[2].partition('"')[0]
                if "usermove=1" in line:
                    self._move_word = "usermove "
                if "ping=1" in line:
                    self._answers_pings = True
        self.failed = False

    def begin(self) -> None:
        """Begin a new game, in which the engine moves only when `choose` asks for a move."""
        for line in ("new", "variant xiangqi", "easy", "nopost", "force"):
            self.send(line)
        self._played = 0

    def choose(self, start: Position, moves: Sequence[Move], limit: Limit) -> Move | None:
        """Send the moves played since the previous call, and return the engine's move.

        None if the engine resigns or claims a result. The command `setboard` is left out for a game
        from the opening array, since some engines cannot read a FEN. Raises `ValueError` for a
        limit without seconds and plies.
        """
        if self._played == 0 and start.fen != START_FEN:
            self.send(f"setboard {start.fen}")
        for move in moves[self._played :]:
            self.send(f"{self._move_word}{move.iccs}")
        self._settle()
        if limit.seconds is not None:
            self.send(f"st {max(1, round(limit.seconds))}")
        elif limit.depth is not None:
            self.send(f"sd {limit.depth}")
        else:
            raise ValueError("CECP engines take seconds for a move, or plies")
        self.send("go")
        answer = self.read_until("move ", "resign", "1-0", "0-1", "1/2-1/2")[-1]
        self.send("force")
        self._played = len(moves) + 1
        if not answer.startswith("move "):
            return None
        position = start
        for move in moves:
            position = position.after(*move)
        return parse_move(position, answer.split()[1], "iccs")

    def _settle(self) -> None:
        """Discard the lines that the engine has sent so far, such as a claimed result."""
        if self._answers_pings:
            self.send("ping 1")
            self.read_until("pong 1")
        while not self._lines.empty():
            self._lines.get()


PROTOCOLS = {"uci": Uci, "ucci": Ucci, "cecp": Cecp}


def open_player(text: str, options: Mapping[str, str] | None = None) -> Player:
    """Start an engine, given as `PROTOCOL:COMMAND`, and return its player.

    Raises `PlayerError` for other text, a command that cannot be started, options of a CECP engine,
    and a UCI or UCCI engine that does not answer.
    """
    protocol, _, command = text.partition(":")
    if protocol not in PROTOCOLS or not command:
        raise PlayerError(f"an engine is PROTOCOL:COMMAND with uci, ucci or cecp, not {text}")
    try:
        player = PROTOCOLS[protocol](shlex.split(command))
    except OSError as error:
        raise PlayerError(f"{command}: {error.strerror}") from None
    try:
        player.greet(options or {})
    except PlayerError:
        player.close()
        raise
    return player


def open_players(*engines: tuple[str, Mapping[str, str]]) -> list[Player]:
    """Start engines as `open_player` does; if one cannot be started, those before it are ended."""
    players: list[Player] = []
    try:
        for text, options in engines:
            players.append(open_player(text, options))
    except PlayerError:
        for player in players:
            player.close()
        raise
    return players

"""Run the installed commands as a user does: single commands, engines, and servers."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = Path(sys.executable).parent
TBGEN = PROGRAMS / "tbgen"
ENGINE = PROGRAMS / "tbgen-engine"

ANSWER_SECONDS = 180.0
"""Timeout of a line of the engine, with time to compile the kernels on a busy machine."""

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

NOBODY = "65534"
AS_NOBODY: list[Any] = [
    "setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups",
    "--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search",
]  # fmt: skip
"""Command prefix that runs a command as user `nobody`, with read access to all files."""

UNPRIVILEGED: list[Any] = []
"""Command prefix that makes file permissions hold for root, too; empty for other users."""

if os.getuid() == 0:
    UNPRIVILEGED = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


ENDS_WITH_PARENT: list[Any] = []
"""Command prefix that runs a command until the thread that starts it ends.

A server then also ends if its test process is killed. Empty except on Linux with setpriv.
"""

if sys.platform == "linux" and shutil.which("setpriv"):
    ENDS_WITH_PARENT = ["setpriv", "--pdeathsig", "TERM"]


def restore_signals() -> None:
    """Restore the default handlers of the signals `STOPS`, in a child process."""
    for stop in STOPS:
        signal.signal(stop, signal.SIG_DFL)


def start(*arguments: str | Path, path: Path | None = None) -> subprocess.Popen[str]:
    """Start `tbgen` with pipes as its streams; `path`, if given, becomes PYTHONPATH."""
    return subprocess.Popen(
        [sys.executable, "-m", "tbgen", *map(str, arguments)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | ({} if path is None else {"PYTHONPATH": str(path)}),
        preexec_fn=restore_signals,
    )  # fmt: skip


def run(
    *command: object,
    status: int = 0,
    text: str | None = None,
    folder: Path | None = None,
    environment: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; check its exit status, and that it prints no traceback.

    The command uses its default kernel cache, not that of this process.

    status : expected exit status
    text : standard input
    folder : working directory
    environment : variables added to those of this process
    """
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        list(map(str, command)), input=text, capture_output=True, text=True, cwd=folder,
        env=inherited | (environment or {}),
    )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr[-2000:]
    return done


def answer(*command: object, status: int = 0) -> Any:
    """Run a command with `--json`, and return the one JSON object that it prints."""
    return json.loads(run(*command, "--json", status=status).stdout)


@contextmanager
def served(tables: Path, *options: str, program: Path = TBGEN) -> Iterator[str]:
    """Yield the address, without a trailing slash, of a running server of tables.

    The options are added to the command. At the end of the `with` block the server gets SIGINT
    (Ctrl-C), and must report the interruption in the last line of standard error.
    """
    command = [program, "serve", "--tables", tables, "--port", "0", "--no-open", "--json", *options]
    with subprocess.Popen(
        list(map(str, [*ENDS_WITH_PARENT, *command])),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield json.loads(line)["url"].rstrip("/")
        finally:
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        assert errors.splitlines()[-1:] == ["error: interrupted"], errors


class Engine:
    """Process of `tbgen-engine` that speaks UCI or UCCI.

    `said` has all lines that `hear` has received.

    protocol : "uci" or "ucci"
    tables : directory of tables set by an option of the protocol; None to set none
    command : command line of the engine
    named : directory in the variable TBGEN_TABLES, which is empty for None
    line_end : end of each line sent
    """

    def __init__(
        self,
        protocol: str,
        tables: Path | None = None,
        command: Sequence[object] = (ENGINE,),
        *,
        named: Path | None = None,
        line_end: str = "\n",
    ) -> None:
        self.protocol = protocol
        self.said: list[str] = []
        self._line_end = line_end
        self._process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TBGEN_TABLES": str(named or "")},
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        option = "setoption name EGTBPaths value" if protocol == "uci" else "setoption egtbpaths"
        self.say(protocol, *([f"{option} {tables}"] if tables else []))
        self.hear(f"{protocol}ok")

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip())

    def say(self, *lines: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("".join(line + self._line_end for line in lines))
        self._process.stdin.flush()

    def hear(self, word: str) -> list[str]:
        """Return the next output lines, up to and including the first that begins with `word`.

        Raises `queue.Empty` if the engine is silent for `ANSWER_SECONDS`.
        """
        heard: list[str] = []
        while not heard or not heard[-1].startswith(word):
            heard.append(self._lines.get(timeout=ANSWER_SECONDS))
        self.said += heard
        return heard

    def move(self, fen: str, played: list[str], limit: str = "nodes 2000") -> tuple[str, list[str]]:
        """Let the engine choose a move in a game; return the move, and the output lines before it.

        fen : first position of the game: `startpos`, or a FEN after the word `fen`
        played, limit : the game's moves as ICCS; arguments of the protocol's command `go`
        """
        moves = f" moves {' '.join(played)}" if played else ""
        self.say(f"position {fen}{moves}", f"go {limit}")
        heard = self.hear("bestmove")
        return heard[-1].split()[1], heard[:-1]

    def notes(self) -> list[str]:
        """Return the notes among the lines `said`: `info string` (UCI) or `info message` (UCCI)."""
        return [line for line in self.said if line.startswith(("info string", "info message"))]

    def close(self) -> None:
        """End the process by `quit`; check that it wrote no errors, and that its status is 0."""
        assert self._process.stderr is not None
        self.say("quit")
        assert (self._process.stderr.read(), self._process.wait(60)) == ("", 0)

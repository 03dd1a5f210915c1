"""Try the commands of tbgen with a Python for Windows, on Windows or under Wine.

    python scripts/certify/windows.py
    python3 scripts/certify/windows.py --python "wine PATH/python.exe"

The Python that is tried needs tbgen with the extra `web`; the one that runs this script needs
nothing. Tables of at most four men are built by two processes, proven, published and fetched; a
build is killed and resumed; the engine plays, and the board answers. Digests are compared with the
packaged list. Prints a line for each step, and ends with exit status 1 at the first that fails.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

FEN = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"
LARGE = "KRNKR"
"""Material whose build is killed: its build takes some seconds."""

STEP_SECONDS, KILLED_AFTER = 900, 0.3
"""Most seconds of a step; seconds after which the build is killed, counted from its first line."""


class Tried:
    """The program `tbgen` of one Python, in one directory."""

    def __init__(self, python: list[str], directory: Path) -> None:
        self._python, self._directory = python, directory

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command, with pipes for its input and for all its output."""
        return subprocess.Popen(
            [*self._python, "-m", "tbgen", *arguments], cwd=self._directory, text=True,
            encoding="utf-8", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )  # fmt: skip

    def run(self, *arguments: str, expected: str, typed: str = "") -> None:
        """Run a command with some input; end the script if its output lacks `expected`."""
        started = time.monotonic()
        output, _ = self.start(*arguments).communicate(typed, timeout=STEP_SECONDS)
        if expected not in output:
            sys.exit(f"{output}\nfailed: tbgen {shlex.join(arguments)}: no {expected!r}")
        seconds = time.monotonic() - started
        print(f"{seconds:6.1f} s  tbgen {shlex.join(arguments)}: {expected}", flush=True)

    def kill(self, *arguments: str) -> None:
        """Start a command, and kill it soon after its first line of output."""
        with self.start(*arguments) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(KILLED_AFTER)
            process.kill()
        print(f"          tbgen {shlex.join(arguments)}: killed", flush=True)

    def serve(self, *arguments: str) -> None:
        """Start the board, ask it for a position, and end it; a wrong answer ends the script."""
        with self.start("serve", "--port", "0", "--no-open", *arguments) as process:
            assert process.stdout is not None
            try:
                address = process.stdout.readline().split()[-1]
                query = f"{address}v1/probe?fen={FEN.replace(' ', '_')}"
                with urllib.request.urlopen(query, timeout=STEP_SECONDS) as answer:
                    outcome = json.load(answer)["outcome"]
            finally:
                process.kill()
        if outcome != "loss":
            sys.exit(f"failed: the board answers {outcome}")
        print(f"          the board answers: {outcome}", flush=True)


def main() -> None:
    """Run all steps in a temporary directory."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--python", default="", help="Command of the Python to try.")
    python = shlex.split(parser.parse_args().python) or [sys.executable]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        tried = Tried(python, Path(name))
        tried.run("doctor", expected="Windows")
        tried.run("build", "--men", "4", "--jobs", "2", expected="40 tables: 40 built")
        tried.run("verify", "--digests", expected="40 tables: 40 as listed")
        tried.run("verify", "--men", "4", "--closure", "--jobs", "2", expected="40 proven")
        tried.run("verify", "KRKN", "--closure", expected="3 proven by certificate")
        tried.run("probe", FEN, expected="loses by perpetual check, order 1, in 1 ply")
        tried.run("judge", FEN, "d2b1", "d0d1", "b1c3", "d1d0", "c3b1", expected="Black")
        tried.run("pack", "--men", "4", "--out", "packed", expected="40 files")
        tried.run("index", "--dense", expected="index.json: 80 files")
        tried.run("fetch", "KRKN", "--from", "egtb", "--tables", "copy", expected="6 fetched")
        tried.run("ls", "--check", "--tables", "copy", expected="3 tables, 3 of them proven")
        tried.run("build", "KRKN", "--force", "--memory", "300MiB", expected="1 built")
        tried.kill("build", LARGE, "--save-state", "1")
        tried.run("build", LARGE, expected=f"{LARGE}.wxf.dtm: ")
        tried.run("verify", LARGE, "--digests", expected="as listed")
        game = f"uci\nisready\nposition fen {FEN}\ngo depth 4\nposition startpos\ngo depth 6\n"
        tried.run("engine", expected="bestmove", typed=f"{game}isready\nquit\n")
        tried.serve()
    print("all as on other systems")


if __name__ == "__main__":
    main()

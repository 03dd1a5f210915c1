"""Compile and run programs of the C reader, each compiled once per test run.

The sources are contrib/ and the test programs (harnesses) in tests/probing. A harness reads records
of 91 bytes: a side to move and ninety piece codes. For each it writes an answer of four numbers:
status (`xq_status`, 0 for success), outcome, order, plies (tests/probing/xqprobe_harness.c).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.helpers.boards import Boards
from tests.helpers.paths import ROOT
from tests.helpers.shared import once

CONTRIB = ROOT / "contrib"
READER = [CONTRIB / "xqprobe.c", CONTRIB / "xqgame.c"]
HARNESS = ROOT / "tests" / "probing" / "xqprobe_harness.c"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
THREADS = ("-O1", "-g", "-fsanitize=thread")
ADDRESSES = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
CACHE = str(8 << 20)


@cache
def missing_tool() -> str | None:
    """Return a message that names a missing tool of the C reader; None if all are installed."""
    if shutil.which("gcc") is None:
        return "gcc is not installed"
    trial = "#include <zstd.h>\nint main(void) { return ZSTD_versionNumber() == 0; }\n"
    command = ["gcc", "-x", "c", "-", "-lzstd", "-o", "/dev/null"]
    if subprocess.run(command, input=trial.encode(), capture_output=True).returncode:
        return "the headers of zstd are not installed (libzstd-dev)"
    return None


needs_c = pytest.mark.skipif(missing_tool() is not None, reason=str(missing_tool()))
needs_cxx = pytest.mark.skipif(
    missing_tool() is not None or shutil.which("g++") is None or shutil.which("make") is None,
    reason=missing_tool() or "g++ or make is not installed",
)


def _compile(compiler: Sequence[str], sources: Sequence[Path], program: Path) -> None:
    """Compile sources to `program`, by a compiler command with options; warnings are errors."""
    command = [*compiler, *STRICT, *map(str, sources), "-lzstd", "-pthread", "-o", str(program)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def compiled(name: str, sources: tuple[Path, ...], *flags: str) -> Path:
    """Compile C99 sources with options, once per test run, and return the program's path.

    The program's file name is `name` and a checksum of the sources' paths and the options.
    """
    number = zlib.crc32(repr((sources, flags)).encode())
    compiler = ["gcc", "-std=c99", *flags]
    return once(f"{name}-{number}", lambda program: _compile(compiler, sources, program))


def harness(name: str = "harness", *flags: str) -> Path:
    """Return the path of xqprobe_harness.c, `compiled` with the C reader, by default with `-O2`."""
    return compiled(name, (HARNESS, *READER), *(flags or ("-O2",)))


def library() -> Path:
    """Return a folder with the libraries built by the Makefile of contrib/."""

    def build(folder: Path) -> None:
        folder.mkdir()
        make("all", f"OUT={folder}")

    return once("library", build)


def mock_engine() -> Path:
    """Return the path of the mock engine, which calls contrib/adapter.h as real engines do."""
    sources = [ROOT / "tests" / "probing" / "mock_engine.cpp", CONTRIB / "adapter.cpp"]
    sources.append(library() / "libxqprobe.a")
    compiler = ["g++", "-std=c++17", "-O2"]
    return once("mock_engine", lambda program: _compile(compiler, sources, program))


def adapter_threads() -> Path:
    """Return the path of a program that probes in threads while tables change.

    Compiled with the thread sanitizer.
    """
    sources = [ROOT / "tests" / "probing" / "adapter_threads.cpp", CONTRIB / "adapter.cpp"]
    sources += [amalgamation() / "xqprobe.cpp"]
    compiler = ["g++", "-std=c++17", *THREADS]
    return once("adapter_threads", lambda program: _compile(compiler, sources, program))


def amalgamation() -> Path:
    """Return a folder with the single-file reader, as xqprobe.c and as xqprobe.cpp."""

    def build(folder: Path) -> None:
        command = [sys.executable, str(CONTRIB / "amalgamate.py"), str(folder)]
        subprocess.run(command, check=True)
        shutil.copy(folder / "xqprobe.c", folder / "xqprobe.cpp")

    return once("amalgamation", build)


def make(*arguments: str, umask: int = -1) -> None:
    """Run the Makefile of contrib/, with warnings as errors; `umask` -1 is that of this process."""
    strict = f"STRICT={' '.join(STRICT)}"
    command = ["make", "-s", "-C", str(CONTRIB), strict, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, umask=umask)
    assert result.returncode == 0, result.stderr


def run(program: Path, *arguments: str | Path, records: bytes) -> bytes:
    """Run a program that reads records, check that its exit status is 0, and return its output."""
    command = [str(program), *map(str, arguments)]
    result = subprocess.run(command, input=records, capture_output=True)
    assert result.returncode == 0, result.stderr.decode()[-2000:]
    return result.stdout


def refused(harness: Path, path: Path) -> str:
    """Run the harness on a file that the reader must refuse within 20 seconds.

    Returns the reader's error message, without the file's path.
    """
    command = [harness, "probe", "none", CACHE, path]
    result = subprocess.run(command, input=b"", capture_output=True, timeout=20)
    assert result.returncode == 1
    return result.stderr.decode().removeprefix(f"{path}: ").strip()


def records_of(boards: Boards, side: int) -> bytes:
    """Return boards uint8 (n, 90) as records, all with one side to move (0 Red, 1 Black)."""
    return np.insert(boards, 0, side, axis=1).tobytes()


def answers_of(output: bytes) -> NDArray[np.int32]:
    """Parse the harness's answers to n records: int32 (n, 4) of status, outcome, order, plies."""
    return np.frombuffer(output, "<i4").reshape(-1, 4)


def results_of(output: bytes) -> NDArray[np.int32]:
    """Parse the output of the harness in its mode `mutants`, one row per file: int32 (n, 5).

    Columns: status of adding the file, number of answers that are errors, number of answers that
    differ from those of the first file, CPU microseconds, KiB of additional memory at the peak. An
    incomplete row at the end is left out.
    """
    return np.frombuffer(output[: len(output) // 20 * 20], "<i4").reshape(-1, 5)

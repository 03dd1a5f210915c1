"""Programs of the C reader, compiled once per run, and what they read and write.

The sources are contrib/ and the harnesses of tests/probing; records are a side and ninety piece
codes, answers four numbers (tests/probing/tbprobe_harness.c).
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tbgen.tables import Rules, RuleSet
from tests.kits.boards import Boards
from tests.kits.paths import ROOT

CONTRIB = ROOT / "contrib"
READER = [CONTRIB / "tbprobe.c", CONTRIB / "tbgame.c"]
HARNESS = ROOT / "tests" / "probing" / "tbprobe_harness.c"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
THREADS = ("-O1", "-g", "-pthread", "-fsanitize=thread")
ADDRESSES = ("-O1", "-g", "-pthread", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
CACHE = str(8 << 20)

_folders: list[tempfile.TemporaryDirectory[str]] = []


@cache
def missing_tool() -> str | None:
    """What this machine lacks for the C reader."""
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


@cache
def build_folder() -> Path:
    """Where this process compiles to; removed when the interpreter ends."""
    folder = tempfile.TemporaryDirectory(prefix="tbgen-c-")
    _folders.append(folder)
    return Path(folder.name)


@cache
def compiled(name: str, sources: tuple[Path, ...], *flags: str) -> Path:
    """A program; every warning of a strict compiler is an error."""
    program = build_folder() / name
    command = ["gcc", "-std=c99", *STRICT, *flags, *map(str, sources), "-lzstd", "-o", str(program)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return program


def harness(name: str = "harness", *flags: str) -> Path:
    """The program that answers the tests' records; optimised unless flags are given."""
    return compiled(name, (HARNESS, *READER), *(flags or ("-O2", "-pthread")))


@cache
def library() -> Path:
    """What the Makefile makes, in a folder."""
    folder = build_folder() / "library"
    folder.mkdir()
    make("all", f"OUT={folder}")
    return folder


@cache
def mock_engine() -> Path:
    """The engine that stands for those that the adapter is for."""
    program = build_folder() / "mock_engine"
    sources = [ROOT / "tests" / "probing" / "mock_engine.cpp", CONTRIB / "adapter.cpp"]
    command = ["g++", "-std=c++17", "-O2", *STRICT, *map(str, sources)]
    command += [str(library() / "libtbprobe.a"), "-lzstd", "-pthread", "-o", str(program)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return program


def make(*arguments: str) -> None:
    """Run the Makefile; warnings are errors."""
    strict = f"STRICT={' '.join(STRICT)}"
    command = ["make", "-s", "-C", str(CONTRIB), strict, *arguments]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def rules_number(rule_set: RuleSet) -> str:
    """How the C reader numbers a rule set."""
    assert rule_set.rules is not None
    is_wxf = rule_set.rules == Rules.WXF
    return str(rule_set.rules.number + (is_wxf and not rule_set.minor_chases))


def run(program: Path, *arguments: str | Path, records: bytes) -> bytes:
    """What a program writes when it reads records; it must not complain."""
    command = [str(program), *map(str, arguments)]
    result = subprocess.run(command, input=records, capture_output=True)
    assert result.returncode == 0, result.stderr.decode()[-2000:]
    return result.stdout


def records_of(boards: Boards, side: int) -> bytes:
    """Boards uint8 (n, 90) as records, all with one side to move."""
    return np.insert(boards, 0, side, axis=1).tobytes()


def answers_of(output: bytes) -> NDArray[np.int32]:
    """int32 (n, 4): status, outcome, order, plies."""
    return np.frombuffer(output, "<i4").reshape(-1, 4)

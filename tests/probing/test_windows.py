"""The C reader on Windows: compiled by MinGW, run under Wine, with equal answers."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import cprograms
from tests.helpers.built import built
from tests.helpers.cprograms import CONTRIB, STRICT, answers_of, needs_c, needs_cxx
from tests.helpers.debian import source_of
from tests.helpers.paths import ROOT
from tests.helpers.strategies import random_position
from tests.probing.test_contrib_library import declared

MINGW = "x86_64-w64-mingw32-gcc"
PROBES = ROOT / "tests" / "probing" / "windows_probes.c"
SYSTEM = Path("/usr/include")

needs_mingw = pytest.mark.skipif(shutil.which(MINGW) is None, reason=f"{MINGW} is not installed")


@needs_c
@needs_mingw
def test_reader_and_examples_compile_for_windows(tmp_path: Path) -> None:
    """The C reader, its example in C and a test program pass MinGW's syntax checks for Windows.

    They are checked with the header of this system's zstd, which is the same on every system.
    """
    (tmp_path / "zstd.h").symlink_to(SYSTEM / "zstd.h")
    (tmp_path / "zstd_errors.h").symlink_to(SYSTEM / "zstd_errors.h")
    command = [MINGW, "-std=c99", *STRICT, "-fsyntax-only", f"-I{tmp_path}", f"-I{CONTRIB}"]
    command.append("-DWIN32_LEAN_AND_MEAN")  # a program may have defined it
    for source in (cprograms.amalgamation() / "xqprobe.c", CONTRIB / "example.c", PROBES):
        subprocess.run([*command, str(source)], check=True)


DECODER = """
#include "zstd.h"

ZSTD_DCtx *ZSTD_createDCtx(void) { return NULL; }
size_t ZSTD_freeDCtx(ZSTD_DCtx *c) { return c != NULL; }
unsigned ZSTD_isError(size_t code) { return code != 0; }
unsigned long long ZSTD_getFrameContentSize(const void *p, size_t n) { return p != NULL && n; }
size_t ZSTD_findFrameCompressedSize(const void *p, size_t n) { return p != NULL && n; }
size_t ZSTD_decompressDCtx(ZSTD_DCtx *c, void *out, size_t room, const void *p, size_t n)
{
    return c != NULL && out != NULL && room && p != NULL && n;
}
"""
"""Source file in place of zstd's decoder: it links, and decompresses nothing."""


@needs_cxx
@needs_mingw
def test_the_makefile_builds_for_windows(tmp_path: Path) -> None:
    """MinGW makes both libraries and the example in C, with a decoder as one source file."""
    for name in ("zstd.h", "zstd_errors.h"):
        (tmp_path / name).symlink_to(SYSTEM / name)
    (tmp_path / "decoder.c").write_text(DECODER)
    made = [tmp_path / name for name in ("xqprobe.dll", "libxqprobe.a", "example.exe")]
    cprograms.make(
        *map(str, made), f"OUT={tmp_path}", f"CC={MINGW}", f"DECODER={tmp_path / 'decoder.c'}"
    )
    assert [path.read_bytes()[:2] for path in made] == [b"MZ", b"!<", b"MZ"]
    assert (tmp_path / "libxqprobe.dll.a").exists()
    command = [MINGW.replace("gcc", "objdump"), "-p", str(made[0])]
    contents = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = re.split(r"\[Ordinal/Name Pointer\].*", contents)[1].partition("\n\n")[0]
    assert set(re.findall(r"\w+$", names, re.MULTILINE)) == declared()


needs_wine = pytest.mark.skipif(shutil.which("wine") is None, reason="wine is not installed")


def decoder_of_zstd(folder: Path) -> Path:
    """Download zstd's source to `folder`; return the path of its decoder in a single file."""
    tools = source_of("zstd", folder) / "build" / "single_file_libs"
    subprocess.run(["bash", "create_single_file_decoder.sh"], cwd=tools, check=True, timeout=600)
    return tools / "zstddeclib.c"


@needs_c
@needs_mingw
@needs_wine
@pytest.mark.certification
def test_probes_under_wine(tmp_path: Path) -> None:
    """A Windows program under Wine gives the answers of a native one at 10 000 positions.

    It also finds the tables in folders with a Chinese name and with a path of 363 characters. Both
    programs contain zstd's decoder as a single source file.
    """
    decoder = decoder_of_zstd(tmp_path)
    reader = cprograms.amalgamation()
    sources = [str(PROBES), str(reader / "xqprobe.c")]
    for compiler, name in (("gcc", "probes"), (MINGW, "probes.exe")):
        flag = f'-DXQ_ZSTD_DECODER="{decoder}"'
        command = [compiler, "-std=c99", "-O2", flag, f"-I{reader}", *sources]
        subprocess.run([*command, "-static", "-o", str(tmp_path / name)], check=True)
    rng = random.Random(6)
    materials = ("KRAKR", "KRKN", "KNAKN", "KRK")
    records = [random_position(rng, materials) for _ in range(10_000)]
    (tmp_path / "records").write_bytes(b"".join(bytes([p.side]) + p.board for p in records))
    directory = tmp_path / "tables"
    shutil.copytree(built("KRAKR", "KRKN", "KNAKN", rules="wxf"), directory)
    (directory / "KPK.wxf.dtm.xqt").write_bytes(b"damaged")
    said = {}
    for program in (["./probes"], ["wine", "probes.exe"]):
        command = [*program, "tables", "wxf", "records", f"{program[0][:4]}.answers"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert ran.returncode == 0, ran.stderr[-1000:]
        said[program[0]] = ran.stdout.split()
    assert said["wine"] == said["./probes"]
    here, there = ((tmp_path / f"{name}.answers").read_bytes() for name in ("./pr", "wine"))
    assert here == there
    assert (answers_of(here)[:, 0] == 0).all()
    count = int(said["wine"][0])
    name = "\u6b8b\u5c40 \u5e93"
    longest = "/".join(letter * 90 for letter in "abcd")
    for folder in (name, longest):
        shutil.copytree(directory, tmp_path / folder)
    asked = [name, longest, "tables/", ".\\tables\\", str(directory), "", "missing"]
    said_of_paths = subprocess.run(
        ["wine", "probes.exe"], cwd=tmp_path, input="\n".join(asked).encode(), capture_output=True
    )
    assert list(map(int, said_of_paths.stdout.split())) == [count] * 5 + [-6, -6]


@needs_mingw
@needs_wine
@pytest.mark.certification
def test_fairy_stockfish_under_wine(tmp_path: Path) -> None:
    directory = tmp_path / "tables"
    shutil.copytree(built("KRAKR", rules="wxf"), directory)
    script = CONTRIB / "engines" / "fairy-stockfish" / "build.py"
    variables = ["CXX=x86_64-w64-mingw32-g++-posix", "EXE=.exe", "LIBS=", "LDFLAGS=-static"]
    variables += [f"CXXFLAGS=-O2 '-DXQ_ZSTD_DECODER=\"{decoder_of_zstd(tmp_path)}\"'"]
    command = [sys.executable, str(script), str(tmp_path / "built"), *variables]
    subprocess.run(command, check=True)
    lines = [
        "uci",
        "setoption name UCI_Variant value xiangqi",
        "setoption name XiangqiTablePath value missing;tables",
        "position fen 5r3/5k3/9/9/9/9/9/5A3/3R5/3K5 w",
        "go nodes 5000",
    ]
    engine = subprocess.Popen(
        ["wine", tmp_path / "built" / "fairy-stockfish.exe"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert engine.stdin is not None
    assert engine.stdout is not None
    engine.stdin.write("\n".join(lines) + "\n")
    engine.stdin.flush()
    said = []
    for line in engine.stdout:
        said.append(line.strip())
        if line.startswith("bestmove"):
            break
    engine.communicate("quit\n")
    assert said[-1].startswith("bestmove d2d9")
    assert any(" tbhits 18 " in line for line in said)
    assert "info string skipped 1: the file or directory cannot be read (missing)" in said

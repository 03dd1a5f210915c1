"""The C reader as a library: Makefile, headers, examples, and the page for engine authors."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tbgen.indexing import Position
from tbgen.play.tablebase import open_tablebase
from tests.helpers import cprograms
from tests.helpers.built import built
from tests.helpers.cprograms import CONTRIB, STRICT, needs_c, needs_cxx
from tests.helpers.paths import ROOT

PAGE = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```c\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
C = ["gcc", "-std=c99", *STRICT]
CXX = ["g++", "-std=c++17", *STRICT]
PROTOTYPE = re.compile(r"^[a-z].*?\b(xq_[a-z_]+)\(", re.MULTILINE)


def check(command: list[str], text: str | None = None) -> str:
    """Run a command, with `text` as its input; return its output, and fail if the command fails."""
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout


def declared() -> set[str]:
    """Return the names of the functions of xqprobe.h, without those for web pages."""
    header = (CONTRIB / "xqprobe.h").read_text()
    here = re.sub(r"#ifdef XQ_REMOTE\n.*?#endif\n", "", header, flags=re.DOTALL)
    return set(PROTOTYPE.findall(here))


def exports(library: Path) -> set[str]:
    """Return the names that a shared library exports."""
    symbols = check(["nm", "-D", "--defined-only", str(library)])
    return {line.split()[-1] for line in symbols.splitlines()}


@needs_cxx
def test_the_single_source_compiles_as_c_and_cpp(tmp_path: Path) -> None:
    """The single-file reader compiles as C and as C++.

    The example program gives equal output with the C file and with the library. The C file is
    linked with an external zstd decoder, here that of the system.
    """
    folder = cprograms.amalgamation()
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["xqprobe.c", "xqprobe.cpp", "xqprobe.h"]
    check([*CXX, "-fno-exceptions", "-fsyntax-only", str(folder / "xqprobe.cpp")])
    program = tmp_path / "example"
    sources = [str(CONTRIB / "example.c"), str(folder / "xqprobe.c")]
    decoder = "-DXQ_ZSTD_DECODER=<zstd.h>"
    check([*C, decoder, f"-I{folder}", *sources, "-lzstd", "-o", str(program)])
    fen = "5r3/5k3/9/9/9/9/9/5A3/3R5/3K5 w"
    arguments = [str(built("KRAKR", rules="wxf")), "wxf", fen]
    apart = check([str(cprograms.library() / "example"), *arguments])
    assert check([str(program), *arguments]) == apart


@needs_c
def test_the_code_of_the_page_compiles() -> None:
    assert BLOCKS
    for code in BLOCKS:
        check([*C, "-fsyntax-only", "-I", str(CONTRIB), "-x", "c", "-"], code)


@needs_c
def test_the_files_for_the_search_are_all(tmp_path: Path) -> None:
    (line,) = [line for line in PAGE.splitlines() if line.startswith("- `contrib/xqprobe.h`")]
    for name in re.findall(r"`(contrib/[^`]+)`", line):
        shutil.copy(ROOT / name, tmp_path)
    check([*C, "-fsyntax-only", str(tmp_path / "xqprobe.c")])


@needs_cxx
def test_an_installed_library(tmp_path: Path) -> None:
    """The installed library is found by pkg-config, and exports only what its header declares."""
    folder = cprograms.library()
    cprograms.make("install", f"OUT={folder}", f"PREFIX={tmp_path}")
    described = (tmp_path / "lib" / "pkgconfig" / "xqprobe.pc").read_text()
    assert f"prefix={tmp_path}\n" in described
    assert "@" not in described
    assert exports(tmp_path / "lib" / "libxqprobe.so") == declared()
    flags = [
        f"-I{tmp_path}/include",
        f"-L{tmp_path}/lib",
        "-lxqprobe",
        f"-Wl,-rpath,{tmp_path}/lib",
    ]
    if shutil.which("pkg-config"):
        command = ["env", f"PKG_CONFIG_PATH={tmp_path}/lib/pkgconfig", "pkg-config"]
        stated = check([*command, "--cflags", "--libs", "xqprobe"]).split()
        assert stated == flags[:3]
    source = "#include <xqprobe.h>\nint main(void) { return xq_max_men(0) + xq_may_stand(1, 0); }\n"
    program = tmp_path / "program"
    check([*C, "-x", "c", "-", "-x", "none", *flags, "-o", str(program)], source)
    check([str(program)])


@needs_cxx
def test_a_library_with_its_own_decoder_needs_no_zstd(tmp_path: Path) -> None:
    """The file of pkg-config names zstd only if the library needs it.

    The library exports no function of the decoder.
    """
    decoder = tmp_path / "decoder.c"
    exported = '__attribute__((visibility("default"))) int ZSTD_exported(void) { return 0; }\n'
    decoder.write_text(f"#include <zstd.h>\n{exported}")
    made = [f"OUT={tmp_path / 'built'}", "LIBS=-lzstd", f"PREFIX={tmp_path}"]
    cprograms.make("install", f"DECODER={decoder}", *made)
    described = (tmp_path / "lib" / "pkgconfig" / "xqprobe.pc").read_text()
    assert "Libs: -L${libdir} -lxqprobe\n" in described
    assert "zstd" not in described
    assert exports(tmp_path / "lib" / "libxqprobe.so") == declared()


@needs_cxx
def test_a_second_installation_spares_running_programs(tmp_path: Path) -> None:
    """An installed library is replaced, not overwritten; whatever the umask, all may read it."""
    installation = ["install", f"OUT={cprograms.library()}", f"PREFIX={tmp_path / 'all'}"]
    cprograms.make(*installation, umask=0o077)
    with (tmp_path / "all" / "lib" / "libxqprobe.so").open("rb") as mapped:
        cprograms.make(*installation, umask=0o077)
        assert os.fstat(mapped.fileno()).st_nlink == 0
    for path in (tmp_path / "all", *(tmp_path / "all").rglob("*")):
        runs = path.is_dir() or ".so" in path.name
        assert path.stat().st_mode & 0o777 == (0o755 if runs else 0o644), path


@needs_cxx
@pytest.mark.parametrize(
    ("variable", "wrong"),
    [
        ("PREFIX=/own programs", "DESTDIR and PREFIX must be paths without spaces"),
        ("PREFIX=local", "PREFIX must be an absolute path: local"),
        ("DECODER=my zstd.c", "DECODER must be a path without spaces: my zstd.c"),
    ],
)
def test_unusable_paths_are_refused(tmp_path: Path, variable: str, wrong: str) -> None:
    """Nothing is made, nor installed beside the folder that was meant."""
    command = ["make", "-C", str(CONTRIB), "install", f"OUT={cprograms.library()}", variable]
    command.append(f"DESTDIR={tmp_path}/")
    result = subprocess.run(command, capture_output=True, text=True)
    assert wrong in result.stderr
    assert list(tmp_path.iterdir()) == []


@needs_cxx
def test_what_make_leaves_in_the_source_is_no_source() -> None:
    """git ignores it, and the source distribution excludes it."""
    (line,) = re.findall(r"^exclude (.*)$", (ROOT / "MANIFEST.in").read_text(), re.MULTILINE)
    excluded = line.split()
    ignored = re.findall("^/(contrib.*)$", (ROOT / ".gitignore").read_text(), re.MULTILINE)
    assert ignored == excluded
    for_windows = ["xqprobe.dll", "libxqprobe.dll.a", "example.exe", "example_cpp.exe"]
    for name in [*for_windows, *(path.name for path in cprograms.library().iterdir())]:
        assert any(fnmatch(f"contrib/{name}", pattern) for pattern in excluded), name


@needs_cxx
def test_the_examples(tmp_path: Path) -> None:
    directory = built("KRAKR", rules="wxf")
    fen = "5r3/5k3/9/9/9/9/9/5A3/3R5/3K5 w"
    with open_tablebase(directory) as tables:
        root, expected = tables.probe_with_moves(Position.from_fen(fen))
    plain = check([str(cprograms.library() / "example"), str(directory), "wxf", fen])
    assert check([str(cprograms.library() / "example"), str(directory), "asian", fen]) == plain
    first, *moves = plain.splitlines()
    assert first == f"win value {root.value} order {root.order} plies {root.plies}"
    assert [line[:5] for line in moves] == [m.move.iccs + " *"[m.best] for m in expected]
    for path in directory.glob("*.xqt"):
        shutil.copy(path, tmp_path)
    (tmp_path / "KPK.wxf.dtm.xqt").write_bytes(b"damaged")
    shutil.copy(next(built("KRKN").glob("KNK.*.xqt")), tmp_path)
    os.mkfifo(tmp_path / "KCK.wxf.dtm.xqt")
    missing = tmp_path / "missing"
    command = [str(cprograms.library() / "example_cpp"), f"{tmp_path}:{missing}", fen]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    report, *skipped = result.stderr.splitlines()
    men = Counter(len(path.name.split(".")[0]) for path in directory.glob("*.xqt"))
    counts = ", ".join(f"{men[number]} of {number} men" for number in sorted(men))
    total = men.total()
    assert report == (f"{total} endgame tables: {counts}; distances of {total}, outcome files of 0")
    assert sorted(skipped) == [
        f"skipped 1: the file is damaged or no table ({tmp_path}/KPK.wxf.dtm.xqt)",
        "skipped 1: the table is of another rule set, or of another limit on orders "
        f"({tmp_path}/KNK.check.dtm.xqt)",
        f"skipped 2: the file or directory cannot be read ({tmp_path}/KCK.wxf.dtm.xqt)",
    ]
    ranked = result.stdout.splitlines()
    assert ranked[0] == f"at the start: {100_000 * root.order + (root.plies or 0)}"
    best = {line.split()[0] for line in ranked[1:] if " rank 0 " in line}
    assert best == {line[:4] for line in moves if line[4] == "*"}
    assert len(ranked) - 1 == len(moves)
    command = [str(cprograms.library() / "example_cpp"), str(directory), fen, "d0d2"]
    assert subprocess.run(command, capture_output=True).returncode == 1

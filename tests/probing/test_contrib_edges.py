"""The C reader at its limits: file descriptors, damage, wrong materials, other compilers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from tbgen.building.packing import pack_table
from tbgen.indexing import Position
from tbgen.indexing.errors import InputError
from tbgen.notation import parse_position
from tbgen.rules import legal_moves
from tbgen.tables.reader import TableFile
from tests.helpers import cprograms
from tests.helpers.built import built
from tests.helpers.cprograms import CACHE, CONTRIB, STRICT, needs_c, needs_cxx, run
from tests.helpers.mutations import CRC_AT

FEN = "5r3/5k3/9/9/9/9/9/5A3/3R5/3K5 w"
FEW_DESCRIPTORS = 'ulimit -n 6; exec "$@"'

PROGRAM = """
#include "xqprobe.h"
#include <stdio.h>

int main(int argc, char **argv)
{
    static const uint8_t pieces[] = {1, 9, 4}, squares[] = {4, 84, 0};
    xq_set *set = xq_set_new(XQ_RULES_WXF, 0, XQ_DTM);
    int wdl = 5, status = 0;
    printf("%d", argc != 2 || xq_add_directory(set, argv[1]) < 0);
    xq_reader *reader = xq_reader_new(set, 0);
    const xq_material *drawn = xq_find(set, xq_piece_key(1) + xq_piece_key(9));
    printf(" %d", xq_probe_cached(reader, drawn, pieces, squares, 3, XQ_RED, &wdl));
    printf(" %d", xq_probe_cached(reader, drawn, pieces, squares, 2, XQ_RED, &wdl));
    printf(" %d", wdl);
    printf(" %d", xq_hold(set, (size_t)1 << 24));
    const char *skipped = xq_skipped(set, 0, &status);
    printf(" %s %d\\n", skipped == NULL ? "none" : skipped, status);
    xq_reader_free(reader);
    xq_set_free(set);
    return 0;
}
"""

LIMITS = """
#include "xqprobe.h"
#include <stdio.h>

int main(void)
{
    static const uint8_t pieces[] = {1, 9}, squares[] = {4, 84};
    xq_set *set = xq_set_new(XQ_RULES_WXF, 0, XQ_DTM);
    xq_reader *reader = xq_reader_new(set, 0);
    xq_move moves[XQ_MAX_MOVES];
    xq_step steps[XQ_MAX_MOVES];
    size_t counts[4] = {7, 7, 7, 7}, many = (size_t)XQ_MAX_PLAYED + 1;
    xq_filter_root(reader, pieces, squares, 2, 0, NULL, 1, NULL, moves, &counts[0]);
    xq_filter_root(reader, pieces, squares, 2, 0, steps, many, NULL, moves, &counts[1]);
    xq_filter_outcomes(reader, pieces, squares, 2, 0, NULL, 1, NULL, steps, &counts[2]);
    xq_filter_outcomes(reader, pieces, squares, 2, 0, steps, many, NULL, steps, &counts[3]);
    for (int i = 0; i < 4; i++)
        printf("%d ", (int)counts[i]);
    int64_t before = INT64_MAX;
    for (uint32_t order = 1; order != 0; order *= 2) {
        const xq_value win = {1, order, 2, 253, XQ_DTM}, loss = {-1, order, 2, 253, XQ_DTM};
        int64_t rank = xq_rank(&win);
        printf("%d", rank > 0 && rank < before && xq_rank(&loss) == -rank);
        before = rank;
    }
    xq_reader_free(reader);
    xq_set_free(set);
    return 0;
}
"""

ROOT_MOVES = """
#include "adapter.h"
#include <cstdio>

int main(int argc, char **argv)
{
    xqprobe::Game game;
    xqprobe::RootMoves moves;
    const int pieces[][2] = {{1, 3}, {4, 4}, {13, 22}, {9, 85}};
    for (const auto &piece : pieces)
        game.start.put(piece[0], piece[1]);
    for (int pair = 0; pair < 8100; pair++)
        moves.push_back({{std::uint8_t(pair / 90), std::uint8_t(pair % 90)}, 0, 0});
    xqprobe::init(argv[argc - 1]);
    std::printf("%d\\n", xqprobe::root_probe_wdl(game, moves));
    for (const xqprobe::RootMove &move : moves)
        if (move.rank > -int(XQ_MAX_MOVES) - 1)
            std::printf("%d %d\\n", move.move.from, move.move.to);
    return 0;
}
"""


def damage_blocks(path: Path) -> None:
    """Overwrite all blocks of a table or win-draw-loss file with zeros, and no other part."""
    data = bytearray(path.read_bytes())
    table_offset = int.from_bytes(data[64:72], "little")
    data[168:table_offset] = bytes(table_offset - 168)
    path.unlink()
    path.write_bytes(data)


@needs_cxx
def test_tables_take_no_descriptors() -> None:
    folder, directory = cprograms.library(), built("KRAKR", rules="wxf")
    assert len(list(directory.glob("*.xqt"))) >= 5
    for command in (
        [folder / "example", directory, "wxf", FEN],
        [folder / "example_cpp", directory, FEN],
    ):
        words = [str(word) for word in command]
        usual = subprocess.run(words, capture_output=True, check=True)
        few = subprocess.run(["bash", "-c", FEW_DESCRIPTORS, "bash", *words], capture_output=True)
        assert (few.returncode, few.stdout, few.stderr) == (0, usual.stdout, usual.stderr)
        assert b"skipped" not in few.stderr


@needs_cxx
def test_the_best_move_without_a_table_has_the_score_of_the_root(tmp_path: Path) -> None:
    for path in built("KRKN", rules="wxf").glob("K*N*.xqt"):
        (tmp_path / path.name).symlink_to(path)
    command = [cprograms.library() / "example_cpp", tmp_path, "4k4/9/9/9/9/9/9/4n4/9/3KR4 w"]
    said = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    start, best, *others = said.stdout.splitlines()
    assert (start, best) == ("at the start: 3", "e0e2 rank 0 score 19997")
    assert not any(" rank 0 " in line for line in others)


@needs_c
def test_files_read_into_memory() -> None:
    files = sorted(built("KRKN").glob("*.xqt"))
    record = bytes([0]) + Position.from_fen("4k4/9/9/9/9/9/9/4n4/9/3KR4 w").board
    mapped = run(cprograms.harness(), "probe", "check", CACHE, *files, records=record)
    program = cprograms.harness("memory", "-O1", "-DXQ_IN_MEMORY")
    assert run(program, "probe", "check", CACHE, *files, records=record) == mapped


@needs_c
@pytest.mark.parametrize(("damaged", "refused"), [("dtm", "filter"), ("wdl", "outcomes")])
def test_damage_of_one_kind_leaves_the_other(tmp_path: Path, damaged: str, refused: str) -> None:
    """Damage of the tables, or of the win-draw-loss files, stops only the filter that reads them.

    Of the filters of moves, `xq_filter_root` reads the tables, and `xq_filter_outcomes` the others.
    """
    directory = shutil.copytree(built("KRKN"), tmp_path / "tables")
    for path in sorted(directory.glob("*.dtm.xqt")):
        with TableFile(path) as file:
            pack_table(file, directory)
    for path in sorted(directory.glob(f"*.{damaged}.xqt")):
        damage_blocks(path)
    files = sorted(directory.glob("*.xqt"))
    record = bytes([0]) + Position.from_fen("4k4/9/9/9/9/9/9/4n4/9/3KR4 w").board + b"\0"
    for mode in ("filter", "outcomes"):
        said = run(cprograms.harness(), mode, "check", CACHE, *files, records=record).split()
        assert said[0] == (b"-4" if mode == refused else b"0")
        assert mode == refused or b"-" in said[-1], "a move is left"


@needs_c
def test_wrong_material_and_damaged_tables_are_reported(tmp_path: Path) -> None:
    """A probe of the material of two kings refuses other pieces; `xq_hold` finds a damaged table.

    `xq_skipped` then returns the damaged table's name and status.
    """
    directory = shutil.copytree(built("KRAKR", rules="wxf"), tmp_path / "tables")
    (tmp_path / "program.c").write_text(PROGRAM, encoding="ascii")
    program = cprograms.compiled(
        "edges", (tmp_path / "program.c", *cprograms.READER), f"-I{CONTRIB}"
    )
    count = len(list(directory.glob("*.xqt")))
    assert run(program, directory, records=b"").split()[1:] == [
        b"-2", b"0", b"0", str(count).encode(), b"none", b"0",
    ]  # fmt: skip
    damage_blocks(directory / "KRAK.wxf.dtm.xqt")
    words = run(program, directory, records=b"").split()
    assert words[-3:] == [b"-4", b"KRAK.wxf.dtm.xqt", b"-4"]


@needs_cxx
def test_illegal_moves_have_the_lowest_rank_without_distances(tmp_path: Path) -> None:
    for path in sorted(built("KRKN", rules="wxf").glob("*.dtm.xqt")):
        with TableFile(path) as file:
            pack_table(file, tmp_path)
    (tmp_path / "root.cpp").write_text(ROOT_MOVES, encoding="ascii")
    sources = [tmp_path / "root.cpp", CONTRIB / "adapter.cpp", cprograms.library() / "libxqprobe.a"]
    command = ["g++", "-std=c++17", *STRICT, f"-I{CONTRIB}", *map(str, sources), "-lzstd"]
    subprocess.run([*command, "-pthread", "-o", str(tmp_path / "root")], check=True)
    status, *ranked = run(tmp_path / "root", tmp_path, records=b"").decode().splitlines()
    position = Position.from_fen("4k4/9/9/9/9/9/9/4n4/9/3KR4 w")
    assert status == "1"
    assert sorted(ranked) == sorted(
        f"{source} {target}" for source, target in legal_moves(position)
    )


@needs_c
def test_errors_list_no_moves_and_ranks_do_not_overflow(tmp_path: Path) -> None:
    (tmp_path / "limits.c").write_text(LIMITS, encoding="ascii")
    sources = (tmp_path / "limits.c", *cprograms.READER)
    program = cprograms.compiled("limits", sources, f"-I{CONTRIB}", *cprograms.ADDRESSES)
    assert run(program, records=b"").split() == [b"0"] * 4 + [b"1" * 32]


@needs_cxx
def test_the_example_says_why_there_is_no_table(tmp_path: Path) -> None:
    directory = built("KRKN")
    command = [cprograms.library() / "example", directory, "none", FEN]
    said = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert said.returncode == 1
    first, reason, status = said.stderr.splitlines()
    assert first == f"{directory}: 0 tables of distances, 0 win-draw-loss files"
    assert re.fullmatch(r"first file skipped: .*\.check\.dtm\.xqt: .* another rule set, .*", reason)
    assert status == "there is no table of this material"
    command = [cprograms.library() / "example", tmp_path / "missing", "none", FEN]
    said = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert f"first file skipped: {tmp_path}/missing: the file or dir" in said.stderr


@needs_cxx
@pytest.mark.parametrize("program", ["example", "example_cpp"])
def test_the_examples_read_whole_fens_only(program: str) -> None:
    """The examples refuse what `tbgen.notation` refuses, instead of reading another position."""
    rules = ["wxf"] if program == "example" else []
    command = [cprograms.library() / program, built("KRKN", rules="wxf"), *rules]

    def run_with(fen: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*map(str, command), fen], capture_output=True, text=True)

    whole = run_with("9/9/4k4/9/9/9/9/3n5/9/R2K5 b").stdout
    assert whole
    for rest in ("b - - 0 1", "b - - 12 345 ", "b - -", "b "):
        assert run_with(f"9/9/4k4/9/9/9/9/3n5/9/R2K5 {rest}").stdout == whole
    assert run_with("9/9/4k4/9/9/9/9/3n5/9/R2K5 r").stdout not in (whole, "")
    board = "9/9/4k4/9/9/9/9/3n5/9/R2K5"
    wrong = [f"{board} B", f"{board} x", board, f"{board} ", f"{board} bw", "", " b", f"{board}/ b"]
    wrong += [f"{board.replace(*each)} b" for each in (
        ("R2K5", "R2K55"), ("R2K5", "R2K4"), ("4k4", "4k9"), ("4k4", "4q4"), ("4k4", "99"),
        ("9/9/", "9//"), ("9/9/", "9/9/9/"), ("9/9/", "9/"), ("4k4", "4k04"),
    )]  # fmt: skip
    after = ("moves d0d1", "- - 0 1 moves d0d1", "- - 0 one", "- - 0", "0 1", "KQkq -", "-")
    wrong += [f"{board} b {rest}" for rest in after]
    for fen in wrong:
        found = run_with(fen)
        assert found.returncode, fen
        assert found.stdout == ""
        assert "this is no FEN" in found.stderr, fen
        with pytest.raises(InputError):
            parse_position(fen)


@needs_cxx
def test_an_unknown_rule_set_is_no_damage(tmp_path: Path) -> None:
    """The reader reports a table of an unknown rule set as such, unless the file is damaged."""
    data = bytearray(next(built("KRKN").glob("KNK.*.xqt")).read_bytes())
    data[11] = 77
    first, end = (int.from_bytes(data[at : at + 8], "little") for at in (64, 72))
    for crc, reason in (
        (zlib.crc32(data[first:end], zlib.crc32(data[:CRC_AT])), "another rule set"),
        (0, "damaged"),
    ):
        data[CRC_AT : CRC_AT + 4] = crc.to_bytes(4, "little")
        (tmp_path / "KNK.new.dtm.xqt").write_bytes(data)
        command = [str(cprograms.library() / "example"), str(tmp_path), "vietnam", FEN]
        said = subprocess.run(command, capture_output=True, text=True)
        assert reason in said.stderr.splitlines()[1]


@needs_cxx
@pytest.mark.parametrize(
    "macros", [(), ("-D_DEFAULT_SOURCE", "-D_POSIX_C_SOURCE=200809L", "-D_FILE_OFFSET_BITS=64")]
)
def test_newer_standards_and_macros_that_are_set(macros: tuple[str, ...]) -> None:
    source = cprograms.amalgamation() / "xqprobe.cpp"
    for compiler in (["g++", "-std=c++20"], ["gcc", "-std=c11", "-x", "c"]):
        command = [*compiler, *STRICT, *macros, "-fsyntax-only", str(source)]
        said = subprocess.run(command, capture_output=True, text=True)
        assert said.returncode == 0, said.stderr


def test_types_have_a_prefix() -> None:
    """Names of types in the C reader begin with `xq_`.

    Compiled as C++, a type of equal name in an engine's own files would be a second definition of
    the same type.
    """
    for name in ("xqprobe.c", "xqgame.c", "xqinternal.h"):
        text = (CONTRIB / name).read_text("ascii")
        types = re.findall(r"^(?:} |typedef \w+ \{.*} )(\w+);", text, re.MULTILINE)
        types += re.findall(r"^typedef struct (\w+)", text, re.MULTILINE)
        assert types
        assert all(each.startswith("xq_") for each in types), types


@needs_cxx
def test_a_makefile_refuses_a_folder_with_a_space(tmp_path: Path) -> None:
    command = ["make", "-s", "-C", str(CONTRIB), f"OUT={tmp_path}/a b"]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 2
    assert "OUT must be a path without spaces" in said.stderr
    assert not os.listdir(tmp_path)

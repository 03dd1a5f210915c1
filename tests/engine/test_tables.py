"""Tables that the engine uses: options that name them, and tables that are missing or damaged."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tbgen.engine.game import Game
from tbgen.engine.options import Options
from tbgen.engine.tables import EngineTables, probe_lines
from tbgen.indexing import Move
from tbgen.probing import NumbaTables
from tbgen.tables import TablebaseError

EMPTY = ("", "<empty>", "null")


@pytest.fixture
def library(tables_dir: Path, tmp_path: Path) -> EngineTables:
    """Tables of the engine under check rules, in a directory from which a test may remove files."""
    for file in tables_dir.glob("*.check.*"):
        shutil.copy(file, tmp_path)
    library = EngineTables()
    library.use((tmp_path,), "check")
    return library


def materials(library: EngineTables) -> set[str]:
    assert library.tables is not None
    return {name.material.name for name in library.tables.available()}


@pytest.mark.parametrize("name", ["EGTBPaths", "SyzygyPath", "XiangqiTablePath"])
def test_an_empty_path_in_another_engines_option_changes_nothing(name: str) -> None:
    for empty in EMPTY:
        options = Options()
        assert options.set(name, "tables")
        assert options.set("SyzygyPath", empty)
        assert options.set("XiangqiTablePath", empty)
        assert options.directories == (Path("tables"),)
        options.set("EGTBPaths", empty)
        assert options.directories == ()


def test_directories_of_the_command_line_may_have_separators_in_their_names() -> None:
    paths = Path("a:b"), Path("c;d")
    assert Options(paths=paths).directories == paths
    assert Options(paths=paths).path_list == "a:b;c;d"


def test_new_tables_are_found_when_they_are_looked_for(tables_dir: Path, tmp_path: Path) -> None:
    library, file = EngineTables(), "KRK.check.dtm.xqt"
    assert library.use((tmp_path,), "check")
    assert library.tables is None
    os.utime(tmp_path, ns=(0, 0))
    shutil.copy(tables_dir / file, tmp_path)
    assert not library.use((tmp_path,), "check")
    library.is_current = False
    assert library.use((tmp_path,), "check")
    assert materials(library) == {"KRK"}
    library.is_current = False
    assert not library.use((tmp_path,), "check")


def test_the_other_tables_stay_when_one_is_removed(library: EngineTables) -> None:
    before = materials(library)
    assert library.tables is not None
    library.tables.path(library.tables.available()[-1]).unlink()
    removed = library.tables.available()[-1].material.name
    with pytest.raises(TablebaseError) as caught:
        NumbaTables(library.tables)
    assert library.leave_out(caught.value).endswith(f"the search goes on without {removed}")
    assert materials(library) == before - {removed}
    NumbaTables(library.tables)


def test_a_table_that_was_incomplete_is_used_once_its_file_is_complete(
    library: EngineTables, tables_dir: Path, tmp_path: Path
) -> None:
    """Writing to the end of a file does not change the directory's time."""
    before, file = materials(library), tmp_path / "KRKN.check.dtm.xqt"
    whole = (tables_dir / file.name).read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    library.is_current = False
    assert not library.use((tmp_path,), "check")
    assert library.tables is not None
    with pytest.raises(TablebaseError) as caught:
        NumbaTables(library.tables)
    assert library.leave_out(caught.value).endswith("the search goes on without KRKN.check.dtm.xqt")
    assert materials(library) == before - {"KRKN"}
    file.write_bytes(whole)
    assert not library.use((tmp_path,), "check")
    library.is_current = False
    assert library.use((tmp_path,), "check")
    assert materials(library) == before
    NumbaTables(library.tables)


def test_a_path_that_the_locale_cannot_express_leaves_the_other_directories_in_use(
    tables_dir: Path,
) -> None:
    library, impossible = EngineTables(), Path("\ud800")
    assert library.use((impossible, tables_dir), "check")
    assert library.tables is not None
    assert [problem.partition(":")[0] for problem in library.problems] == [
        f"no tables from {impossible}"
    ]


def test_lines_are_cut_short_when_the_time_is_up(library: EngineTables) -> None:
    """A stopped search follows only the line to play; all lines keep their order and scores."""
    assert library.tables is not None
    game = Game.read(["fen", "3k5/9/9/9/9/9/4n4/9/9/R3K4", "w"])
    full, stopped = (
        probe_lines(library.tables, game, 128, None, lambda answer=answer: answer)
        for answer in (False, True)
    )
    assert full is not None
    assert stopped is not None
    assert stopped[1][0] == full[1][0]
    assert [(line.score, line.moves[:1]) for line in full[1]][1:] == [
        (line.score, line.moves) for line in stopped[1]
    ][1:]


def test_a_move_into_a_missing_table_leaves_the_position_to_the_search(
    tables_dir: Path, tmp_path: Path
) -> None:
    """There are no lines without the table after a move, unless the move may not be played."""
    for file in tables_dir.glob("KRKN.check.*"):
        shutil.copy(file, tmp_path)
    library = EngineTables()
    library.use((tmp_path,), "check")
    assert library.tables is not None
    game = Game.read(["fen", "3k5/9/9/9/9/9/9/9/R4n3/4K4", "w"])
    assert probe_lines(library.tables, game, 1, None) is None
    found = probe_lines(library.tables, game, 2, [Move.from_iccs("a1a2"), Move.from_iccs("a1a3")])
    assert found is not None
    assert len(found[1]) == 2


def test_a_restricted_choice_considers_the_game(library: EngineTables) -> None:
    """Among the allowed moves, a shortest win that completes a perpetual check is avoided."""
    assert library.tables is not None
    moves = "e8e9 c8c9 e9e8 c9c8 e8e9 c8c9 e9e8"
    game = Game.read(f"fen 9/2R1k4/9/9/9/9/9/5K3/9/9 b moves {moves}".split())
    only = [Move.from_iccs("c9c8"), Move.from_iccs("c9a9")]
    found = probe_lines(library.tables, game, 1, only)
    assert found is not None
    assert found[1][0].moves[0].iccs == "c9a9"


def test_every_directory_without_tables_is_named(tables_dir: Path, tmp_path: Path) -> None:
    library, missing = EngineTables(), (tmp_path / "a", tmp_path / "b")
    library.use((*missing, tables_dir), "check")
    reason = "No such file or directory; name another by --tables or EGTBPaths"
    assert library.problems == [f"no tables from {path}: {reason}" for path in missing]
    assert library.tables is not None


def test_outcome_files_alone_are_not_enough(tmp_path: Path) -> None:
    (tmp_path / "KRKN.wxf.wdl.xqt").touch()
    library = EngineTables()
    library.use((tmp_path,), "wxf")
    assert library.tables is None
    assert "win-draw-loss files such as KRKN.wxf.wdl.xqt are not enough" in library.problems[0]
    library.use((tmp_path,), "check")
    assert "win-draw-loss" not in library.problems[0]


def test_tables_of_other_rules_are_named(tmp_path: Path) -> None:
    (tmp_path / "KRKN.computer.dtm.xqt").touch()
    library = EngineTables()
    library.use((tmp_path,), "wxf")
    assert library.problems == [
        f"no tables under the rules wxf in {tmp_path}: there are tables under computer"
    ]

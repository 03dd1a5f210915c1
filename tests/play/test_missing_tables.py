"""Best moves while a supporting table is missing: best by all tables, or an error."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from tbgen.board.knowledge.store import TableStore
from tbgen.indexing import Position
from tbgen.play.choice import choose
from tbgen.play.mainline import Ending
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.rules import legal_moves
from tbgen.tables import MissingTableError
from tests.helpers import cprograms
from tests.helpers.built import built
from tests.helpers.cprograms import CACHE, needs_c, run
from tests.helpers.strategies import random_position

MATE_BEHIND_A_MISSING_TABLE = "4k4/9/9/9/9/9/9/4n4/9/3KR4 w"
"""Mate in 3 plies by a capture into KRK."""

SEVERAL_UNKNOWN = "4k4/9/9/9/9/9/5R3/9/5n3/5K3 w"
"""King and rook can each capture into KRK: the best move is one of them."""

CASES = [
    ("KRKN", "check", None),
    ("KRKN", "none", "dtc"),
    ("KRAKR", "wxf", None),
    ("KCAKP", "none", "dtc"),
]


def with_captures(rng: random.Random, material: str, count: int) -> list[Position]:
    """Return random positions in which the side to move can capture."""
    found: list[Position] = []
    while len(found) < count:
        position = random_position(rng, (material,))
        if any(position.board[move.target] for move in legal_moves(position)):
            found.append(position)
    return found


def without(directory: Path, material: str, folder: Path) -> Path:
    """Return a new folder with the tables of a directory except that of one material."""
    folder.mkdir()
    for path in directory.glob("*.xqt"):
        if path.name.split(".")[0] != material:
            (folder / path.name).symlink_to(path)
    return folder


def best(tables: GameTablebase, position: Position) -> set[str]:
    return {move.move.iccs for move in tables.probe_root(position) if move.best}


def filtered_in_c(rules: str, folder: Path, positions: list[Position]) -> list[list[str]]:
    """Return for each position the C reader's status (-1: missing table), then its best moves."""
    records = b"".join(bytes([p.side]) + p.board + b"\0" for p in positions)
    files = sorted(folder.glob("*.xqt"))
    output = run(cprograms.harness(), "filter", rules, CACHE, *files, records=records)
    return [line.split() for line in output.decode().splitlines()]


@needs_c
@pytest.mark.parametrize(("material", "rules", "metric"), CASES)
def test_moves_kept_without_a_table_are_best(
    tmp_path: Path, material: str, rules: str, metric: str | None
) -> None:
    directory = built(material, rules=rules, metric=metric)
    positions = with_captures(random.Random(5), material, 40)
    with open_tablebase(directory) as full:
        truth = [best(full, position) for position in positions]
        names = {name.material.name for name in full.available()} - {material}
    for name in sorted(names):
        folder = without(directory, name, tmp_path / name)
        in_c = filtered_in_c(rules, folder, positions)
        with open_tablebase(folder) as tables:
            for position, moves, (status, *kept) in zip(positions, truth, in_c, strict=True):
                known = best(tables, position)
                assert known <= moves, position.fen
                assert (status, bool(kept)) == (("0", True) if known else ("-1", False))
                in_iccs = {
                    move.iccs
                    for move in legal_moves(position)
                    if f"{move.source}-{move.target}" in kept
                }
                assert in_iccs <= known
                if known:
                    move = tables.best_move(position)
                    assert move is not None
                    assert move.move.iccs in known
                    continue
                with pytest.raises(MissingTableError, match=f"no table of {name} "):
                    tables.best_move(position)


def test_the_only_move_without_a_value_is_best(tmp_path: Path) -> None:
    folder = without(built("KRKN"), "KRK", tmp_path / "tables")
    with open_tablebase(folder) as tables:
        move = tables.best_move(MATE_BEHIND_A_MISSING_TABLE)
        assert move is not None
        assert (move.move.iccs, move.missing) == ("e0e2", "KRK")
        line = tables.mainline(MATE_BEHIND_A_MISSING_TABLE)
        assert [step.choice.move.iccs for step in line.moves] == ["e0e2"]
        assert (line.ending, line.missing) == (Ending.UNKNOWN, "KRK")


@needs_c
def test_of_several_moves_without_a_value_none_is_best(tmp_path: Path) -> None:
    folder = without(built("KRKN"), "KRK", tmp_path / "tables")
    position = Position.from_fen(SEVERAL_UNKNOWN)
    with open_tablebase(folder) as tables:
        moves = tables.probe_root(position)
        assert {str(move.move) for move in moves if move.missing} == {"f0f1", "f3f1"}
        assert not any(move.best for move in moves)
        with pytest.raises(MissingTableError, match="no table of KRK "):
            tables.best_move(position)
        line = tables.mainline(position)
        assert (line.ending, line.missing, line.moves) == (Ending.UNKNOWN, "KRK", ())
        assert TableStore(tables).probe_game([position], []).suggested is None
    assert filtered_in_c("check", folder, [position]) == [["-1"]]


def test_a_table_removed_during_the_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The moves of the position were known, and are unknown when the repetitions are examined."""
    with open_tablebase(built("KRKN", rules="wxf")) as tables:
        position = Position.from_fen("4k4/9/9/9/8R/9/2n6/9/3K5/9 w")
        root, moves = tables.probe_with_moves(position)
        assert choose(tables, position, root, moves, []) in moves
        unknown = [replace(move, result=None, missing="KRKN") for move in moves]
        monkeypatch.setattr(tables, "probe_with_moves", lambda position: (root, unknown))
        with pytest.raises(MissingTableError, match="KRKN"):
            choose(tables, position, root, moves, [])

"""Mechanisms of rule decisions: the offence (check or chase), its victim, and the chasers."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import tbgen.answers.mechanism
from tbgen.answers.mechanism import (
    Mechanism,
    Offence,
    Piece,
    _checkers,
    find_mechanism,
    mechanism_of,
)
from tbgen.answers.reasons import ENGLISH, Words, explain_line, explain_move, explain_position
from tbgen.board.language import words
from tbgen.cli import main
from tbgen.indexing import Move, Position, Side
from tbgen.indexing.squares import PieceType, parse_square, piece_kind, piece_side
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.referee import Label
from tbgen.rules.attacks import attacks
from tbgen.tables import IllegalPositionError
from tests.helpers.built import built

CHASE = "9/cN4P2/4k4/9/9/9/9/9/9/3K5 w"
CHECK = "9/9/4k4/9/9/9/9/9/1n7/R2K5 w"


@pytest.fixture(scope="module")
def chases() -> Iterator[GameTablebase]:
    """Yield a tablebase with KNPKC under wxf, in which chases decide 78 positions.

    Perpetual checks decide no position of this material.
    """
    with open_tablebase(built("KNPKC", rules="wxf")) as tables:
        yield tables


@pytest.fixture(scope="module")
def checks() -> Iterator[GameTablebase]:
    """Yield a tablebase with KRKN under wxf, in which only perpetual checks decide."""
    with open_tablebase(built("KRKN", rules="wxf")) as tables:
        yield tables


@cache
def decided(material: str) -> list[Position]:
    """Return the positions of a wxf table that the repetition rules decide, sorted by FEN."""
    found = set[Position]()
    with open_tablebase(built(material, rules="wxf")) as tables:
        file = tables.table(material)
        space = file.code_space
        for side in Side:
            plane = file.plane(side).astype(np.int64)
            rank = np.where(plane < space.draw, plane - 1, space.top - plane)
            slots = np.flatnonzero((plane != space.draw) & (rank >= space.span))
            # Slots without a position repeat the code before them.
            positions = (file.layout.position(slot, side) for slot in slots.tolist())
            for position in positions:
                with contextlib.suppress(IllegalPositionError):
                    if position is not None and tables.probe(position).order:
                        found.add(position)
    return sorted(found, key=lambda position: position.fen)


@pytest.mark.parametrize("material", ["KNPKC", "KRKN"])
def test_the_loop_agrees_with_the_mechanism(
    chases: GameTablebase, checks: GameTablebase, material: str
) -> None:
    """The offence, victim and chasers that a mechanism names are those in the loop of best play.

    Tested are 10 positions of each material. Every move of the offender in the loop has the
    named offence. A chase has the named victim on every move, wherever the victim moves.
    """
    tables, offence = (chases, Offence.CHASE) if material == "KNPKC" else (checks, Offence.CHECK)
    for position in random.Random(4).sample(decided(material), 10):
        line = tables.mainline(position)
        found = find_mechanism(tables, position)
        assert found == mechanism_of(line)
        assert found is not None, position.fen
        assert line.winner == found.offender.other
        assert found.offence == offence
        assert found.by
        for piece in found.by:
            assert piece.side == found.offender
            assert piece_kind(position.board[piece.square]) == piece.kind
        assert line.verdict is not None
        assert line.verdict.span is not None
        assert line.loop_start is not None
        loop = line.verdict.plies[slice(*line.verdict.span)]
        if offence == Offence.CHECK:
            assert found.victim is None
            labels = {ply.label for ply in loop if ply.side == found.offender}
            assert labels == {Label.CHECK}
            continue
        victim = found.victim
        assert victim is not None
        assert piece_side(position.board[victim.square]) == victim.side == found.offender.other
        square = victim.square
        for number, played in enumerate(line.moves):
            source, target = played.choice.move
            square = target if source == square else square
            if number >= line.loop_start and played.position.side == found.offender:
                assert square in loop[number - line.loop_start].chased, position.fen


def test_words_of_a_chase(chases: GameTablebase) -> None:
    position = Position.from_fen(CHASE)
    result, moves = chases.probe_with_moves(position)
    found = find_mechanism(chases, position)
    assert found is not None
    assert explain_position(position, result, found) == (
        "Black's longest defence is a perpetual chase of the pawn on g8 by the cannon, "
        "which loses (order 1)"
    )
    assert explain_move(result, moves[0], found) == (
        "Black's best is to go on with the perpetual chase of the pawn on g8 by the cannon, "
        "which loses (order 1)"
    )
    # A direct win of a side that is not in check is by chase, with or without a mechanism.
    assert explain_position(position, result) == (
        "Black's longest defence is a perpetual chase, which loses (order 1)"
    )
    assert explain_position(position, result, found, words.WORDS["zh-Hans"]) == (
        "黑方最顽强的着法是用炮长捉三路兵，判负（1阶）"
    )
    assert explain_move(result, moves[0], found, words.WORDS["zh-Hans"]) == (
        "黑方最顽强的着法是继续用炮长捉三路兵，判负（1阶）"
    )
    assert explain_position(position, result, found, words.WORDS["zh-Hant"]) == (
        "黑方最頑強的著法是用炮長捉三路兵，判負（1階）"
    )
    line = chases.mainline(position)
    assert explain_line(line, words.WORDS["zh-Hans"]) == "着法循环：黑方用炮长捉三路兵，红方胜"


def test_arrows_of_a_chase(chases: GameTablebase) -> None:
    """A chase is drawn as arrows from the chasers to the victim.

    Tested are the picture of the position, and each frame with a move of the offender.
    """
    pytest.importorskip("starlette", reason="the extra `web` is not installed")
    from tbgen.board.drawing.animation import frames_of_line
    from tbgen.board.web.verdict import chase_arrows

    position = Position.from_fen(CHASE)
    found = find_mechanism(chases, position)
    assert found is not None
    assert found.victim is not None
    chasers = {piece.square for piece in found.by}
    drawn = chase_arrows(position, found)
    assert {arrow.target for arrow in drawn} == {found.victim.square}
    assert {arrow.source for arrow in drawn} == chasers
    line = chases.mainline(position)
    for played, shot in zip(line.moves, frames_of_line(line), strict=True):
        if played.position.side == found.offender:
            assert shot.label == "chase"
            assert {arrow.kind for arrow in shot.arrows} == {"chase"}
            for arrow in shot.arrows:
                assert attacks(shot.after.board, arrow.source, arrow.target)


def test_both_languages_fill_the_same_fields_of_a_sentence() -> None:
    known = {"side", "other", "order", "plies", "distance", "mates", "mated", "offence"}
    for sentences in (Words.sentences, words.Chinese.sentences):
        assert all(sentences.values())
        used = {field for text in sentences.values() for _, field, *_ in Formatter().parse(text)}
        assert used - {None} <= known | {"material", "verdict"}


def test_several_chasers_are_named() -> None:
    rook = Piece(Side.RED, PieceType.ROOK, parse_square("e4"))
    by = tuple(
        Piece(Side.BLACK, kind, square)
        for square, kind in enumerate((PieceType.KNIGHT, PieceType.CANNON, PieceType.KNIGHT))
    )
    position = Position.from_fen("4k4/9/9/9/9/4R4/9/9/9/nnc1K4 w")
    found = Mechanism(Offence.CHASE, Side.BLACK, rook, by, Move(0, 1), position)
    assert ENGLISH.chase(found) == (
        "perpetual chase of the rook on e4 by the knights and the cannon"
    )
    assert words.Chinese().chase(found) == "用马炮长捉五路车"


@pytest.mark.parametrize(
    ("board", "square", "name"),
    [
        ("9/9/1P1k5/9/1P7/9/9/9/9/1n2K4", "b7", "前兵"),
        ("9/9/1P1k5/9/1P7/9/9/9/9/1n2K4", "b5", "后兵"),
        ("9/9/1P1k5/1P7/1P7/9/9/9/9/1n2K4", "b6", "中兵"),
        ("9/1P7/1P1k5/1P7/1P7/9/9/9/9/1n2K4", "b6", "三兵"),
        ("9/9/1P1k1P3/9/1P3P3/9/9/9/9/1n2K4", "b5", "四兵"),
        ("9/9/1P1k5/9/2P6/9/9/9/9/1n2K4", "b7", "八路兵"),
        ("3k5/9/9/9/9/9/1p7/1p7/9/4K4", "b2", "前卒"),
        ("3k5/9/9/9/9/9/9/3A5/9/3AK4", "d0", "后仕"),
    ],
)
def test_a_chased_piece_is_named_beyond_doubt(board: str, square: str, name: str) -> None:
    """With others of its kind on its file, a victim has the name that texts of moves give it."""
    position = Position.from_fen(f"{board} w")
    assert words.name_on_file(position, parse_square(square)) == name


@pytest.mark.parametrize("plies", [4, 6])
def test_a_loop_too_far_away_is_not_named(
    chases: GameTablebase, monkeypatch: pytest.MonkeyPatch, plies: int
) -> None:
    """A rule decision gets no mechanism if its loop ends after more than `MAX_PLIES` plies.

    Tested are a limit that ends before the loop begins, and one that ends inside the loop.
    """
    starts = {chases.probe(p).plies: p for p in decided("KNPKC")}
    position = starts[5]
    monkeypatch.setattr(tbgen.answers.mechanism, "MAX_PLIES", plies)
    assert find_mechanism(chases, position) is None
    assert explain_position(position, chases.probe(position)) == (
        "Black loses by perpetual check or chase, order 1, in 5 plies"
    )


def test_only_rules_have_a_mechanism(checks: GameTablebase) -> None:
    assert find_mechanism(checks, Position.from_fen("4k4/9/9/9/9/9/9/9/9/R2K5 w")) is None
    line = checks.mainline(Position.from_fen("4k4/9/9/9/9/9/9/9/9/R2K5 w"))
    assert mechanism_of(line) is None
    assert explain_line(line) == "Black is stalemated: Red wins"


def test_every_checker_of_a_loop_is_named() -> None:
    """Two rooks that check in turn are both named, also the one that checks in the first move."""
    start = Position.from_fen("5k3/9/9/9/r7r/9/9/9/9/3K5 b")
    position, played = start, []
    for move in map(Move.from_iccs, ("a5a0", "d0d1", "i5i1")):
        after = position.after(*move)
        choice = SimpleNamespace(move=move, after=after)
        played.append(SimpleNamespace(position=position, choice=choice))
        position = after
    line: Any = SimpleNamespace(start=start, moves=played, loop_start=0)
    assert _checkers(line, Side.BLACK) == tuple(
        Piece(Side.BLACK, PieceType.ROOK, parse_square(name)) for name in ("a5", "i5")
    )


def run(tables: Path, *arguments: str, stdin: str | None = None) -> str:
    result = CliRunner().invoke(main, [*arguments, "--tables", str(tables)], input=stdin)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("command", ["probe", "line"])
def test_answers_have_the_mechanism(command: str) -> None:
    tables = built("KNPKC", rules="wxf")
    answer = json.loads(run(tables, command, CHASE, "--json"))
    assert answer["mechanism"] == {
        "kind": "chase",
        "offender": "black",
        "victim": {"side": "red", "piece": "pawn", "square": "g8"},
        "by": [{"side": "black", "piece": "cannon", "square": "a8"}],
    }
    shown = run(tables, command, CHASE)
    assert "a perpetual chase of the pawn on g8 by the cannon, which loses" in shown
    if command == "line":
        assert run(tables, "line", "-", stdin=CHASE) == shown
        assert answer["verdict"]["verdict"] == "red wins"
        assert answer["verdict"]["level"] == {"red": 0, "black": 1}
        assert shown.count("then for ever:") == 1
        assert answer["verdict"]["reason"] in shown


def test_answers_about_checks_have_the_mechanism() -> None:
    tables = built("KRKN", rules="wxf")
    answer = json.loads(run(tables, "probe", CHECK, "--json"))
    assert answer["mechanism"] == {
        "kind": "check",
        "offender": "black",
        "victim": None,
        "by": [{"side": "black", "piece": "knight", "square": "b1"}],
    }
    assert "perpetual check, which loses (order 1)" in answer["reason"]
    assert json.loads(run(tables, "probe", CHECK, "--json", "--no-explain"))["mechanism"] is None
    assert json.loads(run(tables, "probe", "-", "--json", stdin=CHECK))["mechanism"] is None
    explained = run(tables, "probe", "-", "--explain", "--json", stdin=CHECK)
    assert json.loads(explained) == answer | {"line": 1}

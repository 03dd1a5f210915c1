"""Chinese verdicts of the referee: cited articles, and points that are no articles of the rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tbgen import Judgement, judge
from tbgen.board.language.words import explain_judgement
from tbgen.indexing.squares import PieceType
from tbgen.referee.reasons import TrackedPiece
from tbgen.tables import Rules

CANNON = "3k5/9/9/1c7/9/2R5r/9/9/9/5K3 w", "c4b4 b6c6 b4c4 c6b6"
"""Game (FEN, moves) in which Red's rook chases the cannon."""

MIXED = "2bak3r/2R1a2C1/2Rcb4/2N2P3/5C2p/9/9/4p4/4p2p1/5K3 w", "f5e5 e9f9 e5f5 f9e9 f5e5 e9f9"
"""Game (FEN, moves) in which Red mixes checks and chases."""


def judged(fen: str, moves: str) -> Judgement:
    return judge(fen, moves.split())


def test_articles_are_those_of_the_asian_rules() -> None:
    said = explain_judgement(judged(*CANNON), Rules.WXF, "zh-Hans")
    assert said == "红方车步步捉炮，黑方走闲着：判黑方胜（亚洲规则第18条）"
    assert explain_judgement(judged(*CANNON), Rules.WXF, "zh-Hant").endswith("（亞洲規則第18條）")
    assert explain_judgement(judged(*CANNON), Rules.UNPROTECTED, "zh-Hans").endswith("（第18条）")


def test_all_articles_of_a_draw_are_named() -> None:
    """A verdict of a draw cites two articles, one for the moves of each side.

    Red mixes checks and chases, and Black chases different pieces in turn.
    """
    judgement = judged(*MIXED)
    red, black = judgement.conducts
    both = replace(judgement, conducts=(red, replace(black, chasing=black.plies)))
    assert explain_judgement(both, Rules.WXF, "zh-Hans").endswith(
        "黑方轮捉不同的子：判和（亚洲规则第12条、第32条）"
    )


@pytest.mark.parametrize(
    ("chaser", "cited"),
    [(PieceType.ROOK, "（捉无根子或假根子）"), (PieceType.ADVISOR, "（裁判说明第4点）")],
)
def test_points_are_no_articles(chaser: PieceType, cited: str) -> None:
    judgement = judged(*CANNON)
    pair = TrackedPiece(0, chaser, True), TrackedPiece(1, PieceType.PAWN, True)
    offender = replace(judgement.conducts[0], pairs=(pair,))
    other = replace(judgement, conducts=(offender, judgement.conducts[1]))
    assert explain_judgement(other, Rules.WXF, "zh-Hans").endswith(cited)

"""Chinese verdicts of the referee, with cited articles and points, and Chinese error messages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tbgen import Judgement, MissingTableError, MoveTextError, Position, judge
from tbgen.board.language.error_messages import _PATTERNS, _translated, localise_error
from tbgen.board.language.i18n import TEXTS, traditional
from tbgen.board.language.words import explain_judgement, material_name, time_in_words
from tbgen.board.web.http import failure
from tbgen.indexing import Material
from tbgen.indexing.squares import PieceType
from tbgen.notation import parse_move
from tbgen.referee.reasons import TrackedPiece
from tbgen.tables import (
    CorruptTableError,
    FormatVersionError,
    RulesMismatchError,
    UnsupportedMaterialError,
)
from tbgen.tables.names import Rules
from tests.helpers.paths import ROOT

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


@pytest.mark.parametrize(
    ("fen", "said"),
    [
        ("3k5/9/9/1c7/9/2R5r/9/9/9/5K3 w", "最后局面此前没有出现过"),
        ("3k5/3R5/3R5/9/9/9/9/9/9/4K4 b", "黑方无着可走：红方胜"),
        ("4k4/9/9/9/9/9/9/5r3/5r3/5K3 w", "红方无着可走：黑方胜"),
    ],
)
def test_positions_without_repetition_are_judged(fen: str, said: str) -> None:
    assert explain_judgement(judge(fen, []), Rules.WXF, "zh-Hans") == said


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


def test_terms_of_chinese_texts() -> None:
    """A bare king has its usual name, a file is no 残局库, and quotes are those of the script."""
    assert material_name(Material.parse("KRK"), "zh-Hans") == "车对孤将"
    assert traditional("“车对孤将”") == "「車對孤將」"
    assert [key for key, (_, chinese) in TEXTS.items() if "残局库" in chinese] == ["title"]
    assert not any("「" in chinese for _, chinese in [*TEXTS.values(), *_PATTERNS])


def test_texts_with_a_number_also_fit_one() -> None:
    """A noun in the plural follows only a number that is never 1."""
    several = {"plies", "n_moves", "order_many", "missing_card", "find_first"}
    counted = re.compile(r"\{(?:n|total|shown|candidates|count)\} [a-z]+s\b")
    assert {key for key, (english, _) in TEXTS.items() if counted.search(english)} == several


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0, "under 1 s, 不到1秒"), (0.6, "under 1 s, 不到1秒"), (12, "12 s, 12秒")],
)
def test_times(seconds: float, said: str) -> None:
    assert ", ".join(time_in_words(seconds, each) for each in ("en", "zh-Hant")) == said


# -- error messages --------------------------------------------------------------------------

SOURCES = (
    *(ROOT / "tbgen" / "board").rglob("*.py"),
    *(ROOT / "tbgen" / "notation").glob("*.py"),
    *(ROOT / "indexing" / f"{name}.py" for name in ("boardcode", "material", "move", "squares")),
    *(ROOT / "tbgen" / "finding" / f"{name}.py" for name in ("query", "sample")),
    ROOT / "tbgen" / "rules" / "positions.py",
    ROOT / "indexing" / "position.py",
)
"""Modules whose errors a page may show."""

FOR_PROGRAMS = {"bitmap.py", "files.py", "middleware.py"}
"""Modules of the board whose errors are answered as JSON."""

UNSEEN = {
    "a board has {} squares, not {}", "{} is no side", "it is Side.RED or Side.BLACK",
    "{} holds {}, which is no piece code", "piece codes are 1 to 7 for Red and 9 to 15 for Black",
    "{} is no notation of moves", "{} is no notation of positions", "choose {}", "{} is no range",
    "give 5, or (5, 9)",
}  # fmt: skip
"""Messages on arguments of functions, which no address contains."""

ERRORS = r"RequestError|(\w*Input|\w*Text|Position|Material|\w+Found|NoReply)Error"
"""Pattern of the functions that make errors of a page."""

ERRORS_OF_TABLES = (
    MissingTableError("KRKN"), RulesMismatchError("several rule sets", ["wxf", "none"], "choose"),
    UnsupportedMaterialError("KRKN", "too large"), CorruptTableError(Path("KRKN.xqt"), "short"),
    FormatVersionError(Path("KRKN.xqt"), 9, 1), MemoryError(),
)  # fmt: skip

FIELDS = ("3", "KRKN", "R", "Red", "rook", "e4", "'x'", "win, draw", "e4e5")
"""Samples of the fields of messages."""


def texts_of(node: ast.expr, scope: ast.FunctionDef, module: ast.Module) -> Iterator[str]:
    """Yield the texts that an expression in a function may have; `{}` stands for each field.

    Names are looked up in the function and among constants, calls among the module's functions.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
        )
    elif isinstance(node, ast.IfExp):
        yield from [*texts_of(node.body, scope, module), *texts_of(node.orelse, scope, module)]
    elif isinstance(node, ast.Name):
        for other in [*ast.walk(scope), *module.body]:
            if isinstance(other, ast.Assign) and ast.unparse(other.targets[0]) == node.id:
                yield from texts_of(other.value, scope, module)
    elif isinstance(node, ast.Call):
        for called in module.body:
            if isinstance(called, ast.FunctionDef) and called.name == ast.unparse(node.func):
                for inner in ast.walk(called):
                    if isinstance(inner, ast.Return) and inner.value is not None:
                        yield from texts_of(inner.value, called, module)


def test_every_error_of_a_page_has_a_chinese_text() -> None:
    """Every message and hint of an error that a page may show has a Chinese text.

    The texts are read from the source: arguments of errors, and of functions that return them.
    """
    found = set()
    for path in SOURCES:
        module = ast.parse(path.read_text("utf-8"))
        for scope in ast.walk(module):
            if path.name in FOR_PROGRAMS or not isinstance(scope, ast.FunctionDef):
                continue
            for node in ast.walk(scope):
                if isinstance(node, ast.Call) and re.fullmatch(ERRORS, ast.unparse(node.func)):
                    found |= {text for each in node.args for text in texts_of(each, scope, module)}
    assert {"{} is given {} times", "it has none", "two pieces on {}"} < found
    for error in ERRORS_OF_TABLES:
        body = failure(error).body
        assert isinstance(body, dict)
        found |= set(body.values())
    without = {
        text
        for text in found - UNSEEN - {""}
        if not any(_translated(text.replace("{}", field), "zh-Hans") for field in FIELDS)
    }
    assert not without


def test_squares_and_moves_in_errors_are_those_of_the_board() -> None:
    """A Chinese error names squares as the board shows them, and moves in the notation typed.

    Beside moves, which count files from the mover's side, squares have letters.
    """
    position = Position.from_fen("3k5/9/9/9/9/9/9/9/9/RN2K4 w")
    with pytest.raises(MoveTextError) as raised:
        parse_move(position, "马八平七")
    found = localise_error(raised.value.message, raised.value.hint, "zh-Hans")
    assert found == ("“马八平七”不是合法着法", "红方b0的马可走“马八进七 马八进九 马八进六”")
    hint = "Black's rook on a0 and b9 cannot move"
    assert localise_error("e4 is no square", hint, "zh-Hans")[1] == "黑方a0、b9的车不能走"
    assert localise_error("Red's king cannot stand on a3", "", "zh-Hans")[0] == (
        "红方帅不能在九路第4线（a3）"
    )


def test_quotations_keep_their_script() -> None:
    """A quotation in a traditional message is as the visitor typed it; the quotes are 「」."""
    assert localise_error("'查找程序' is no endgame, position or game", "", "zh-Hant")[0] == (
        "「查找程序」不是殘局、局面或棋譜"
    )
    assert localise_error("Red has 2 kings", "write both sides, as in 车马对车", "zh-Hant") == (
        "紅方有2個帥，應為一個",
        "請寫出雙方，例如「車馬對車」",
    )
    assert localise_error("'车' is a malformed tag", "", "zh-Hant")[0] == "標籤「车」格式不對"
    assert localise_error("line '车' of the board has 1 points, not 9", "", "zh-Hant")[0] == (
        "棋盤的一行「车」有1個點，應為9個點"
    )


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("Red's elephant cannot stand on e1", "红方相不能在五路第2线（e1）"),
        ("Black's elephant cannot stand on e8", "黑方象不能在五路第9线（e8）"),
        ("Red has 3 pieces of the kind A", "红方有3个仕，太多"),
        ("Black has 6 pieces of the kind P", "黑方有6个卒，太多"),
        ("Black has 2 kings", "黑方有2个将，应为一个"),
        ("in KRKN Black has 0 of the piece r, not 1", "“KRKN”中黑方有0个车，不是1个"),
        ("in KAK Red has 1 of the piece A, not 2", "“KAK”中红方有1个仕，不是2个"),
        ("3 A on one side", "一方有3个士（仕）"),
        ("several metrics of KRKN: dtm, dtc are present; say which one to use",
         "“KRKN”有两种步数的残局表（到将死、到吃子转换），启动时请指定一种"),
        ("a0a5: the elephant on a0 cannot reach a5",
         "“a0a5”：九路底线（a0）的象（相）走不到九路第6线（a5）"),
    ],
)  # fmt: skip
def test_errors_name_pieces_by_side_and_metrics_by_meaning(english: str, chinese: str) -> None:
    assert localise_error(english, "", "zh-Hans")[0] == chinese

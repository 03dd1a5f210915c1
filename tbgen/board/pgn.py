"""A game, or best play from a position, as the PGN text that xiangqi programs read.

moves given   ->  the game, its result by the board and the referee, and why in a comment
none given    ->  best play, with the order-value of each position as a comment
"""

from __future__ import annotations

from collections.abc import Sequence

from tbgen.board.i18n import text
from tbgen.board.library import Library
from tbgen.board.state import View
from tbgen.board.verdict import order_value
from tbgen.board.words import explain_judgement, explain_line
from tbgen.indexing import Side
from tbgen.notation import format_move
from tbgen.play.mainline import Ending, Mainline
from tbgen.play.preference import RootMove
from tbgen.rules import check_legal
from tbgen.tables import MissingTableError, UnsupportedMaterialError

_FORMATS = {"iccs": "ICCS", "wxf": "WXF", "zh": "Chinese", "zh-hant": "Chinese"}
_RESULTS = {Side.RED: "1-0", Side.BLACK: "0-1", None: "1/2-1/2"}


def game_text(library: Library, view: View) -> str:
    """The text of a game with its headers; moves in the view's notation, two to a line.

    Raises like `Tablebase.probe`, but not for a missing table: then no best play is given.
    """
    check_legal(view.start)
    rules = library.tables.rule_set
    if view.moves:
        moves = _moves(view)
        result, why = _end_of_game(library, view)
    else:
        try:
            line = library.line(view.start)
        except (MissingTableError, UnsupportedMaterialError):
            moves, result, why = [], "*", ""
        else:
            moves = [
                f"{format_move(played.position, played.choice.move, view.notation)}"
                f"{_comment(played.choice)}"
                for played in line.moves
            ]
            result, why = _end_of_line(line), explain_line(line, view.language)
    tags = {
        "Game": "Chinese Chess",
        "Event": f"{view.start.material} endgame",
        "Date": "????.??.??",
        "Red": "?",
        "Black": "?",
        "Result": result,
        "FEN": view.start.fen,
        "Format": _FORMATS.get(view.notation, view.notation),
        "Rules": "none" if rules.rules is None else str(rules),
    }
    lines = [f'[{name} "{value}"]' for name, value in tags.items()]
    reason = [f"{{{why}}}"] if why else []
    return "\n".join([*lines, "", *_pairs(view, moves), *reason, result, ""])


def _moves(view: View) -> list[str]:
    return [
        format_move(position, move, view.notation)
        for position, move in zip(view.positions, view.moves, strict=False)
    ]


def _pairs(view: View, moves: Sequence[str]) -> list[str]:
    """Numbered lines of two moves; one dotted move in front where Black begins."""
    found = [*(["..."] if view.start.side == Side.BLACK and moves else []), *moves]
    return [
        f"{number // 2 + 1}. {' '.join(found[number : number + 2])}"
        for number in range(0, len(found), 2)
    ]


def _comment(choice: RootMove) -> str:
    return "" if choice.value is None else f" {{{order_value(choice.order, choice.value)}}}"


def _end_of_game(library: Library, view: View) -> tuple[str, str]:
    """Result and reason of a game: `*` and nothing while it goes on."""
    study = library.study(view.positions, view.moves)
    over = study.over
    if over is None:
        return "*", ""
    if over.why == "repetition" and study.judgement is not None:
        why = explain_judgement(study.judgement, study.rules, view.language)
        return _RESULTS[over.winner], why
    loser = "" if over.winner is None else text(view.language, over.winner.other.name.lower())
    return _RESULTS[over.winner], text(view.language, f"over_{over.why}", side=loser)


def _end_of_line(line: Mainline) -> str:
    if line.winner is not None or line.ending in (Ending.DRAW, Ending.LOOP):
        return _RESULTS[line.winner]
    return "*"

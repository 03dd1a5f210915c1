"""PGN text of a game, or of best play from a position, for xiangqi programs.

moves given   ->  the game, its result by the board and the referee, the reason as a comment
none given    ->  best play, with the order and value of each position as a comment
"""

from __future__ import annotations

from collections.abc import Sequence

from tbgen.answers.reasons import explain_line
from tbgen.board.knowledge.games import RESULTS
from tbgen.board.knowledge.library import Library
from tbgen.board.language.i18n import text
from tbgen.board.language.words import WORDS, explain_judgement, order_value
from tbgen.indexing import Move, Position, Side
from tbgen.notation import format_move
from tbgen.play.mainline import Ending, Mainline
from tbgen.rules import check_legal
from tbgen.tables import MissingTableError, UnsupportedMaterialError

_FORMATS = {"iccs": "ICCS", "wxf": "WXF", "zh": "Chinese", "zh-hant": "Chinese"}


def game_text(
    library: Library,
    positions: Sequence[Position],
    moves: Sequence[Move],
    notation: str = "iccs",
    language: str = "en",
) -> str:
    """Return the PGN text of a game, two moves to a line.

    positions : those of the game, one more than there are moves
    notation : of the moves, one of `MOVE_NOTATIONS`
    language : of the comments
    Raises like `Tablebase.probe`; if the first position's table is missing, best play is left out.
    """
    start = positions[0]
    check_legal(start)
    rules = library.tables.rule_set
    if moves:
        played = zip(positions, moves, strict=False)
        texts = [format_move(position, move, notation) for position, move in played]
        result, why = _end_of_game(library, positions, moves, language)
    else:
        try:
            line = library.line(start)
        except (MissingTableError, UnsupportedMaterialError):
            texts, result, why = [], "*", ""
        else:
            texts = []
            for each in line.moves:
                texts.append(format_move(each.position, each.choice.move, notation))
                if each.choice.value is not None:
                    texts[-1] += f" {{{order_value(each.choice.order, each.choice.value)}}}"
            result, why = _end_of_line(line), explain_line(line, WORDS[language])
    tags = {
        "Game": "Chinese Chess",
        "Event": f"{start.material} endgame",
        "Date": "????.??.??",
        "Red": "?",
        "Black": "?",
        "Result": result,
        "FEN": start.fen,
        "Format": _FORMATS.get(notation, notation),
        "Rules": "none" if rules.rules is None else str(rules),
    }
    lines = [f'[{name} "{value}"]' for name, value in tags.items()]
    reason = [f"{{{why}}}"] if why else []
    return "\n".join([*lines, "", *_pairs(start, texts), *reason, result, ""])


def _pairs(start: Position, moves: Sequence[str]) -> list[str]:
    """Return numbered lines of two moves; if Black begins, `...` stands for Red's first move."""
    found = [*(["..."] if start.side == Side.BLACK and moves else []), *moves]
    return [
        f"{number // 2 + 1}. {' '.join(found[number : number + 2])}"
        for number in range(0, len(found), 2)
    ]


def _end_of_game(
    library: Library, positions: Sequence[Position], moves: Sequence[Move], language: str
) -> tuple[str, str]:
    """Return result and reason of a game; `*` and an empty reason if it is not over."""
    study = library.study(positions, moves)
    over = study.over
    if over is None:
        return "*", ""
    if over.why == "repetition" and study.judgement is not None:
        why = explain_judgement(study.judgement, study.rules, language)
        return RESULTS[over.winner], why
    loser = "" if over.winner is None else over.winner.other
    return RESULTS[over.winner], text(language, f"over_{over.why}", side=loser)


def _end_of_line(line: Mainline) -> str:
    if line.winner is not None or line.ending in (Ending.DRAW, Ending.LOOP):
        return RESULTS[line.winner]
    return "*"

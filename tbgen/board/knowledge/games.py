"""A game, or best play, as the text of a PGN file. `tbgen.notation.games` reads such texts.

position, moves    ->  PGN of the game, its result by board and referee
position alone     ->  PGN of best play; after each move, as a comment, order and value of the
                       position that it leads to (`order_value`), if they are known

A comment before the result has the reason why the game or line ends. A game that is not over, and
best play without a table, have none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from tbgen.answers.reasons import explain_line
from tbgen.board.knowledge.store import RESULTS, TableStore
from tbgen.board.language.i18n import localise, text
from tbgen.board.language.words import WORDS, explain_judgement, material_name, order_value
from tbgen.indexing import Move, Position, Side
from tbgen.notation import format_move
from tbgen.play.mainline import Ending
from tbgen.rules import check_legal
from tbgen.tables import MissingTableError, UnsupportedMaterialError

_FORMATS = {"iccs": "ICCS", "wxf": "WXF", "zh": "Chinese", "zh-hant": "Chinese"}
"""Value of the PGN tag `Format` by notation of moves; any other notation is its own value."""


def game_text(
    store: TableStore,
    positions: Sequence[Position],
    moves: Sequence[Move],
    notation: str = "iccs",
    language: str = "en",
) -> str:
    """Return the PGN text of a game, two plies to a line; without moves, that of best play.

    positions : positions of the game, one more than there are moves; best play starts at the first
    notation : notation of the moves, one of `tbgen.notation.MOVE_NOTATIONS`
    language : language of comments and of the name of the endgame

    Raises `PositionError` if the first position is illegal, and like `TableStore.probe_game`. If
    there is no table for best play, the text has no moves, and the result `*`.
    """
    start = positions[0]
    check_legal(start)
    rules = store.tables.rule_set
    texts, result, why = [], "*", ""
    if moves:
        played = zip(positions, moves, strict=False)
        texts = [format_move(position, move, notation) for position, move in played]
        facts = store.probe_game(positions, moves)
        if (over := facts.over) is not None:
            loser = "" if over.winner is None else over.winner.other
            result, why = RESULTS[over.winner], text(language, f"over_{over.why}", side=loser)
            if over.why == "repetition" and facts.judgement is not None:
                why = explain_judgement(facts.judgement, facts.rules, language)
    else:
        with contextlib.suppress(MissingTableError, UnsupportedMaterialError):
            line = store.line(start)
            for each in line.moves:
                texts.append(format_move(each.position, each.choice.move, notation))
                if each.choice.value is not None:
                    texts[-1] += f" {{{order_value(each.choice.order, each.choice.value)}}}"
            if line.winner is not None or line.ending in (Ending.DRAW, Ending.LOOP):
                result = RESULTS[line.winner]
            why = explain_line(line, WORDS[language])
    name = material_name(start.material, "zh-Hans")
    tags = {
        "Game": "Chinese Chess",
        "Event": localise(language, f"{start.material} endgame", f"{name}残局"),
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
    if start.side == Side.BLACK and texts:
        texts.insert(0, "...")
    pairs = [
        f"{number // 2 + 1}. {' '.join(texts[number : number + 2])}"
        for number in range(0, len(texts), 2)
    ]
    return "\n".join([*lines, "", *pairs, *reason, result, ""])

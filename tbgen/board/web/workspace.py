"""Page of a position with all its modes: the look-up page, and the parts shared with `playing`.

    <main>  verdict | stage (board and buttons) | side (moves and panels)

Every move is a link to the position after it, so pages work without scripts. Pieces on the board
are links, too (`from=`); then their targets are links, with the value of each move.
"""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape

from tbgen.answers.mechanism import Mechanism
from tbgen.board.drawing.diagram import Arrow, Marks, Point, draw
from tbgen.board.drawing.story import checkers
from tbgen.board.knowledge.games import RESULTS
from tbgen.board.knowledge.library import Library, Study
from tbgen.board.language.complaints import complain
from tbgen.board.language.names import piece_name
from tbgen.board.language.words import result_name
from tbgen.board.web.construction import missing_card, running_build, starters
from tbgen.board.web.embed import card
from tbgen.board.web.gallery import chosen_panel
from tbgen.board.web.http import HTML, Answer
from tbgen.board.web.layout import link, page, screen_button, with_settings
from tbgen.board.web.panels import (
    endgame_panel,
    game_record,
    heat,
    rules_headline,
    rules_known,
    rules_panel,
    share_panel,
    slip_note,
    where_panel,
)
from tbgen.board.web.state import STRENGTHS, View
from tbgen.board.web.verdict import (
    chase_arrows,
    game_over,
    headline,
    move_groups,
    outcome_word,
    referee,
    short_value,
)
from tbgen.indexing import Side
from tbgen.indexing.errors import MoveTextError
from tbgen.indexing.squares import square_name
from tbgen.play.preference import RootMove
from tbgen.rules import in_check
from tbgen.rules.attacks import find_king
from tbgen.tables import Outcome

MOST_ARROWS = 3
"""Most arrows on the board that show best moves."""


def reading_page(
    library: Library, view: View, stated: str = "", fault: MoveTextError | None = None
) -> Answer:
    """Return the look-up page of a position.

    stated : result in the PGN of the game, if it differs from the known one
    fault : error of the first move of the game that could not be read or played
    """
    study = library.study(view.positions, view.moves)
    mechanism = library.mechanism(study)
    if view.where is not None and not view.position.board[view.where]:
        view = view.back(0)
    marks = marks_of(library, study, view, mechanism)
    known = rules_known(library, study)
    welcome, card, chosen = "", "", ""
    if not view.moves and view.start == library.first_position:
        welcome = f'<p class="welcome">{view.message("start_here")}</p>'
        chosen = chosen_panel(library, view)
        if not library.available() or running_build(library) is not None:
            card = starters(library, view, with_settings("/", view))
    if study.missing is not None and not card:
        card = missing_card(library, study, view)
    verdict = (
        f"{_fault(view, fault)}{_stated(study, view, stated)}{welcome}"
        f"{game_over(study.over, view)}{referee(study, view)}"
        f"{headline(study, view, mechanism)}{rules_headline(known, study, view)}"
        f"{slip_note(library, study, view)}{card}"
    )
    side = (
        f"{chosen}{move_groups(study, view, mechanism)}{rules_panel(known, view)}"
        f"{where_panel(study, view)}{endgame_panel(library, study, view)}"
        f"{game_record(library, view)}{share_panel(view)}"
    )
    shown = board_page(library, study, view, verdict, marks, side)
    return shown if fault is None else replace(shown, status=400)


def _fault(view: View, fault: MoveTextError | None) -> str:
    """Return a notice on the move that ended the reading of a game: illegal or malformed."""
    if fault is None:
        return ""
    number = (len(view.moves) + (view.start.side == Side.BLACK)) // 2 + 1
    what, hint = complain(fault.message, fault.hint, view.language)
    said = view.text("game_fault", n=number, side=view.position.side, what=what)
    return (
        f'<div class="notice problem" role="alert"><p>{escape(said)}</p>'
        f"{f'<p>{escape(hint)}</p>' if hint else ''}"
        f"<p>{view.message('game_kept', n=len(view.moves))}</p></div>"
    )


def _stated(study: Study, view: View, stated: str) -> str:
    """Return a notice that the result in a game's text contradicts the rules or the tables."""
    if not stated:
        return ""
    winners = {result: winner for winner, result in RESULTS.items()}
    names = [result_name(winners[result], view.language) for result in (stated, study.final)]
    key = "stated_tables" if study.over is None else "stated_rules"
    said = view.message(key, stated=names[0], found=names[1])
    return f'<p class="notice problem" role="alert">{said}</p>'


def board_page(
    library: Library, study: Study, view: View, verdict: str, marks: Marks, side: str
) -> Answer:
    """Return the page that the look-up and play modes share."""
    main = (
        f'<section class="verdict">{verdict}</section>'
        f'<section class="stage">{draw(study.position, view.look, marks)}'
        f"{_controls(library, study, view)}</section>"
        f'<section class="side">{side}</section>'
    )
    title = study.position.material.name
    head = card(library, study, view)
    whole = page(view, title, main, data=_data(library, study, view), css="workspace", head=head)
    return Answer(whole, HTML)


# -- the board -------------------------------------------------------------------------------


def marks_of(library: Library, study: Study, view: View, mechanism: Mechanism | None) -> Marks:
    """Return the marks of the board: links of pieces and targets, heat map, arrows."""
    links, targets = dict[int, str](), dict[int, Point]()
    reading = view.mode == "read"
    for move in study.moves:
        source, target = move.move
        if source == view.chosen:
            links[target] = view.after(move.move).href()
            worth = (outcome_word(move.outcome), short_value(move.worth)) if reading else ("", "")
            targets[target] = Point(*worth)
        elif source not in targets:
            links.setdefault(source, view.href(chosen=source, where=None))
    if view.chosen is not None:
        links[view.chosen] = view.href(chosen=None)
    arrows: list[Arrow] = []
    checked = None
    if in_check(study.position):
        checked = find_king(study.position.board, study.position.side)
        arrows = checkers(study.position)
    tried = heat(library, view) if reading else {}
    if reading and not tried:
        arrows += chase_arrows(study.position, mechanism)
        arrows += [
            Arrow(move.move.source, move.move.target, "best")
            for move in [move for move in study.moves if move.best][:MOST_ARROWS]
            if move.outcome == Outcome.WIN
        ]
    return Marks(
        last=view.moves[-1] if view.moves else None,
        links=links,
        selected=view.where if tried else view.chosen,
        targets=targets,
        arrows=arrows,
        heat=tried,
        checked=checked,
    )


def _controls(library: Library, study: Study, view: View) -> str:
    """Return the buttons below the board, which are links."""
    playing = view.mode == "play"
    suggested = None if study.over else study.suggested
    found = []
    if playing and suggested is not None and view.readers_turn:
        found.append(_hint(study, suggested, view))
    elif suggested is not None:
        key = "table_move" if playing else "suggested"
        href = _reply(library, study, view) or view.after(suggested.move).href()
        weaker = playing and view.strength != STRENGTHS[0]
        mark = "" if weaker else f' data-move="{suggested.move.iccs}"'
        found.append(link(href, view.text(key), "button suggested", mark))
    elif reply := _reply(library, study, view):
        found.append(link(reply, view.text("engine_move"), "button suggested"))
    if view.moves:
        found.append(link(_back(view), view.text("take_back"), "button back"))
        start = view.back(len(view.moves)).href()
        found.append(link(start, view.text("start_over"), "button start"))
    if playing:
        other = view.href(human=view.human.other, flip=not view.flip, chosen=None)
        found.append(link(other, view.text("switch_sides"), "button"))
    elif study.result is not None and study.result.outcome != Outcome.DRAW and study.moves:
        if not study.over:
            stop = f' data-stop="{view.message("stop")}" hidden'
            found.append(
                f'<button type="button" class="autoplay"{stop}>{view.message("autoplay")}</button>'
            )
        key = "why_line" if study.result.order else "line"
        plays = key == "why_line"
        href = view.href(mode="line", chosen=None, where=None, plays=plays)
        found.append(link(href, view.text(key), "button film-link"))
    found.append(link(view.href(flip=not view.flip), view.text("flip"), "button flip"))
    found.append(screen_button(view))
    return f'<div class="controls">{"".join(found)}</div>'


def _hint(study: Study, suggested: RootMove, view: View) -> str:
    """Return the button that requests a hint, or the requested hint on the best move.

    The first hint names only the piece to move, the second one the move.
    """
    if not view.hint:
        return link(view.href(hint="piece"), view.text("hint"), "button hint")
    piece = piece_name(study.position.board[suggested.move.source], view.language)
    said = view.text("hint_piece", piece=piece)
    if view.hint == "move":
        name = view.move_name(study.position, suggested.move)
        return f'<span class="hint whole">{escape(said)} <b>{escape(name)}</b></span>'
    more = link(view.href(hint="move"), view.text("hint_move"), "button hint")
    return f'<span class="hint">{escape(said)}</span> {more}'


def _reply(library: Library, study: Study, view: View) -> str:
    """Return the address that leads to the position after the opponent's reply.

    Empty outside play mode, at the reader's turn, after the end of the game, and without opponent.
    """
    due = view.mode == "play" and not view.readers_turn and study.over is None
    if not due or (study.suggested is None and not library.opponent):
        return ""
    if study.suggested is not None and view.strength == STRENGTHS[0]:
        return view.after(study.suggested.move).href()
    return view.href(chosen=None).replace("/?", "/reply?", 1)


def _back(view: View) -> str:
    """Return the address of the position with the last move taken back.

    In play mode at the reader's turn, the opponent's move and the reader's are taken back.
    """
    alone = view.mode != "play" or not view.readers_turn or len(view.moves) < 2
    return view.back(1 if alone else 2).href()


def _data(library: Library, study: Study, view: View) -> dict[str, str]:
    """Return data attributes for the script: addresses for keys, and of every move."""
    reading = view.mode == "read"
    data = {
        "mode": view.mode,
        "moves": json.dumps(
            {
                move.move.iccs: [
                    view.after(move.move).href(),
                    outcome_word(move.outcome) if reading else "",
                    short_value(move.worth) if reading else "",
                ]
                for move in study.moves
            },
            separators=(",", ":"),
            ensure_ascii=False,
        ),
        "last": view.moves[-1].iccs if view.moves else "",
        "flip": view.href(flip=not view.flip),
        "stuck": view.text("stuck_check" if in_check(study.position) else "stuck"),
    }
    if view.chosen is not None:
        data["chosen"] = square_name(view.chosen)
    if view.moves:
        data["back"] = _back(view)
        data["first"] = view.back(len(view.moves)).href()
    if study.over is not None:
        data["over"] = "1"
    elif study.suggested and (reading or not view.readers_turn):
        data["suggested"] = view.after(study.suggested.move).href()
    reply = _reply(library, study, view)
    return data | ({"reply": reply} if reply else {})

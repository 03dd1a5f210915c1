"""Page of a position: the look-up page, and games and puzzles against the table or the engine.

    <main>     verdict | stage (board and buttons) | side (moves and panels)
    look-up    mode `read`: value, moves with their values, panels
    game       mode `play`: moves without values, warnings of the referee, score at the end
    puzzle     game in which an outcome must be kept (`puzzles.state_of`)

Pages work without scripts: every move is a link to the position after it. A piece on the board is a
link that selects it (`from=`). Then the squares to which it can move are links.
"""

from __future__ import annotations

import json
from html import escape

from tbgen.answers.as_json import outcome_name
from tbgen.answers.mechanism import Mechanism
from tbgen.board.drawing.animation import checkers, king_in_check
from tbgen.board.drawing.diagram import Arrow, Marks, Point, draw, position_address
from tbgen.board.knowledge.analysis import last_mistake, values_by_rules
from tbgen.board.knowledge.puzzles import LEVELS, level_of, state_of
from tbgen.board.knowledge.store import RESULTS, Facts, TableStore, winner_of
from tbgen.board.language.error_messages import localise_error
from tbgen.board.language.words import explain_judgement, piece_name, result_name
from tbgen.board.web.building import missing_card, running_build, starter_cards
from tbgen.board.web.embed import open_graph_tags
from tbgen.board.web.http import Answer
from tbgen.board.web.layout import board_page, details, link, page_link, turn_buttons, with_settings
from tbgen.board.web.panels import (
    endgame_panel,
    game_record,
    heat_points,
    mistake_note,
    rules_headline,
    rules_panel,
    share_panel,
    where_panel,
)
from tbgen.board.web.small_boards import first_page_boards
from tbgen.board.web.verdict import (
    chase_arrows,
    end_in_words,
    forbidden,
    headline,
    move_groups,
    move_link,
    moves_in_words,
    referee,
    short_value,
    side_to_move,
)
from tbgen.board.web.view import MAX_MOVES, STRENGTHS, View
from tbgen.indexing import MoveTextError, Side
from tbgen.indexing.squares import square_name
from tbgen.play.preference import RootMove
from tbgen.rules import in_check
from tbgen.tables import Metric, Outcome

MOST_ARROWS = 3
"""Maximum number of arrows on the board that show best moves."""


def lookup_page(
    store: TableStore, view: View, stated: str = "", fault: MoveTextError | None = None
) -> Answer:
    """Return the look-up page (mode `read`) of the last position of a game.

    Raises like `TableStore.probe_game` and `TableStore.mechanism`.

    stated : wrong result in the text of the game, for a notice on the page; else empty
    fault : error of the next move in the text of the game; the page then has a notice on it, and
        status 400
    """
    facts = store.probe_game(view.positions, view.moves)
    mechanism = store.mechanism(facts)
    if view.heat_square is not None and not view.position.board[view.heat_square]:
        view = view.back(0)
    known = values_by_rules(store, facts)
    welcome = build = chosen = ""
    if not view.moves and view.start == store.first_position:
        welcome = f'<p class="welcome">{view.message("start_here")}</p>'
        chosen = first_page_boards(store, view)
        if not store.available() or running_build(store) is not None:
            build = starter_cards(store, view, with_settings("/", view))
    if facts.missing is not None and not build:
        build = missing_card(store, facts, view)
    verdict = (
        f"{_fault_note(view, fault)}{_wrong_result_note(facts, view, stated)}{welcome}"
        f"{headline(facts, view, mechanism)}{referee(facts, view)}"
        f"{rules_headline(known, facts, view)}{mistake_note(store, facts, view)}{build}"
    )
    side = (
        f"{chosen}{move_groups(facts, view, mechanism)}{rules_panel(known, view)}"
        f"{where_panel(facts, view)}{endgame_panel(store, facts, view)}"
        f"{game_record(store, view)}{share_panel(facts, view)}"
    )
    return _page(store, facts, view, verdict, side, mechanism, 200 if fault is None else 400)


def _fault_note(view: View, fault: MoveTextError | None) -> str:
    """Return a notice on `fault`, an error of the game's next move, as HTML; empty for None."""
    if fault is None:
        return ""
    number = (len(view.moves) + (view.start.side == Side.BLACK)) // 2 + 1
    what, hint = localise_error(fault.message, fault.hint, view.language)
    said = view.text("game_fault", n=number, side=view.position.side, what=what)
    notes = filter(
        None, (said, hint, view.text("game_kept", plies=view.words.plies(len(view.moves))))
    )
    notice = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f'<div class="notice problem" role="alert">{notice}</div>'


def _wrong_result_note(facts: Facts, view: View, stated: str) -> str:
    """Return a notice that a game's text states a wrong result, `stated`; "" if that is empty."""
    if not stated:
        return ""
    winners = {result: winner for winner, result in RESULTS.items()}
    names = [result_name(winners[result], view.language) for result in (stated, facts.final)]
    key = "stated_tables" if facts.over is None else "stated_rules"
    said = view.message(key, stated=names[0], found=names[1])
    return f'<p class="notice problem" role="alert">{said}</p>'


def _page(
    store: TableStore, facts: Facts, view: View, verdict: str, side: str,
    mechanism: Mechanism | None = None, status: int = 200,
) -> Answer:  # fmt: skip
    """Return the page of mode `read` or `play`; `verdict` and `side` are its sections as HTML."""
    picture = draw(facts.position, view.look, _marks(store, facts, view, mechanism))
    return board_page(
        view, facts.position.material.name, verdict, picture + _controls(store, facts, view), side,
        data=_script_data(store, facts, view), head=open_graph_tags(store, facts, view),
        status=status,
    )  # fmt: skip


def _marks(store: TableStore, facts: Facts, view: View, mechanism: Mechanism | None) -> Marks:
    """Return the marks of the board: last move, links of pieces and targets, heat map, arrows."""
    links, targets = dict[int, str](), dict[int, Point]()
    reading = view.mode == "read"
    for move in facts.moves:
        source, target = move.move
        if source == view.chosen:
            targets[target] = Point(*_effect(view, move))
        else:
            links.setdefault(source, view.href(chosen=source, heat_square=None))
    if view.chosen is not None:
        links[view.chosen] = view.href(chosen=None)
    arrows = checkers(facts.position)
    tried = heat_points(store, view) if reading else {}
    if reading and not tried and facts.over is None:
        arrows += chase_arrows(facts.position, mechanism)
        winning = [move for move in facts.moves if move.best and move.outcome == Outcome.WIN]
        arrows += [Arrow(*move.move, "best") for move in winning[:MOST_ARROWS]]
    return Marks(
        last=view.moves[-1] if view.moves else None,
        links=links,
        selected=view.heat_square if tried else view.chosen,
        targets=targets,
        arrows=arrows,
        heat=tried,
        checked=king_in_check(facts.position),
    )


def _effect(view: View, move: RootMove) -> tuple[str, str, str]:
    """Return the address after a move, outcome and short value; the last two empty in play mode."""
    href = view.after(move.move).href()
    if view.mode == "play":
        return href, "", ""
    return href, outcome_name(move.outcome), short_value(move.worth)


def _controls(store: TableStore, facts: Facts, view: View) -> str:
    playing, found = view.mode == "play", []
    suggested, reply = None if facts.over else facts.suggested, _reply_href(store, facts, view)
    if playing and suggested is not None and view.visitors_turn:
        found.append(_hint(facts, suggested, view))
    elif suggested is not None:
        weaker = playing and view.strength != STRENGTHS[0]
        mark = "" if weaker else f' data-move="{suggested.move.iccs}"'
        label = view.text("table_move" if playing else "suggested")
        href = reply or view.after(suggested.move).href()
        found.append(link(href, label, "button suggested", mark))
    elif reply:
        found.append(link(reply, view.text("engine_move"), "button suggested"))
    if view.moves:
        found.append(link(_back_href(view), view.text("take_back"), "button back"))
        found.append(link(view.back(MAX_MOVES).href(), view.text("start_over"), "button start"))
    if playing:
        if not view.task:  # a task is for the visitor's side only
            other = view.href(visitor=view.visitor.other, flip=not view.flip, chosen=None)
            found.append(link(other, view.text("switch_sides"), "button"))
    elif facts.over is None and facts.result and facts.result.outcome != Outcome.DRAW:
        by_rules = facts.result.order > 0
        href = view.href(mode="line", chosen=None, heat_square=None, autoplay=by_rules)
        found.append(link(href, view.text("why_line" if by_rules else "line"), "button film-link"))
    return f'<div class="controls">{"".join(found)}{turn_buttons(view)}</div>'


def _hint(facts: Facts, suggested: RootMove, view: View) -> str:
    """Return the hint that `view.hint` asks for, and the button for the next one, as HTML."""
    if not view.hint:
        return link(view.href(hint="piece"), view.text("hint"), "button hint")
    piece = piece_name(facts.position.board[suggested.move.source], view.language)
    said = view.text("hint_piece", piece=piece)
    if view.hint == "move":
        name = view.move_name(facts.position, suggested.move)
        return f'<span class="hint whole">{escape(said)} <b>{escape(name)}</b></span>'
    more = link(view.href(hint="move"), view.text("hint_move"), "button hint")
    return f'<span class="hint">{escape(said)}</span> {more}'


def _reply_href(store: TableStore, facts: Facts, view: View) -> str:
    """Return the address that leads to the position after the opponent's reply; "" if none is due.

    At strength "best" the reply is the suggested move; else `/reply` chooses a move.
    """
    due = view.mode == "play" and not view.visitors_turn and facts.over is None
    if not due or (facts.suggested is None and not store.opponent):
        return ""
    if facts.suggested is not None and view.strength == STRENGTHS[0]:
        return view.after(facts.suggested.move).href()
    return view.href("/reply", chosen=None)


def _back_href(view: View) -> str:
    """Return the address with the last move taken back, in a game also the opponent's reply."""
    alone = view.mode != "play" or not view.visitors_turn or len(view.moves) < 2
    return view.back(1 if alone else 2).href()


def _script_data(store: TableStore, facts: Facts, view: View) -> dict[str, str]:
    """Return attributes `data-NAME` for the script, by NAME; moves have no values in play mode."""
    moves = {move.move.iccs: _effect(view, move) for move in facts.moves}
    data = {
        "mode": view.mode,
        "start": position_address(view.start),
        "moves": json.dumps(moves, separators=(",", ":"), ensure_ascii=False),
        "last": view.moves[-1].iccs if view.moves else "",
        "flip": view.href(flip=not view.flip),
        "stuck": view.text("stuck_check" if in_check(facts.position) else "stuck"),
    }
    if view.chosen is not None:
        data["chosen"] = square_name(view.chosen)
    if view.moves:
        data |= {"back": _back_href(view), "first": view.back(MAX_MOVES).href()}
    if facts.over is not None:
        data["over"] = "1"
    elif facts.suggested and (view.mode == "read" or not view.visitors_turn):
        data["suggested"] = view.after(facts.suggested.move).href()
    reply = _reply_href(store, facts, view)
    return data | ({"reply": reply} if reply else {})


def playing_page(store: TableStore, view: View) -> Answer:
    """Return the page of a game against table or engine; raises like `TableStore.probe_game`."""
    facts = store.probe_game(view.positions, view.moves)
    over, turn, mine = "", "", view.visitors_turn
    if facts.over is not None:
        end = escape(end_in_words(facts.over, view))
        over = f'<p class="notice over" role="status"><b>{end}</b></p>'
    else:
        if facts.result is not None:
            key = "hidden" if mine else "table_thinks"
        elif store.opponent is None:
            key = "no_opponent"
        else:
            key = "hidden_engine" if mine else "engine_thinks"
        turn = f'<p class="turn">{side_to_move(view)}</p><p class="task">{view.message(key)}</p>'
    made = ""
    if view.moves:
        before = view.positions[-2]
        move = view.move_name(before, view.moves[-1])
        made = view.message("made", side=before.side, move=move)
    verdict = (
        f"<h1>{view.message('you_play', side=view.visitor)}</h1>{_puzzle(store, facts, view)}{over}"
        f"{_score(store, facts, view)}{referee(facts, view)}"
        f'<p class="reply">{made}</p>{turn}'
    )
    side = (
        f"{_plain_moves(facts, view)}{_practice(store, view)}{game_record(store, view)}"
        f"{share_panel(facts, view)}"
    )
    return _page(store, facts, view, verdict, side)


def _puzzle(store: TableStore, facts: Facts, view: View) -> str:
    """Return a notice on a puzzle's task or state, and the solution of a lost one, as HTML."""
    if not view.task:
        return ""
    state = state_of(facts, view.visitor, view.task, begun=bool(view.moves))
    said = view.text(f"puzzle_{state}" if state != "open" else f"puzzle_{view.task}")
    first = store.probe(view.start).result
    if state == "open" and first is not None:
        said += view.text("puzzle_rules") if first.order else ""
        level = view.text(f"level_{level_of(view.start, first)}")
        said += view.text("puzzle_level", level=level)
    back = solution = ""
    if state == "lost":
        again = link(view.back(MAX_MOVES).href(), view.text("puzzle_again"), "button small")
        back, solution = f" {again}", _solution(store, view)
    streak = view.message("puzzle_streak", n="@", m="#")
    return (
        f'<p class="notice puzzle {state}" data-puzzle="{state}" '
        f'data-start="{escape(view.start.fen)}">{escape(said)}{back} '
        f'<span class="streak" data-streak="{streak}" hidden></span></p>{solution}'
    )


def _solution(store: TableStore, view: View) -> str:
    """Return a folded link to the best move at the visitor's first mistake, as HTML."""
    for number in range(1, len(view.moves) + 1):
        played = view.back(len(view.moves) - number)
        mistake = last_mistake(store, played.positions, played.moves)
        if mistake is not None and mistake.before.side == view.visitor:
            move = mistake.best.move
            name = view.move_name(mistake.before, move)
            best = link(played.back().after(move).href(), name, "move")
            return details(view.text("puzzle_solution"), best, "solution")
    return ""


def _practice(store: TableStore, view: View) -> str:
    """Return links for strength and puzzles; empty if the game's first position has no table."""
    if view.start.material not in store.materials():
        return ""
    strengths, puzzles = [], []
    for name in STRENGTHS:
        css = "button small" + " on" * (name == view.strength)
        href = view.href(strength=name, hint="")
        strengths.append(link(href, view.text(f"strength_{name}"), css))
    task = {"task": "draw"} if view.task == "draw" else {}
    path = f"/puzzle/{view.start.material}"
    for level in ("", *LEVELS):
        key, query = f"level_{level}" if level else "new_puzzle", {"level": level} if level else {}
        css = f"button small puzzle-link {key}"
        puzzles.append(page_link(path, view, view.text(key), css, query | task))
    puzzles.append(page_link("/puzzle", view, view.text("puzzle_day"), "button small"))
    return (
        f"<p>{view.pair(view.message('strength'), ' '.join(strengths))}</p>"
        f"<p>{view.pair(view.message('puzzles'), ' '.join(puzzles))}</p>"
    )


def _score(store: TableStore, facts: Facts, view: View) -> str:
    """Return the number of moves that the visitor took to win, and that of best play, as HTML.

    Empty unless the visitor has won by mate or stalemate, and the first position is the visitor's
    win of order 0 in a DTM table.
    """
    over = facts.over
    if over is None or over.winner != view.visitor or over.why == "repetition":
        return ""
    first = store.probe(view.start).result
    if first is None or first.order or not first.plies or first.metric != Metric.DTM:
        return ""
    if winner_of(view.start.side, first.outcome) != view.visitor:
        return ""
    made, best = (moves_in_words(plies, view) for plies in (len(view.moves), first.plies))
    return f'<p class="score">{view.message("score", n=made, m=best)}</p>'


def _plain_moves(facts: Facts, view: View) -> str:
    """Return the visitor's moves by name without values, and the referee's warnings, as HTML."""
    if not view.visitors_turn or facts.over:
        return ""
    moves = sorted(facts.moves, key=lambda move: move.move.iccs)
    links = [move_link(facts, view, move) + forbidden(facts, view, move.move) for move in moves]
    heading = view.aside(view.text("moves"), len(moves))
    warnings = ""
    for move, judgement in facts.forbidden.items():
        why = explain_judgement(judgement, facts.rules, view.language)
        said = escape(view.pair(view.move_name(facts.position, move), why))
        name = view.pair(view.message("referee"), "")
        warnings += f'<p class="notice referee"><b>{name}</b> {said}</p>'
    listed = f'<p class="plain-moves chips">{" ".join(links)}</p>'
    return f'<h2 id="moves">{escape(heading)}</h2>{warnings}{listed}'

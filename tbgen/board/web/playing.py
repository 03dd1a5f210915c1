"""Play mode: games and puzzles against the table, or the engine where no table covers the position.

    game       task, score at the end, warnings of the referee, moves by name
    puzzle     game in which an outcome must be kept: open, right, lost or solved (`puzzles`)
    practice   strength of the table, links to other puzzles

Values of moves are not shown. `workspace` makes the board, its buttons and the data for the script.
"""

from __future__ import annotations

from html import escape
from urllib.parse import urlencode

from tbgen.board.knowledge.library import Library, Study
from tbgen.board.knowledge.puzzles import LEVELS, level_of, state_of
from tbgen.board.language.words import explain_judgement
from tbgen.board.web.http import Answer
from tbgen.board.web.layout import link, with_settings
from tbgen.board.web.panels import game_record, share_panel
from tbgen.board.web.state import STRENGTHS, View
from tbgen.board.web.verdict import forbidden, game_over, move_link, moves_in_words, referee
from tbgen.board.web.workspace import board_page, marks_of
from tbgen.tables import Outcome


def playing_page(library: Library, view: View) -> Answer:
    """Return the page of a game against the table or the engine."""
    study = library.study(view.positions, view.moves)
    over = game_over(study.over, view)
    task = "" if over else view.text(_task(library, study, view))
    you = view.text("you_play", side=view.human)
    turn = view.text("to_move", side=view.position.side)
    lamp = f'<span class="lamp {view.position.side.name.lower()}"></span>'
    verdict = (
        f"<h1>{escape(you)}</h1>{_puzzle(library, study, view)}{over}"
        f"{_score(library, study, view)}{referee(study, view)}"
        f'<p class="reply">{escape(_reply(view))}</p>'
        f'<p class="turn">{lamp}{escape(turn)}</p><p class="task">{escape(task)}</p>'
    )
    side = (
        f"{_plain_moves(study, view)}{_practice(study, view)}{game_record(library, view)}"
        f"{share_panel(view)}"
    )
    return board_page(library, study, view, verdict, marks_of(library, study, view, None), side)


def _reply(view: View) -> str:
    """Return the last move in words, as a notice; empty if there is none."""
    if not view.moves:
        return ""
    before = view.positions[-2]
    move = view.move_name(before, view.moves[-1])
    return view.text("made", side=before.side, move=move)


def _task(library: Library, study: Study, view: View) -> str:
    """Return the key of the text that says whose turn it is: reader, table or engine."""
    mine = view.readers_turn
    if study.result is not None:
        return "hidden" if mine else "table_thinks"
    if library.opponent is None:
        return "no_opponent"
    return "hidden_engine" if mine else "engine_thinks"


def _puzzle(library: Library, study: Study, view: View) -> str:
    """Return task and state of a puzzle; the script counts solved ones."""
    if not view.task:
        return ""
    state = state_of(study, view.human, view.task, begun=bool(view.moves))
    said = view.text(f"puzzle_{state}" if state != "open" else f"puzzle_{view.task}")
    first = library.probe(view.start).result
    if state == "open" and first is not None:
        said += view.text("puzzle_rules") if first.order else ""
        level = view.text(f"level_{level_of(view.start, first)}")
        said += view.text("puzzle_level", level=level)
    back = ""
    if state == "lost":
        again = view.back(len(view.moves)).href()
        back = " " + link(again, view.text("puzzle_again"), "button small")
    streak = view.message("puzzle_streak", n="@", m="#")
    return (
        f'<p class="notice puzzle {state}" data-puzzle="{state}" '
        f'data-start="{escape(view.start.fen)}">{escape(said)}{back} '
        f'<span class="streak" data-streak="{streak}" hidden></span></p>'
    )


def _practice(study: Study, view: View) -> str:
    """Return links to choose the table's strength, and to puzzles by level."""
    if study.result is None or study.result.metric is None:
        return ""
    strengths = [
        link(view.href(strength=name, hint=""), view.text(f"strength_{name}"),
             "button small" + (" on" if name == view.strength else ""))
        for name in STRENGTHS
    ]  # fmt: skip
    task = {"task": "draw"} if view.task == "draw" else {}
    levels = [
        link(f"/puzzle/{view.start.material}?{urlencode(query | task | view.settings())}",
             view.text(key), f"button small puzzle-link {key}")
        for key, query in [
            ("new_puzzle", {}), *((f"level_{level}", {"level": level}) for level in LEVELS)
        ]
    ]  # fmt: skip
    day = link(with_settings("/puzzle", view), view.text("puzzle_day"), "button small")
    colon = view.text("colon")
    return (
        f"<p>{view.message('strength')}{colon}{' '.join(strengths)}</p>"
        f"<p>{view.message('puzzles')}{colon}{' '.join([*levels, day])}</p>"
    )


def _score(library: Library, study: Study, view: View) -> str:
    """Return the number of moves in which the reader won, and the fewest possible.

    Empty unless the game ended in a win of the reader by mate or stalemate.
    """
    over = study.over
    if over is None or over.winner != view.human or over.why == "repetition":
        return ""
    first = library.probe(view.start).result
    if first is None or first.order or first.outcome == Outcome.DRAW or not first.plies:
        return ""
    made, best = (moves_in_words(plies, view) for plies in (len(view.moves), first.plies))
    return f'<p class="score">{view.message("score", n=made, m=best)}</p>'


def _plain_moves(study: Study, view: View) -> str:
    """Return the legal moves by name, without their values."""
    if not view.readers_turn or study.over:
        return ""
    moves = sorted(study.moves, key=lambda move: move.move.iccs)
    links = [move_link(study, view, move) + forbidden(study, view, move.move) for move in moves]
    heading = f"{view.text('moves')} ({len(moves)})"
    colon = view.text("colon")
    warnings = "".join(
        f'<p class="notice referee"><b>{view.message("referee")}{colon}</b> '
        f"{escape(view.move_name(study.position, move))}{colon}"
        f"{escape(explain_judgement(judgement, study.rules, view.language))}</p>"
        for move, judgement in (study.forbidden or {}).items()
    )
    listed = f'<p class="plain-moves chips">{" ".join(links)}</p>'
    return f'<h2 id="moves">{escape(heading)}</h2>{warnings}{listed}'

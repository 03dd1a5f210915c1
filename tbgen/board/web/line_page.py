"""Best play to the end as a film, and the ladder of a side that loses by repetition.

A *film* is a game that the board plays ply by ply, with a caption and arrows for each ply.

    line    ->  film, and the number of plies before the loop
    ladder  ->  film: up to each loop, once through it, out to the next one, finally to the end
    rung    ->  small board with arrows: the loser's move that stays in the loop (red for a check,
                else orange), and the loser's way out (green)

`knowledge.analysis` defines *ladder* and *rung*. In the list of moves of a film, each ply is a link
to the board after it (`at=`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from html import escape

from tbgen.answers.mechanism import mechanism_of
from tbgen.answers.reasons import explain_line
from tbgen.board.drawing.animation import (
    Frame,
    captions_of,
    frame_of,
    frames_of_line,
    king_in_check,
    loser_of,
)
from tbgen.board.drawing.diagram import Arrow, Marks, draw, position_address, thumbnail
from tbgen.board.knowledge.analysis import Rung, ladder
from tbgen.board.knowledge.store import TableStore
from tbgen.board.language.words import explain_judgement
from tbgen.board.web.building import missing_card
from tbgen.board.web.embed import open_graph_tags
from tbgen.board.web.http import Answer
from tbgen.board.web.layout import board_page, link, turn_buttons
from tbgen.board.web.panels import label_sign, pairs, share_panel
from tbgen.board.web.verdict import headline, moves_in_words
from tbgen.board.web.view import View
from tbgen.indexing.squares import square_name
from tbgen.play.mainline import Mainline
from tbgen.referee import Rules
from tbgen.rules import in_check
from tbgen.tables import Metric, Outcome


def film_page(store: TableStore, view: View) -> Answer:
    """Return the page with best play from the view's position as a film.

    If `view.shows_ladder` is true and best play ends in a loop, the film is the whole ladder.
    Without a table, return a page with status 404 that has a `missing_card`. Raises like
    `TableStore.probe`.
    """
    view, autoplay = replace(view, autoplay=False), view.autoplay
    facts, endgame = store.probe(view.position), view.position.material.name
    if facts.missing is not None:
        verdict = headline(facts, view, None) + missing_card(store, facts, view)
        stage = draw(view.position, view.look)
        return board_page(view, view.pair(view.text("line"), endgame), verdict, stage, status=404)
    line = last = store.line(view.position)
    if view.shows_ladder and line.loop_start is not None:
        parts, loop, rungs = list(whole_ladder(store, view)), None, ladder(store, line.start)
        last = store.line(rungs[-1].position) if rungs and rungs[-1].loop is None else line
        end = last.ending if last.is_over else "open"
        name = view.text("ladder_all", end=view.text(f"end_{end}"))
    else:
        frames, loop, name = frames_of_line(line), line.loop_start, view.text("line")
        before, after = frames[:loop], [] if loop is None else frames[loop:]
        # The loser's checks and chases are numbered in the loop only, where they are forbidden.
        captions = captions_of(before, None, view.language)
        captions += captions_of(after, loser_of(line), view.language)
        parts = list(zip(frames, captions, strict=True))
    if parts and last.is_over:
        parts[-1] = parts[-1][0], explain_line(last, view.words)
    ply = min(view.film_ply, len(parts))
    position, marks = view.position, Marks(checked=king_in_check(view.position))
    if ply:
        shown, _ = parts[ply - 1]
        position = shown.after
        marks = Marks(shown.move, arrows=shown.arrows, checked=king_in_check(position))
    end = explain_line(line, view.words)
    if line.verdict is not None and line.verdict.conducts:
        end = explain_judgement(line.verdict, line.result.rules or Rules.WXF, view.language)
    ends = [end, explain_line(last, view.words)] if last is not line else [end]
    said = "".join(f'<p class="end">{escape(end)}</p>' for end in ends)
    side = (
        f"{_record(view, name, [frame for frame, _ in parts], loop, ply)}"
        f"<h2>{view.message('ends')}</h2>{said}"
        f"{ladder_panel(store, view, line)}{share_panel(facts, view)}"
    )
    film = [
        {
            "move": frame.move.iccs,
            "label": label,
            "arrows": [
                [square_name(arrow.source), square_name(arrow.target), arrow.kind]
                for arrow in frame.arrows
            ],
        }
        for frame, label in parts
    ]
    data = {
        "mode": "line",
        "film": json.dumps(film, separators=(",", ":")),
        "loop": "" if loop is None else str(loop),
        "start": position_address(view.position),
        "at": str(ply),
        "play": "1" if autoplay else "",
        "round": view.text("round", n="@"),
        "flip": view.href(flip=not view.flip),
    }
    buttons = _controls(view, len(parts), loop, ply)
    return board_page(
        view, view.pair(name, endgame), headline(facts, view, mechanism_of(line)),
        f'{draw(position, view.look, marks)}<p class="caption"></p>{buttons}',
        side, "workspace filming", data=data, head=open_graph_tags(store, facts, view),
    )  # fmt: skip


def _controls(view: View, length: int, loop: int | None, ply: int) -> str:
    """Return the buttons of the film as HTML; steps are links, which also work without scripts.

    Plies: `length` in the film, `loop` before the loop (None without one), `ply` played so far.
    """
    steps = [
        ("first", "«", 0),
        ("back", "‹", max(0, ply - 1)),
        ("forward", "›", min(length, ply + 1)),
        ("last", "»", length),
    ]
    found = [
        link(view.href(film_ply=to), sign, f"button step {key}",
             f' data-step="{key}" aria-label="{view.message(key)}"')
        for key, sign, to in steps
    ]  # fmt: skip
    play, pause = view.message("play_film"), view.message("pause")
    found.insert(2, (
        f'<button type="button" class="play-line" hidden data-play="{play}" '
        f'data-stop="{pause}">{play}</button>'
    ))  # fmt: skip
    if loop is not None:
        href = view.href(film_ply=loop)
        found.append(link(href, view.text("to_loop"), "button step loop", ' data-step="loop"'))
    found.append(
        f'<label class="speed" hidden>{view.message("faster")} '
        '<input type="range" min="200" max="1600" value="700" step="100"></label>'
    )
    return f'<div class="controls">{"".join(found)}{turn_buttons(view)}</div>'


def _record(view: View, name: str, frames: list[Frame], loop: int | None, ply: int) -> str:
    """Return heading `name` and the moves of a film as links to the boards after them, as HTML.

    `loop` and `ply` as in `_controls`.
    """
    position, items = view.position, []
    for number, frame in enumerate(frames, 1):
        label = view.move_name(position, frame.move)
        position = frame.after
        looping = loop is not None and number > loop
        css = "frame" + " loop" * looping + " now" * (number == ply)
        items.append(
            link(view.href(film_ply=number), label, css, f' data-frame="{number}"')
            + label_sign(frame.label, view)
        )
    if not items:
        return ""
    heading = view.aside(name, view.words.plies(len(items)))
    shifted = replace(view, start=view.position, moves=())
    return f'<h2 id="moves">{escape(heading)}</h2><p class="film">{pairs(items, shifted)}</p>'


def ladder_panel(store: TableStore, view: View, line: Mainline) -> str:
    """Return the ladder of the side that loses `line` as HTML, with a link to it as a film."""
    rungs = ladder(store, view.position)
    if not rungs:
        return ""
    side = view.position.side
    loser = side if line.result.outcome == Outcome.LOSS else side.other
    href = view.href(shows_ladder=True, autoplay=True, film_ply=0)
    whole = link(href, view.text("ladder_play"), "button suggested")
    items = "".join(_rung(store, view, rung) for rung in rungs)
    name = view.message("ladder", side=loser)
    return f'<h2>{name}</h2><p>{whole}</p><ol class="ladder">{items}</ol>'


def whole_ladder(store: TableStore, view: View) -> Iterator[tuple[Frame, str]]:
    """Yield frames and captions of the plies of the ladder from the view's position."""
    position, made, order = view.position, 0, None
    for rung in ladder(store, view.position):
        for move in rung.moves[made:]:
            frame = frame_of(move, position.after(*move))
            caption = captions_of([frame], None, view.language)[0]
            if order is not None:  # first move out of the previous loop
                caption = view.text("ladder_out", n=rung.order)
                if rung.order == 0:
                    caption = view.text("ladder_last", lost=_lost_in(store, view, rung))
                order = None
            yield frame, caption
            position = frame.after
        made, order = len(rung.moves), rung.order
        line = rung.loop or store.line(rung.position)
        frames = frames_of_line(line)
        # Once through the loop, from the position of the rung; at order 0 the whole line.
        frames = [*frames[rung.turn :], *frames[line.loop_start or 0 : rung.turn]]
        yield from zip(frames, captions_of(frames, loser_of(line), view.language), strict=True)


def _rung(store: TableStore, view: View, rung: Rung) -> str:
    """Return a rung as an HTML list item: a small board, and the loser's choices or the end."""
    reached = replace(view, mode="read", film_ply=0, shows_ladder=False)
    for move in rung.moves:
        reached = reached.after(move)
    arrows: list[Arrow] = []
    if rung.loop is None:
        lost = _lost_in(store, view, rung)
        said, watch = lost[:1].upper() + lost[1:], ""
    else:
        parts, arrows = _choices(store, view, rung, rung.loop)
        said = view.text("choice_stop").join(parts)
        href, name = view.at(rung.position).href(mode="line", autoplay=True), view.text("why_line")
        spoken = f' aria-label="{escape(view.pair(name, said))}"'
        watch = " " + link(href, name, "button small", spoken)
    board = thumbnail(rung.position, view.look, arrows)
    return (
        f'<li><a class="rung" href="{escape(reached.href())}">{board}'
        f"<span>{escape(said)}</span></a>{watch}</li>"
    )


def _choices(
    store: TableStore, view: View, rung: Rung, loop: Mainline
) -> tuple[list[str], list[Arrow]]:
    """Return the loser's choices, to stay in the loop or to leave it, as phrases and as arrows.

    Between the two, a phrase names the winner's reply in the loop. `loop` is `rung.loop`.
    """
    kept, answer = [*loop.moves, *loop.moves[loop.loop_start :]][rung.turn : rung.turn + 2]
    arrows = [Arrow(*kept.choice.move, "check" if in_check(kept.choice.after) else "chase")]
    names = [view.move_name(rung.position, move.move) for move in rung.keeps]
    reply = view.move_name(answer.position, answer.choice.move)
    parts = [
        view.text("rung_keep", n=rung.order, moves=view.text("names_stop").join(names)),
        view.text("rung_answer", side=answer.position.side, move=reply),
    ]
    leaves = rung.leaves
    if leaves is None:
        return [*parts, view.text("rung_none")], arrows
    arrows.append(Arrow(*leaves.move, "best"))
    name = view.move_name(rung.position, leaves.move)
    if leaves.order:
        return [*parts, view.text("rung_leave", move=name, n=leaves.order)], arrows
    lost = _lost_in(store, view, rung)
    return [*parts, view.text("rung_lost", move=name, lost=lost)], arrows


def _lost_in(store: TableStore, view: View, rung: Rung) -> str:
    """Return a phrase on the loss of order 0 at a rung without a loop, or after a rung's `leaves`.

    It is `mated in 5 moves`, `stalemated ...`, `lost ...` if a missing table ends the line, or for
    DTC a phrase on conversion.
    """
    position, plies = rung.position, rung.plies
    if rung.loop is not None and rung.leaves is not None:
        position = rung.leaves.after
        plies = rung.leaves.worth.plies if rung.leaves.worth else 0
    key = str(rung.metric)
    if rung.metric == Metric.DTM:
        line = store.line(position)
        key = line.ending if line.is_over else key
    return view.text(f"lost_{key}", n=moves_in_words(plies, view))

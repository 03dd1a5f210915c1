"""Best play to the end as a film, or all loops of a ladder one after the other.

    line    ->  Reel: frames of `story` with captions, and where the loop begins
    ladder  ->  Reel: each loop once round, the way out of it, and so on to mate

Every ply is a link to the board after it (`at=`), so that the film can be read without scripts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from html import escape

from tbgen.answers.mechanism import mechanism_of
from tbgen.board.drawing.diagram import Marks, draw, names_of_pieces
from tbgen.board.drawing.story import Frame, captions_of, frames_of_line, loser_of
from tbgen.board.knowledge.library import Library
from tbgen.board.language.i18n import text
from tbgen.board.language.words import explain_judgement, explain_line
from tbgen.board.web.embed import card
from tbgen.board.web.http import HTML, Answer
from tbgen.board.web.ladders import ladder_panel, whole_ladder
from tbgen.board.web.layout import page
from tbgen.board.web.markup import link, message, screen_button
from tbgen.board.web.panels import pairs, share_panel
from tbgen.board.web.state import View
from tbgen.board.web.verdict import headline
from tbgen.indexing.squares import square_name
from tbgen.notation import format_move
from tbgen.play.mainline import Mainline
from tbgen.referee import Rules
from tbgen.rules import in_check
from tbgen.rules.attacks import find_king


@dataclass(frozen=True)
class Reel:
    """Frames from a position on, a caption for each, and the frame that a loop goes back to.

    `name` is the key of its heading.
    """

    shots: list[Frame]
    captions: list[str]
    loop_start: int | None
    name: str


def film_page(library: Library, view: View) -> Answer:
    """The line from the position at hand; the script plays it on the board."""
    view, plays = replace(view, plays=False), view.plays
    study = library.probe(view.position)
    line = library.line(view.position)
    language = view.language
    reel = _of_line(line, language)
    if view.ladder and line.loop_start is not None:
        reel = _of_ladder(library, view)
    shots = reel.shots
    ply = min(view.ply, len(shots))
    shown = shots[ply - 1] if ply else None
    position = shown.after if shown else view.position
    king = find_king(position.board, position.side)
    marks = Marks(
        last=shown.move if shown else None,
        arrows=shown.arrows if shown else (),
        checked=king if in_check(position) else None,
    )
    end = explain_line(line, language)
    if line.verdict is not None and line.verdict.conducts:
        end = explain_judgement(line.verdict, line.result.rules or Rules.WXF, language)
    mechanism = mechanism_of(line)
    main = (
        f'<section class="verdict">{headline(study, view, mechanism)}</section>'
        f'<section class="stage">{draw(position, view.look, marks)}'
        f'<p class="caption"></p>{_controls(view, reel, ply)}</section>'
        f'<section class="side">{_record(view, reel, ply)}'
        f'<h2>{message(language, "ends")}</h2><p class="end">{escape(end)}</p>'
        f"{ladder_panel(library, view, line)}{share_panel(view)}</section>"
    )
    film = [
        {
            "move": shot.move.iccs,
            "label": label,
            "arrows": [
                [square_name(arrow.source), square_name(arrow.target), arrow.kind]
                for arrow in shot.arrows
            ],
        }
        for shot, label in zip(shots, reel.captions, strict=True)
    ]
    data = {
        "mode": "line",
        "film": json.dumps(film, separators=(",", ":")),
        "loop": "" if reel.loop_start is None else str(reel.loop_start),
        "start": "_".join(view.position.fen.split()[:2]),
        "at": str(ply),
        "play": "1" if plays else "",
        "names": names_of_pieces(language),
        "round": text(language, "round", n="@"),
        "flip": view.href(flip=not view.flip),
    }
    title = f"{text(language, reel.name)}{text(language, 'colon')}{view.position.material.name}"
    head = card(library, study, view)
    return Answer(page(view, title, main, data=data, css="workspace filming", head=head), HTML)


def _of_line(line: Mainline, language: str) -> Reel:
    """Best play, and its loop."""
    shots = frames_of_line(line)
    before = len(shots) if line.loop_start is None else line.loop_start
    captions = [
        *captions_of(shots[:before], None, language),
        *captions_of(shots[before:], loser_of(line), language),
    ]
    return Reel(shots, captions, line.loop_start, "line")


def _of_ladder(library: Library, view: View) -> Reel:
    """All loops of the ladder, once round each, and the ways out of them."""
    shots, captions = [], []
    for shot, caption in whole_ladder(library, view):
        shots.append(shot)
        captions.append(caption)
    return Reel(shots, captions, None, "ladder_all")


def _controls(view: View, reel: Reel, ply: int) -> str:
    """Steps along the line: links for readers without scripts, buttons of the film for others."""
    language, last = view.language, len(reel.shots)
    steps = [
        ("first", "«", 0),
        ("back", "‹", max(0, ply - 1)),
        ("forward", "›", min(last, ply + 1)),
        ("last", "»", last),
    ]
    found = [
        link(view.href(ply=to), sign, f"button step {key}",
             f' data-step="{key}" aria-label="{message(language, key)}"')
        for key, sign, to in steps
    ]  # fmt: skip
    play, pause = message(language, "play_film"), message(language, "pause")
    found.insert(2, (
        f'<button type="button" class="play-line" hidden data-play="{play}" '
        f'data-stop="{pause}">{play}</button>'
    ))  # fmt: skip
    if reel.loop_start is not None:
        href = view.href(ply=reel.loop_start)
        label = text(language, "to_loop")
        found.append(link(href, label, "button step loop", ' data-step="loop"'))
    speed = message(language, "faster")
    found.append(
        f'<label class="speed" hidden>{speed} <input type="range" min="200" max="1600" value="700" '
        f'step="100"></label>'
    )
    found.append(link(view.href(flip=not view.flip), text(language, "flip"), "button flip"))
    found.append(screen_button(language))
    return f'<div class="controls">{"".join(found)}</div>'


def _record(view: View, reel: Reel, ply: int) -> str:
    """The moves in pairs, the loop marked, each a link to the board after it."""
    language, position = view.language, view.position
    items = []
    for number, shot in enumerate(reel.shots):
        label = format_move(position, shot.move, view.notation)
        position = shot.after
        looping = reel.loop_start is not None and number >= reel.loop_start
        css = " ".join(
            name for name, on in (("frame", True), ("loop", looping), ("now", number + 1 == ply))
            if on
        )  # fmt: skip
        sign = ""
        if shot.label in ("check", "chase"):
            sign = f' <i class="{shot.label}">{message(language, f"ply_{shot.label}")}</i>'
        href = view.href(ply=number + 1)
        items.append(link(href, label, css, f' data-frame="{number + 1}"') + sign)
    heading = f"{text(language, reel.name)} ({len(items)} {text(language, 'plies')})"
    shifted = replace(view, start=view.position, moves=())
    return (
        f'<h2 id="moves">{escape(heading)}</h2><p class="film">{pairs(items, shifted)}</p>'
        if items
        else ""
    )

"""Best play to the end as a film, and the ladder of a side that loses by repetition.

    line  ->  frames of `story`: a move, what it does (check, chase, of whom), arrows
    ladder ->  one rung for each order: stay and be judged, or leave for a lower one; to mate

Every ply is a link to the board after it (`at=`), so that the film can be read without scripts.
"""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape

from tbgen.answers.mechanism import mechanism_of
from tbgen.board.diagram import Marks, draw, names_of_pieces
from tbgen.board.embed import card
from tbgen.board.http import HTML, Answer
from tbgen.board.i18n import text
from tbgen.board.insight import Rung, ladder
from tbgen.board.layout import link, page
from tbgen.board.library import Library
from tbgen.board.panels import pairs, share_panel
from tbgen.board.state import View
from tbgen.board.story import Frame, frames_of_line
from tbgen.board.verdict import headline, moves_in_words
from tbgen.board.words import explain_judgement, explain_line
from tbgen.indexing import Position, Side
from tbgen.indexing.squares import square_name
from tbgen.notation import format_move
from tbgen.play.mainline import Mainline
from tbgen.play.preference import RootMove
from tbgen.referee import Rules, Verdict
from tbgen.rules import in_check
from tbgen.rules.attacks import find_king
from tbgen.tables import Outcome


def film_page(library: Library, view: View) -> Answer:
    """The line from the position at hand; the script plays it on the board."""
    view, plays = replace(view, plays=False), view.plays
    study = library.probe(view.position)
    line = library.line(view.position)
    language = view.language
    shots = frames_of_line(line)
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
        f'<p class="caption"></p>{_controls(view, line, ply)}</section>'
        f'<section class="side">{_record(view, line, shots, ply)}'
        f'<h2>{escape(text(language, "ends"))}</h2><p class="end">{escape(end)}</p>'
        f"{_ladder(library, view, line)}{share_panel(view)}</section>"
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
        for shot, label in zip(shots, _captions(line, shots, language), strict=True)
    ]
    data = {
        "mode": "line",
        "film": json.dumps(film, separators=(",", ":")),
        "loop": "" if line.loop_start is None else str(line.loop_start),
        "start": "_".join(view.position.fen.split()[:2]),
        "at": str(ply),
        "play": "1" if plays else "",
        "names": names_of_pieces(language),
        "round": text(language, "round", n="@"),
        "flip": view.href(flip=not view.flip),
    }
    title = f"{text(language, 'line')}{text(language, 'colon')}{view.position.material.name}"
    head = card(library, study, view)
    return Answer(page(view, title, main, data=data, css="workspace filming", head=head), HTML)


def _captions(line: Mainline, shots: list[Frame], language: str) -> list[str]:
    """Return a caption for each ply; in a lost loop it numbers the forbidden moves."""
    winners = {Verdict.RED_WINS: Side.RED, Verdict.BLACK_WINS: Side.BLACK}
    winner = winners.get(line.verdict.verdict) if line.verdict is not None else None
    found, offences = [], 0
    for number, shot in enumerate(shots):
        label = shot.label and text(language, f"ply_{shot.label}")
        loser_moves = winner is not None and shot.after.side == winner
        in_loop = line.loop_start is not None and number >= line.loop_start
        if loser_moves and in_loop and shot.label in ("check", "chase"):
            offences += 1
            side = text(language, shot.after.side.other.name.lower())
            label = text(language, "ply_forbidden", what=label, n=offences, side=side)
        found.append(label)
    return found


def _controls(view: View, line: Mainline, ply: int) -> str:
    """Steps along the line: links for readers without scripts, buttons of the film for others."""
    language, last = view.language, len(line.moves)
    steps = [
        ("first", "«", 0),
        ("back", "‹", max(0, ply - 1)),
        ("forward", "›", min(last, ply + 1)),
        ("last", "»", last),
    ]
    found = [
        link(view.href(ply=to), sign, f"button step {key}",
             f' data-step="{key}" aria-label="{escape(text(language, key))}"')
        for key, sign, to in steps
    ]  # fmt: skip
    play, pause = escape(text(language, "play_film")), escape(text(language, "pause"))
    found.insert(2, (
        f'<button type="button" class="play-line" hidden data-play="{play}" '
        f'data-stop="{pause}">{play}</button>'
    ))  # fmt: skip
    if line.loop_start is not None:
        href = view.href(ply=line.loop_start)
        label = text(language, "to_loop")
        found.append(link(href, label, "button step loop", ' data-step="loop"'))
    speed = escape(text(language, "faster"))
    found.append(
        f'<label class="speed" hidden>{speed} <input type="range" min="200" max="1600" value="700" '
        f'step="100"></label>'
    )
    found.append(link(view.href(flip=not view.flip), text(language, "flip"), "button flip"))
    return f'<div class="controls">{"".join(found)}</div>'


def _record(view: View, line: Mainline, shots: list[Frame], ply: int) -> str:
    """The moves in pairs, the loop marked, each a link to the board after it."""
    language = view.language
    items = []
    for number, (played, shot) in enumerate(zip(line.moves, shots, strict=True)):
        label = format_move(played.position, played.choice.move, view.notation)
        looping = line.loop_start is not None and number >= line.loop_start
        css = " ".join(
            name for name, on in (("frame", True), ("loop", looping), ("now", number + 1 == ply))
            if on
        )  # fmt: skip
        sign = ""
        if shot.label in ("check", "chase"):
            sign = f' <i class="{shot.label}">{escape(text(language, f"ply_{shot.label}"))}</i>'
        href = view.href(ply=number + 1)
        items.append(link(href, label, css, f' data-frame="{number + 1}"') + sign)
    heading = f"{text(language, 'line')} ({len(items)} {text(language, 'plies')})"
    shifted = replace(view, start=view.position, moves=())
    return (
        f'<h2 id="moves">{escape(heading)}</h2><p class="film">{pairs(items, shifted)}</p>'
        if items
        else ""
    )


def _ladder(library: Library, view: View, line: Mainline) -> str:
    """Loop by loop, what the loser may do and what becomes of it."""
    rungs = ladder(library, view.position)
    if not rungs:
        return ""
    language = view.language
    side = view.position.side
    loser = side if line.result.outcome == Outcome.LOSS else side.other
    items = [_rung(view, rung) for rung in rungs]
    name = text(language, "ladder", side=text(language, loser.name.lower()))
    return f'<h2>{escape(name)}</h2><ol class="ladder">{"".join(items)}</ol>'


def _rung(view: View, rung: Rung) -> str:
    """One step: a link to its position, staying, and leaving."""
    language = view.language
    reached = replace(view, mode="read", ply=0)
    for move in rung.moves:
        reached = reached.after(move)
    if rung.loop is None:
        mated = text(language, "rung_last", n=moves_in_words(rung.plies, language))
        label = mated[:1].upper() + mated[1:]
        return f"<li>{link(reached.href(), label, 'rung')}</li>"
    parts = []
    if rung.keeps:
        parts.append(text(
            language, "rung_keep", n=rung.order, moves=_names(view, rung.position, rung.keeps)
        ))  # fmt: skip
    leaves = rung.leaves
    if leaves is None:
        parts.append(text(language, "rung_none"))
    else:
        name = _names(view, rung.position, (leaves,))
        if leaves.order:
            parts.append(text(language, "rung_leave", move=name, n=leaves.order))
        else:
            plies = leaves.worth.plies if leaves.worth else 0
            n = moves_in_words(plies, language)
            parts.append(text(language, "rung_mate", move=name, n=n))
    label = text(language, "choice_stop").join(parts)
    watch = link(
        replace(view.at(rung.position), mode="line", plays=True).href(),
        text(language, "why_line"),
        "small",
        f' aria-label="{escape(text(language, "why_line"))}{text(language, "colon")}'
        f'{escape(label)}"',
    )
    return f"<li>{link(reached.href(), label, 'rung')} {watch}</li>"


def _names(view: View, position: Position, moves: tuple[RootMove, ...]) -> str:
    return text(view.language, "list_stop").join(
        format_move(position, move.move, view.notation) for move in moves
    )

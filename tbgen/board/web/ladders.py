"""The ladder of a side that loses by repetition: as small boards, and as one film.

    rung   the loser's move that stays in the loop (red), the winner's answer, his way out (green)
    film   up to the loop, once round it, out of it to the next one; after the last one to mate

How a ladder is found is for `insight`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import escape

from tbgen.board.drawing.diagram import Arrow, thumbnail
from tbgen.board.drawing.story import Frame, captions_of, frame_of, frames_of_line, loser_of
from tbgen.board.knowledge.insight import Rung, ladder
from tbgen.board.knowledge.library import Library
from tbgen.board.language.i18n import text
from tbgen.board.web.markup import link
from tbgen.board.web.state import View
from tbgen.board.web.verdict import moves_in_words
from tbgen.indexing import Move, Position, Side
from tbgen.notation import format_move
from tbgen.play.mainline import LineMove, Mainline
from tbgen.tables import Outcome


def ladder_panel(library: Library, view: View, line: Mainline) -> str:
    """Loop by loop what the loser may do and what becomes of it; empty where nobody repeats."""
    rungs = ladder(library, view.position)
    if not rungs:
        return ""
    language, side = view.language, view.position.side
    loser = side if line.result.outcome == Outcome.LOSS else side.other
    name = text(language, "ladder", side=text(language, loser.name.lower()))
    href = view.href(ladder=True, plays=True, ply=0)
    whole = link(href, text(language, "ladder_play"), "button suggested")
    items = "".join(_rung(view, rung) for rung in rungs)
    return f'<h2>{escape(name)}</h2><p>{whole}</p><ol class="ladder">{items}</ol>'


def whole_ladder(library: Library, view: View) -> Iterator[tuple[Frame, str]]:
    """Each ply of the ladder with its caption: all loops once round, then on to mate."""
    language, position, made = view.language, view.position, 0
    order = None
    for rung in ladder(library, view.position):
        for move in rung.moves[made:]:
            shot = frame_of(move, position.after(*move))
            caption = captions_of([shot], None, language)[0]
            if order is not None:  # the way out of the loop before
                caption = text(language, "ladder_out" if rung.order else "ladder_last",
                               n=rung.order or moves_in_words(rung.plies, language))  # fmt: skip
                order = None
            yield shot, caption
            position = shot.after
        made, order = len(rung.moves), rung.order
        shots, loser = _round(rung) if rung.loop is not None else ([], None)
        if rung.loop is None:
            shots = frames_of_line(library.line(rung.position))
        yield from zip(shots, captions_of(shots, loser, language), strict=True)


def _round(rung: Rung) -> tuple[list[Frame], Side | None]:
    """A loop from the position of its rung until that comes again, and who loses by it."""
    line = rung.loop
    assert line is not None
    assert line.loop_start is not None
    number = _place(rung)
    shots = frames_of_line(line)
    return [*shots[number:], *shots[line.loop_start : number]], loser_of(line)


def _place(rung: Rung) -> int:
    """The number of the ply in the loop that begins with the rung's position."""
    line = rung.loop
    assert line is not None
    assert line.loop_start is not None
    return next(
        number
        for number, played in enumerate(line.moves)
        if number >= line.loop_start and played.position == rung.position
    )


def _kept(rung: Rung) -> tuple[LineMove, LineMove]:
    """The loser's move that the loop goes on with, and the winner's answer."""
    line = rung.loop
    assert line is not None
    assert line.loop_start is not None
    number = _place(rung)
    after = number + 1 if number + 1 < len(line.moves) else line.loop_start
    return line.moves[number], line.moves[after]


def _rung(view: View, rung: Rung) -> str:
    """One step: a small board with arrows, staying and what answers it, and leaving."""
    language = view.language
    reached = replace(view, mode="read", ply=0, ladder=False)
    for move in rung.moves:
        reached = reached.after(move)
    arrows: list[Arrow] = []
    if rung.loop is None:
        mated = text(language, "rung_last", n=moves_in_words(rung.plies, language))
        said, watch = mated[:1].upper() + mated[1:], ""
    else:
        parts, arrows = _choices(view, rung)
        said = text(language, "choice_stop").join(parts)
        href = replace(view.at(rung.position), mode="line", plays=True).href()
        name = text(language, "why_line")
        spoken = escape(f"{name}{text(language, 'colon')}{said}")
        watch = " " + link(href, name, "button small", f' aria-label="{spoken}"')
    board = thumbnail(rung.position, view.look, arrows)
    return (
        f'<li><a class="rung" href="{escape(reached.href())}">{board}'
        f"<span>{escape(said)}</span></a>{watch}</li>"
    )


def _choices(view: View, rung: Rung) -> tuple[list[str], list[Arrow]]:
    """Choices of the loser of a loop, in words and arrows: to stay and be answered, or to leave."""
    language, parts = view.language, []
    kept, answer = _kept(rung)
    chases = frame_of(kept.choice.move, kept.choice.after).label != "check"
    arrows = [_arrow(kept.choice.move, "chase" if chases else "check")]
    names = [_name(view, rung.position, move.move) for move in rung.keeps]
    stop = text(language, "list_stop")
    reply = _name(view, answer.position, answer.choice.move)
    winner = text(language, answer.position.side.name.lower())
    parts.append(text(language, "rung_keep", n=rung.order, moves=stop.join(names)))
    parts.append(text(language, "rung_answer", side=winner, move=reply))
    leaves = rung.leaves
    if leaves is None:
        return [*parts, text(language, "rung_none")], arrows
    arrows.append(_arrow(leaves.move, "best"))
    name = _name(view, rung.position, leaves.move)
    if leaves.order:
        parts.append(text(language, "rung_leave", move=name, n=leaves.order))
    else:
        plies = leaves.worth.plies if leaves.worth else 0
        n = moves_in_words(plies, language)
        parts.append(text(language, "rung_mate", move=name, n=n))
    return parts, arrows


def _arrow(move: Move, kind: str) -> Arrow:
    return Arrow(move.source, move.target, kind)


def _name(view: View, position: Position, move: Move) -> str:
    return format_move(position, move, view.notation)

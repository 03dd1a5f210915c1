"""Board for other sites: page of an <iframe>, and <head> tags for the preview of a link.

    /embed?fen=&moves=         board, outcome, link to the full page; no buttons
    /embed?fen=&mode=line      instead of the board, best play as animated picture
    <meta property="og:...">   Open Graph tags: endgame, outcome, picture

Any site may frame the page: it has no scripts, forms or token.
"""

from __future__ import annotations

from html import escape

from tbgen.answers.reasons import explain_position
from tbgen.board.drawing import animation
from tbgen.board.drawing.bitmap import can_rasterise
from tbgen.board.drawing.diagram import Marks, draw
from tbgen.board.knowledge.store import Facts, TableStore
from tbgen.board.language.words import material_name
from tbgen.board.web.assets import address
from tbgen.board.web.http import HTML, Answer
from tbgen.board.web.layout import link
from tbgen.board.web.middleware import SECURITY_HEADERS
from tbgen.board.web.verdict import MOST_NAMED, end_in_words
from tbgen.board.web.view import View
from tbgen.indexing import Position

_POLICY = "content-security-policy"
HEADERS = {_POLICY: SECURITY_HEADERS[_POLICY].replace("ancestors 'none'", "ancestors *")}
"""Headers of the <iframe> page: any site may frame it."""


def embed_page(store: TableStore, view: View) -> Answer:
    """Return the page for an <iframe>: picture, title, outcome, link to the full page.

    Raises like `frames_of_view`, `TableStore.probe_game` and `TableStore.mechanism`.
    """
    facts = store.probe_game(view.positions, view.moves)
    line = view.mode == "line"
    shown = animation.animate(*frames_of_view(store, view), view.look) if line else picture(view)
    theme = f' data-theme="{view.theme}"' if view.theme else ""
    title, said = _title(facts, view), _description(store, facts, view)
    href = view.href(chosen=None, heat_square=None)
    more = link(href, view.text("embed_open"), "", ' target="_blank" rel="noopener"')
    whole = (
        f'<!doctype html><html lang="{view.language}"{theme}><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>"
        f'<link rel="stylesheet" href="{address("board.css")}">'
        f'<link rel="icon" href="{address("icon.svg")}"></head>'
        f'<body class="embedded"><main>{shown}<h1>{escape(title)}</h1>'
        f"<p>{escape(said)} {more}</p></main></body></html>"
    )
    return Answer(whole, HTML, headers=HEADERS)


def picture(view: View) -> str:
    """Return the view's position as standalone SVG, with the last move marked."""
    last = view.moves[-1] if view.moves else None
    return draw(view.position, view.look, Marks(last), alone=True)


def open_graph_tags(store: TableStore, facts: Facts, view: View) -> str:
    """Return Open Graph tags, "" if `view.origin` is empty; raises like `TableStore.mechanism`."""
    if not view.origin:
        return ""
    path = "/v1/render.png" if can_rasterise() else "/v1/render.svg"
    tags = {
        "og:type": "website",
        "og:site_name": view.text("title"),
        "og:title": _title(facts, view),
        "og:description": _description(store, facts, view),
        "og:url": view.origin + view.href(chosen=None, heat_square=None),
        "og:image": view.origin + view.href(path, mode="read", chosen=None, heat_square=None),
    }
    return "".join(
        f'<meta property="{name}" content="{escape(content)}">' for name, content in tags.items()
    )


def frames_of_view(store: TableStore, view: View) -> tuple[Position, list[animation.Frame]]:
    """Return start position and frames of the view's game, one for each ply, at most `MOST_PLIES`.

    Without moves, the frames show best play, and its loop `animation.LOOP_ROUNDS` times. Raises
    like `TableStore.judge` with moves, else like `TableStore.line`.
    """
    if view.moves:
        moves = view.moves[: animation.MOST_PLIES]
        plies = store.judge(view.start, moves).plies
        game = zip(moves, view.positions[1:], plies, strict=False)
        return view.start, [animation.frame_of(*ply) for ply in game]
    line = store.line(view.position)
    frames = animation.frames_of_line(line)
    if line.loop_start is not None:
        frames += frames[line.loop_start :] * (animation.LOOP_ROUNDS - 1)
    return view.position, frames[: animation.MOST_PLIES]


def _title(facts: Facts, view: View) -> str:
    """Return the name of the endgame and, unless the game has ended, the side to move, as text."""
    material = view.position.material
    name = material_name(material, view.language) if material.men <= MOST_NAMED else material.name
    turn = view.text("to_move", side=view.position.side)
    return name if facts.over is not None else f"{name}{view.text('list_stop')}{turn}"


def _description(store: TableStore, facts: Facts, view: View) -> str:
    """Return a sentence on the position, as text: its result or reason, in play mode the task."""
    if view.mode == "play":
        return view.text(f"puzzle_{view.task}" if view.task else "shared_game")
    if facts.over is not None:
        return end_in_words(facts.over, view)
    if facts.result is None:
        return view.text("no_verdict")
    mechanism = store.mechanism(facts)
    return explain_position(facts.position, facts.result, mechanism, view.words)

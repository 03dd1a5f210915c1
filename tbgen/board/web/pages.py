"""Endpoints of the HTML pages: each takes a request and returns a page or a redirect.

Other modules make the contents; `routes` has the addresses.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from dataclasses import replace

from starlette.requests import Request

from tbgen.board.knowledge.puzzles import (
    LEVELS,
    NothingFoundError,
    answer,
    find_puzzle,
    puzzle_of_the_day,
    search_puzzle,
    today,
)
from tbgen.board.knowledge.store import TableStore
from tbgen.board.web.building import missing_page
from tbgen.board.web.editor import editor_page, read_sketch
from tbgen.board.web.embed import embed_page
from tbgen.board.web.endgames import material_page
from tbgen.board.web.handbook import chapter_page
from tbgen.board.web.http import HTML, Answer, RequestError
from tbgen.board.web.layout import with_settings
from tbgen.board.web.line_page import film_page
from tbgen.board.web.middleware import HOST, is_forwarded, is_loopback
from tbgen.board.web.position_page import lookup_page, playing_page
from tbgen.board.web.search_page import fields_of, require_clear_colours, search_page
from tbgen.board.web.small_boards import gallery_page
from tbgen.board.web.view import MAX_MOVES, MAX_POSITION_TEXT, SETTINGS, VIEW, View, read_view
from tbgen.indexing import Material, Position, Side
from tbgen.indexing.errors import InputError, MoveTextError, PositionError, excerpt
from tbgen.notation import (
    GameText,
    begins_with_moves,
    names_two_sides,
    parse_material,
    read_attacker,
    read_game,
    read_material,
    read_position,
)
from tbgen.rules import check_legal
from tbgen.tables import MissingTableError, Outcome


class Pages:
    """Endpoints of the pages; they raise the errors that `http.failure` turns into answers."""

    def __init__(self, store: TableStore) -> None:
        self._store = store

    def board(self, request: Request) -> Answer:
        """Return the page of the requested mode; the editor for a malformed or illegal position."""
        if request.query_params.get("mode") == "edit":
            return self._edit(request)
        try:
            view = self._view(request)
        except PositionError as error:
            # The editor shows the error, with the text in its field.
            return self._edit(request, error)
        shown = {"read": lookup_page, "play": playing_page, "line": film_page}[view.mode]
        return shown(self._store, view)

    def embed(self, request: Request) -> Answer:
        """Return the page of a position for an <iframe>."""
        return embed_page(self._store, self._view(request))

    def _edit(self, request: Request, error: PositionError | None = None) -> Answer:
        """Return the editor page for the requested arrangement of pieces.

        Links to other modes lead to the edited position, if it is legal.

        error : error of a request in another mode, which makes the status 400; raised again if
            `read_sketch` finds no fault in the position
        """
        reading = read_sketch(request.query_params, self._store.first_position)
        view = replace(self._settings_only(request), mode="edit")
        if error is not None and not reading.problem and not reading.sketch.faults(view.language):
            raise error
        with contextlib.suppress(InputError):
            view = view.at(reading.sketch.checked())
        chosen = request.query_params.get("piece", "")[:1]
        return editor_page(self._store, view, reading, chosen, 200 if error is None else 400)

    def of_settings(
        self, page: Callable[[TableStore, View], Answer]
    ) -> Callable[[Request], Answer]:
        """Return the endpoint of a page that depends on the view's settings alone."""
        return lambda request: page(self._store, self._settings_only(request))

    def endgame(self, request: Request) -> Answer:
        """Return the page of an endgame, or of its positions of one value if the query has `plies`.

        Without a table, return the `missing_page`. Redirect other spellings, such as `knkr`.
        """
        view = self._settings_only(request)
        asked = request.path_params["material"]
        material = parse_material(asked)
        if asked != material.name:
            return _redirect(with_settings(f"/endgames/{material}", view))
        try:
            if "plies" in request.query_params:
                return gallery_page(self._store, view, material, request.query_params)
            return material_page(self._store, view, material)
        except MissingTableError:
            return missing_page(self._store, view, material)

    def chapter(self, request: Request) -> Answer:
        """Return a page of the handbook: the endgames of one attacker, or of all (`all`)."""
        view = self._settings_only(request)
        return chapter_page(self._store, view, request.path_params["attacker"])

    def search(self, request: Request) -> Answer:
        """Return the search page of an endgame: the form, and the positions that meet its query."""
        view = self._settings_only(request)
        material = Material.parse(request.path_params["material"])
        require_clear_colours(request.path_params["material"], fields_of(request.query_params))
        return search_page(self._store, view, material, request.query_params)

    def search_or_missing(self, search: Callable[[Request], Answer], request: Request) -> Answer:
        """Return the answer of `search`, or without a table the page that offers to build it.

        search : endpoint that runs `Pages.search` in another process
        """
        material = Material.parse(request.path_params["material"])
        try:
            self._store.tables.table(material)
        except MissingTableError:
            return missing_page(self._store, self._settings_only(request), material)
        return search(request)

    def sampled_puzzle(self, search: Callable[[Request], Answer], request: Request) -> Answer:
        """Redirect to a puzzle; if a sample has none, to the same address with `whole=1`.

        search : endpoint that runs `Pages.puzzle` on the whole table in another process
        """
        if "whole" in request.query_params:
            return search(request)
        try:
            return self.puzzle(request, find_puzzle)
        except NothingFoundError:
            query = request.query_params
            asked = {name: query[name] for name in ("task", "level") if name in query}
            path = f"/puzzle/{request.path_params['material']}"
            view = self._settings_only(request)
            return _redirect(with_settings(path, view, asked | {"whole": "1"}))

    def puzzle(self, request: Request, find: Callable[..., Position] = search_puzzle) -> Answer:
        """Redirect to a puzzle of the requested material, task and level.

        Raises `MaterialError`, `RequestError` for an unknown level, and like `find`.

        find : returns the puzzle's position; the default searches the whole table
        """
        material = Material.parse(request.path_params["material"])
        task = "draw" if request.query_params.get("task") == "draw" else "win"
        level = request.query_params.get("level", "")
        if level and level not in LEVELS:
            raise RequestError(400, f"level is none of {', '.join(LEVELS)}", "level=easy")
        position = find(self._store, material, Outcome[task.upper()], level=level)
        return _shown_puzzle(self._settings_only(request), position, task)

    def puzzle_of_the_day(self, request: Request) -> Answer:
        """Redirect to the day's puzzle; raises `RequestError` if the search finds none."""
        position = puzzle_of_the_day(self._store, today())
        if position is None:
            raise RequestError(404, "no puzzle was found", "build a table of four pieces first")
        return _shown_puzzle(self._settings_only(request), position, "win")

    def reply(self, request: Request) -> Answer:
        """Redirect to the position after the opponent's reply, or without one to that before it.

        If the tables suggest no move, the engine replies, or raises `NoReplyError`.
        """
        view = self._view(request)
        facts = self._store.probe_game(view.positions, view.moves)
        if facts.over is None and facts.suggested is not None:
            view = view.after(answer(facts, view.strength))
        elif facts.over is None and self._store.opponent is not None:
            view = view.after(self._store.opponent(view.start, view.moves))
        return _redirect(view.href())

    def find(self, request: Request) -> Answer:
        """Redirect to the endgame, position or game that was typed into the search box.

        The pieces of one side, such as `KRN`, lead to their chapter of the handbook; if no table
        has them as attacker, to their endgame against a bare king. A game with a fault is answered
        by a page (`_game`). Raises `InputError` or `RequestError`.
        """
        asked = request.query_params.get("q", "").strip()
        view = self._settings_only(request)
        if not asked:
            return _redirect(with_settings("/", view))
        material = read_material(asked)
        if material is not None:
            return _redirect(with_settings(f"/endgames/{material}", view))
        if attacker := read_attacker(asked):
            known = any(material.first == attacker for material in self._store.materials())
            path = f"/handbook/{attacker.name}" if known else f"/endgames/{attacker.name}K"
            return _redirect(with_settings(path, view))
        try:
            read = read_position(asked[: MAX_POSITION_TEXT + 1])
        except PositionError as error:
            try:
                return self._game(view, read_game(asked, most=MAX_MOVES))
            except MoveTextError as unreadable:
                # Text that begins like a game, or has two of blank, digit and non-ASCII character,
                # counts as moves. Other text with a digit counts as a position: FENs have one.
                numbered = any(map(str.isdigit, asked))
                kinds = (" " in asked) + numbered + (not asked.isascii())
                if kinds >= 2 or begins_with_moves(asked):
                    raise
                if numbered:
                    raise error from unreadable
                if names_two_sides(asked):
                    parse_material(asked)  # raises, as it is no endgame
                wrong = f"{excerpt(asked)} is no endgame, position or game"
                hint = "such as KRKN, rook against knight, a FEN, or moves"
                raise RequestError(400, wrong, hint) from None
        turned = view.flip or read.viewpoint == Side.BLACK
        return _redirect(replace(view.at(read.position), flip=turned).href())

    def _game(self, view: View, game: GameText) -> Answer:
        """Redirect to the last position of a game that was typed as text.

        If a move is wrong, return the page of the position before it, with a notice; raise the
        error if that is the first move. If the result in the text is wrong, return a notice, too.
        """
        shown = replace(view, start=game.start, moves=game.moves, mode="read")
        if game.fault is not None:
            if not game.moves:
                raise game.fault
            return lookup_page(self._store, shown, fault=game.fault)
        found = self._store.probe_game(shown.positions, shown.moves).final if game.stated else "*"
        if found in ("*", game.stated):
            return _redirect(shown.href())
        return lookup_page(self._store, shown, game.stated)

    def _view(self, request: Request) -> View:
        view = requested_view(request, self._store.first_position)
        check_legal(view.start)
        return view

    def _settings_only(self, request: Request) -> View:
        return requested_view(request, self._store.first_position, SETTINGS)


def requested_view(request: Request, default: Position, names: Collection[str] = VIEW) -> View:
    """Return the view that the parameters `names` of a request describe; raise like `read_view`.

    Its `origin` comes from the header `Host`; it is empty, and `local` false, if that is malformed.
    """
    query = {key: value for key, value in request.query_params.items() if key in names}
    view = read_view(query, default, request.headers.get("accept-language", ""))
    host = request.headers.get("host", "")
    if not HOST.fullmatch(host):
        return view
    return replace(
        view,
        origin=f"{request.url.scheme}://{host}{request.scope['root_path']}",
        local=is_loopback(host) and not is_forwarded(request.scope["headers"]),
    )


def _shown_puzzle(view: View, position: Position, task: str) -> Answer:
    """Redirect to a puzzle, with the solver's side at the bottom; `task` is "win" or "draw"."""
    shown = replace(view.at(position), task=task)
    flip = position.side == Side.BLACK
    return _redirect(shown.href(mode="play", visitor=position.side, flip=flip))


def _redirect(href: str) -> Answer:
    return Answer("", HTML, 303, {"location": href})

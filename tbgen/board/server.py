"""Routes, old links, error pages, and running the server.

    tables directory  ->  Library  ->  Starlette application  ->  uvicorn on 127.0.0.1

The application keeps no state but the tables' cache and counts of requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
from collections.abc import Callable
from functools import partial
from html import escape
from importlib import resources
from pathlib import Path
from socket import socket
from sys import getswitchinterval, setswitchinterval
from typing import Any
from urllib.parse import quote, unquote_plus

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from tbgen.board.api import Api
from tbgen.board.diagram import STYLE
from tbgen.board.editor import editor_page, read_sketch
from tbgen.board.endgames import MAX_NODES, closure_size, list_page, material_page
from tbgen.board.http import (
    HTML,
    SECURITY_HEADERS,
    SVG,
    Answer,
    Gate,
    Limits,
    RequestError,
    failure,
    is_loopback,
)
from tbgen.board.i18n import text
from tbgen.board.layout import page, with_settings
from tbgen.board.library import Library
from tbgen.board.pages import line_page, playing_page, reading_page
from tbgen.board.pieces import piece_path
from tbgen.board.state import View, read_view
from tbgen.indexing import Material, Position, Side
from tbgen.indexing.errors import InputError
from tbgen.indexing.squares import PieceType
from tbgen.play.tablebase import GameTablebase
from tbgen.rules import check_legal

HEADER_SECONDS = 5
"""How long a connection may take to send the head of a request."""

MAX_CONNECTIONS = 512

TURN_SECONDS = 0.0005
"""How long a thread works before another one's turn: Python's own 5 ms add up in short answers."""

Page = Callable[[Library, View], Answer]

_ANY_POSITION = Position.from_fen("3k5/9/9/9/9/9/9/9/9/R3K4 w")
"""Where the links of an error page lead."""


def create_app(
    tables: GameTablebase, directory: Path | None = None, *, loopback_only: bool = False
) -> Starlette:
    """The application for some tables; more of them may come into `directory` later.

    With `loopback_only` nobody is answered who asks for another machine's name. Work with the
    tables ends when nobody waits for it: their `checkpoint` is the application's.
    """
    library = Library(tables, directory)
    gate = Gate(lambda: library.fingerprint)
    tables.checkpoint = gate.checkpoint
    static = _static_files()

    def shown(name: str, path: str, show: Page, mode: str = "read") -> Route:
        def answer(request: Request) -> Answer:
            view = _view(library, request, mode)
            check_legal(view.start)
            return show(library, view)

        return Route(path, gate.endpoint(name, answer, _as_page, takes_long=_always))

    def edit(request: Request) -> Answer:
        sketch, problem = read_sketch(request.query_params, library.first_position)
        view = _settings_only(library, request, "edit")
        # The page says what is wrong; links that need a position then lead to the first one.
        with contextlib.suppress(InputError):
            view = view.at(sketch.checked())
        return editor_page(view, sketch, problem)

    def endgames(request: Request) -> Answer:
        return list_page(library, _settings_only(library, request))

    def endgame(request: Request) -> Answer:
        material = Material.parse(request.path_params["material"])
        return material_page(library, _settings_only(library, request), material)

    def file(request: Request) -> Answer:
        content = static.get(request.path_params["name"])
        if content is None:
            raise RequestError(404, "there is no such file", "see /")
        return Answer(content[0], content[1])

    routes = [
        shown("board", "/", reading_page),
        shown("play", "/play", playing_page, "play"),
        shown("line", "/line", line_page, "line"),
        Route("/edit", gate.endpoint("edit", edit, _as_page)),
        Route("/endgames", gate.endpoint("endgames", endgames, _as_page)),
        Route("/endgames/{material}", gate.endpoint("endgame", endgame, _as_page)),
        Route("/endgame.cgi", _old_link("/")),
        Route("/play.cgi", _old_link("/play")),
        Route("/static/{name}", gate.endpoint("static", file)),
        *_api_routes(Api(library), gate),
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Limits, loopback_only=loopback_only)],
        exception_handlers={404: _not_found, 500: _bug},
    )
    app.state.gate = gate
    return app


def _api_routes(api: Api, gate: Gate) -> list[Route]:
    """The addresses that programs ask."""

    def follows_play(request: Request) -> bool:
        """Whether a probe is of a whole game, or is to be explained by a line."""
        return bool({"moves", "explain"} & request.query_params.keys())

    def metrics(request: Request) -> Answer:
        return api.metrics(gate)

    def bounded(function: Callable[[Request], Answer]) -> Callable[[Request], Answer]:
        """Refuse materials whose graph would be enormous."""

        def answer(request: Request) -> Answer:
            size = closure_size(Material.parse(request.path_params["material"]))
            if size > 10 * MAX_NODES:
                raise RequestError(400, "the graph is too large", "ask for one with fewer pieces")
            return function(request)

        return answer

    return [
        Route("/export.pgn", gate.endpoint("export", api.export)),
        Route("/v1/probe", gate.endpoint("probe", api.probe, takes_long=follows_play)),
        Route("/v1/mainline", gate.endpoint("mainline", api.mainline, takes_long=_always)),
        Route("/v1/judge", gate.endpoint("judge", api.judge, takes_long=_always)),
        Route("/v1/render.svg", gate.endpoint("render", api.render)),
        Route("/v1/tables", gate.endpoint("tables", api.tables)),
        Route("/v1/tables/{material}", gate.endpoint("table", api.table)),
        Route("/v1/tables/{material}/histogram", gate.endpoint("histogram", api.histogram)),
        Route("/v1/tables/{material}/graph", gate.endpoint("graph", bounded(api.graph))),
        Route("/v1/graph/{material}.dot", gate.endpoint("dot", bounded(api.dot))),
        Route("/healthz", gate.endpoint("health", api.health, cached=False)),
        Route("/metrics", gate.endpoint("metrics", metrics, cached=False)),
    ]


def _always(request: Request) -> bool:
    return True


def _view(library: Library, request: Request, mode: str) -> View:
    """The view that a request for a page describes."""
    return read_view(
        request.query_params,
        library.first_position,
        mode,
        request.headers.get("accept-language", ""),
    )


def _settings_only(library: Library, request: Request, mode: str = "read") -> View:
    """A view of the first position, with the language and colours asked for."""
    kept = {
        key: value
        for key, value in request.query_params.items()
        if key in ("lang", "theme", "notation", "pieces", "flip")
    }
    language = request.headers.get("accept-language", "")
    return read_view(kept, library.first_position, mode, language)


def _old_link(path: str) -> Callable[[Request], Any]:
    """Pai's addresses, in which the whole query is a position in his notation."""

    async def redirect(request: Request) -> Response:
        position = unquote_plus(request.url.query)
        return RedirectResponse(f"{path}?pos={quote(position, safe='')}", 301)

    return redirect


# -- errors ----------------------------------------------------------------------------------


def _as_page(request: Request, answer: Answer) -> Answer:
    """An error as a page for people; API answers stay as they are."""
    body = answer.body
    assert not isinstance(body, str | bytes)
    language = request.query_params.get("lang", "")
    view = read_view({"lang": language}, _ANY_POSITION, "read",
                     request.headers.get("accept-language", ""))  # fmt: skip
    main = (
        f'<div class="wide"><p class="notice problem" role="alert" lang="en">'
        f"<b>{escape(str(body['error']))}.</b> {escape(str(body['hint']))}</p></div>"
    )
    title = text(view.language, "not_found") if answer.status == 404 else str(answer.status)
    return Answer(page(view, title, main, partial(with_settings, "/endgames")), HTML, answer.status)


async def _not_found(request: Request, error: Exception) -> Response:
    """An address that no route has."""
    answer = failure(RequestError(404, "there is no such page", "the board is at /"))
    if "text/html" in request.headers.get("accept", ""):
        answer = _as_page(request, answer)
    return Response(answer.content(), answer.status, media_type=answer.media_type)


async def _bug(request: Request, error: Exception) -> Response:
    """An error that only a bug explains; its traceback goes to the log.

    It is answered outside of `Limits`, which gives their headers to all other answers.
    """
    answer = failure(RequestError(500, "something went wrong here", "see the server's log"))
    headers = dict(SECURITY_HEADERS)
    return Response(answer.content(), answer.status, headers, media_type=answer.media_type)


# -- files -----------------------------------------------------------------------------------


def _static_files() -> dict[str, tuple[bytes, str]]:
    """Script, style and icon by name, read once: no path of a request reaches the disk."""
    found = {}
    for item in (resources.files("tbgen.board") / "static").iterdir():
        media = mimetypes.guess_type(item.name)[0] or "application/octet-stream"
        found[item.name] = (item.read_bytes(), media)
    found["icon.svg"] = (_icon().encode(), SVG)
    return found


def _icon() -> str:
    """The red king."""
    path = piece_path(Side.RED, PieceType.KING, "zh")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-50 -50 100 100"><style>{STYLE}</style>'
        f'<g class="red"><circle class="disc" r="45"/>'
        f'<path class="glyph" transform="scale(.58)" d="{path}"/></g></svg>'
    )


# -- running ---------------------------------------------------------------------------------


class PatientProtocol(H11Protocol):
    """uvicorn's protocol with an end to its patience.

    It waits for ever for the rest of a request; a client that sends one byte a minute would keep
    its connection. Here the head of a request has to be complete in `HEADER_SECONDS`.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Stop waiting if a request is being answered, else wait on from when it began."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._deadline is None:
            self._wait()

    def on_response_complete(self) -> None:
        """What waits now is uvicorn's own timer between two requests."""
        self._stop_waiting()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class BoardServer(Server):
    """uvicorn's server, which ends the work of its requests before it ends itself."""

    def run(self, sockets: list[socket] | None = None) -> None:
        """Serve until interrupted; threads take turns often, so that short work is not held up."""
        before = getswitchinterval()
        setswitchinterval(TURN_SECONDS)
        try:
            super().run(sockets)
        finally:
            setswitchinterval(before)

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """End at once, and not when the last long answer is there."""
        self.config.app.state.gate.close()  # type: ignore[union-attr]
        await super().shutdown(sockets)


def make_server(
    tables: GameTablebase, directory: Path, host: str, port: int, *, log: bool = False
) -> Server:
    """A server that `run()` starts; it opens no port before that."""
    return BoardServer(
        Config(
            create_app(tables, directory, loopback_only=is_loopback(host)),
            host=host,
            port=port,
            http=PatientProtocol,
            ws="none",
            lifespan="off",
            log_level="info" if log else "warning",
            access_log=log,
            server_header=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=3,
        )
    )

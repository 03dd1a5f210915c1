"""Routes, redirects of old links, and error pages.

    tables directory  ->  TableStore  ->  Starlette application

The application's only state is caches, request counts, search processes and a running build.
`server` runs it.
"""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote, unquote_plus

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from tbgen.board.drawing.bitmap import can_rasterise
from tbgen.board.drawing.diagram import draw
from tbgen.board.knowledge.builds import BuildService
from tbgen.board.knowledge.puzzles import today
from tbgen.board.knowledge.store import ReplyFunction, TableStore
from tbgen.board.language.error_messages import localise_error, translate_error
from tbgen.board.language.i18n import LANGUAGES
from tbgen.board.web.api import Api
from tbgen.board.web.assets import FOREVER, assets
from tbgen.board.web.building import POST_PATHS, BuildEndpoints, build_page, build_state
from tbgen.board.web.endgames import list_page
from tbgen.board.web.files import ADDRESS, CompressionExceptFiles, FileEndpoint
from tbgen.board.web.handbook import handbook_page
from tbgen.board.web.http import (
    INTERNAL,
    JSON,
    TEXT,
    Answer,
    EndpointRunner,
    Lane,
    RequestError,
    body_of,
    failure,
)
from tbgen.board.web.layout import board_page, link, page_link, with_settings
from tbgen.board.web.middleware import MAX_QUERY, SECURITY_HEADERS, ForwardedHeaders, RequestLimits
from tbgen.board.web.openapi import ENDPOINTS, api_page, description, refuse_parameters
from tbgen.board.web.pages import Pages, requested_view
from tbgen.board.web.search_processes import SearchProcesses
from tbgen.board.web.view import SETTINGS, VIEW, View
from tbgen.finding.query import FIELDS
from tbgen.indexing import InputError, Position
from tbgen.play.tablebase import GameTablebase
from tbgen.rules import check_legal

POLL_SECONDS = 5
"""Seconds between scans of the directory while it has no tables."""

_PROMPT_GAME = 500
"""Maximum characters of `moves` in a request in lane `PROMPT`: about 100 moves, judged in 30 ms."""

_ANY_POSITION = Position.from_fen("3k5/9/9/9/9/9/9/9/9/R3K4 w")
"""Position used for the links of an error page if the request names no readable position."""


def create_app(
    tables: GameTablebase,
    directory: Path | None = None,
    *,
    loopback_only: bool = False,
    workshop: BuildService | None = None,
    opponent: ReplyFunction | None = None,
    files: bool = False,
    compared: Path | None = None,
) -> Starlette:
    """Return the application for `tables`; tables added to `directory` later are found.

    Sets `tables.checkpoint`, so that work for a client that has disconnected ends. `BoardServer`
    uses the application's attributes `state.runner` and `state.prepare`. Raises `ValueError` for a
    workshop that builds without `loopback_only`.

    loopback_only : refuse requests for another machine's host name. Only if this is set, pages
        show the path of `directory`, in the command that builds a missing table
    workshop : service that estimates the cost of missing tables, and builds them if it has `limits`
    opponent : engine that moves where the tables suggest no move
    files : serve the files of `directory`, if one is given (`/files`)
    compared : directory with tables of other rule sets
    """
    if workshop is not None and workshop.limits is not None and not loopback_only:
        raise ValueError("only the machine itself may have tables built")
    known = directory is not None and loopback_only
    option = f" --tables {shlex.quote(str(directory))}" if known else ""
    store = TableStore(tables, directory, workshop, option, opponent, compared)
    runner = EndpointRunner(
        lambda: f"{store.fingerprint}{store.readings}{build_state(store)}{today()}",
        store.examine,
    )
    tables.checkpoint = runner.checkpoint
    pages, searchers = Pages(store), SearchProcesses(store)
    routes = [
        *_page_routes(pages, searchers, runner),
        Route("/static/{name}", runner.endpoint("static", _static)),
        Route("/robots.txt", runner.endpoint("robots", _robots)),
        *_api_routes(Api(store), searchers, runner),
    ]
    if workshop is not None:
        builds = BuildEndpoints(workshop, lambda: runner.closed, _error_page)
        routes += builds.routes
    if files and directory is not None:
        routes.append(Route(f"{ADDRESS}/{{name}}", FileEndpoint(directory, runner.requests).answer))
    posts = {"/find", *(POST_PATHS if workshop is not None and workshop.limits is not None else ())}
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(RequestLimits, loopback_only=loopback_only, posts=posts),
            Middleware(CompressionExceptFiles, minimum_size=1000, compresslevel=4),
            Middleware(ForwardedHeaders),
        ],
        exception_handlers={404: _not_found, 500: _internal_error},
    )
    app.state.runner, app.state.prepare = runner, partial(_prepare, store, searchers)
    return app


def _prepare(store: TableStore, searchers: SearchProcesses) -> None:
    """Do slow work before requests need its results; `BoardServer` calls this in a thread.

    Loads the rasteriser (a second). Waits until there are tables, and then starts two threads: to
    compile the kernels of searches (half a minute), and to read all statistics and proofs.
    """
    can_rasterise()
    while not store.available():
        time.sleep(POLL_SECONDS)
        _ = store.fingerprint  # rescans the directory
    Thread(target=searchers.compile, daemon=True).start()
    store.start_reading()


def _page_routes(pages: Pages, searchers: SearchProcesses, runner: EndpointRunner) -> list[Route]:
    shown = partial(_route, runner, on_error=_error_page, lane=Lane.PAGE, known=SETTINGS)
    slow = partial(shown, lane=Lane.LONG)
    searched = partial(pages.search_or_missing, searchers.endpoint("page"))
    puzzles = partial(pages.sampled_puzzle, searchers.endpoint("puzzle"))
    board, form = (*VIEW, "piece", "was"), (*SETTINGS, *FIELDS, "seed", "sheet")
    box = shown("/find", "find", pages.find, known=(*SETTINGS, "q"), cached=False)
    bar, puzzle = (*SETTINGS, "won", "order", "plies"), (*SETTINGS, "task", "level", "whole")
    return [
        shown("/", "board", pages.board, known=board, lane=_lane_of_board),
        box,
        Route("/find", partial(_posted, box.endpoint), methods=["POST"]),
        shown(
            "/puzzle/{material}",
            "puzzle",
            puzzles,
            known=puzzle,
            cached=False,
            lane=lambda request: Lane.SEARCH if "whole" in request.query_params else Lane.PUZZLE,
            on_error=_puzzle_error_page,
        ),
        slow("/puzzle", "puzzle", pages.puzzle_of_the_day, cached=False),
        slow("/reply", "reply", pages.reply, known=VIEW, cached=False),
        shown("/search/{material}", "search", searched, known=form, lane=Lane.SEARCH),
        slow("/endgames", "endgames", pages.of_settings(list_page)),
        shown("/endgames/{material}", "endgame", pages.endgame, known=bar),
        slow("/handbook", "handbook", pages.of_settings(handbook_page)),
        slow("/handbook/{attacker}", "chapter", pages.chapter),
        shown("/embed", "embed", pages.embed, known=VIEW),
        shown("/build", "build", pages.of_settings(build_page), lane=Lane.PROMPT),
        shown("/api", "api", pages.of_settings(lambda _, view: api_page(view)), lane=Lane.PROMPT),
        _route(runner, "/openapi.json", "openapi", _openapi, (), media=JSON),
        Route("/endgame.cgi", _redirect_from_pai),
        Route("/play.cgi", _redirect_from_pai),
    ]


def _route(
    runner: EndpointRunner,
    path: str,
    name: str,
    function: Callable[[Request], Answer],
    known: Sequence[str],
    listed: Sequence[str] = (),
    **how: Any,
) -> Route:
    """Return a route whose endpoint refuses query parameters like `refuse_parameters`.

    name : name under which requests are counted
    how : further arguments of `EndpointRunner.endpoint`
    """

    def checked(request: Request) -> Answer:
        refuse_parameters(path, known, listed, request.query_params)
        return function(request)

    return Route(path, runner.endpoint(name, checked, **how))


async def _posted(find: Callable[[Request], Any], request: Request) -> Response:
    """Redirect the POST of the search box to `/find` with a query, which can be reloaded.

    If this address is too long, return the answer of its endpoint `find` instead.
    """
    try:
        fields = await body_of(request)
    except RequestError as error:
        return _error_response(request, error)
    address = f"/find?{quote(fields, safe='%&+=')}"
    if len(address) <= MAX_QUERY:
        return RedirectResponse(address, 303)
    asked = Request({**request.scope, "query_string": fields}, request.receive)
    answer: Response = await find(asked)
    return answer


def _api_routes(api: Api, searchers: SearchProcesses, runner: EndpointRunner) -> list[Route]:
    prompt = ("render", "histogram", "graph", "dot", "health", "metrics")
    lanes: dict[str, Any] = dict.fromkeys(prompt, Lane.PROMPT) | {"search": Lane.SEARCH}
    lanes |= dict.fromkeys(("probe", "judge"), _lane_of_game)
    routes = []
    for endpoint in ENDPOINTS:
        name = endpoint.name
        function = searchers.endpoint("json") if name == "search" else getattr(api, name)
        how = {
            "lane": lanes.get(name, Lane.LONG),
            "cached": name not in ("health", "metrics"),
            "media": endpoint.media,
            "on_error": _in_language,
        }
        known, listed = endpoint.known, endpoint.parameters
        counted = name.partition("_")[0]
        routes.append(_route(runner, endpoint.path, counted, function, known, listed, **how))
    return routes


def _in_language(request: Request, answer: Answer) -> Answer:
    """Return the JSON of an error, translated if the request's `lang` is one of `LANGUAGES`."""
    language = request.query_params.get("lang")
    if language not in LANGUAGES or not isinstance(answer.body, Mapping):
        return answer
    said = translate_error(str(answer.body["error"]), str(answer.body["hint"]), language)
    return replace(answer, body={**answer.body, "error": said[0], "hint": said[1]})


def _static(request: Request) -> Answer:
    """Return script, style or icon; cacheable for a year if the address has its fingerprint."""
    asset = assets().get(request.path_params["name"])
    if asset is None:
        raise RequestError(404, "there is no such file")
    current = request.query_params.get("v") == asset.fingerprint
    headers = {"cache-control": FOREVER} if current else None
    return Answer(asset.content, asset.media_type, headers=headers)


def _openapi(request: Request) -> Answer:
    return Answer(description(request.scope["root_path"]))


def _robots(request: Request) -> Answer:
    """Return robots.txt: crawlers may fetch the first page and the endgames, but no positions."""
    root = request.scope["root_path"]
    lines = ("User-agent: *", f"Allow: {root}/$", f"Allow: {root}/endgames", f"Disallow: {root}/")
    return Answer("".join(f"{line}\n" for line in lines), TEXT)


def _lane_of_board(request: Request) -> Lane:
    """Return the lane (queue) of a board page: heat map `LONG`, editor `PROMPT`, others `PAGE`."""
    if "where" in request.query_params:
        return Lane.LONG
    return Lane.PROMPT if request.query_params.get("mode") == "edit" else Lane.PAGE


def _lane_of_game(request: Request) -> Lane:
    """Return the lane (queue) of a probe or verdict: `LONG` for `explain` or long games."""
    query = request.query_params
    is_long = "explain" in query or len(query.get("moves", "")) > _PROMPT_GAME
    return Lane.LONG if is_long else Lane.PROMPT


async def _redirect_from_pai(request: Request) -> Response:
    """Redirect a link of Jih-tung Pai's query system: the query is a position in his notation."""
    position = quote(unquote_plus(request.url.query), safe="")
    mode = "&mode=play" if request.url.path.endswith("/play.cgi") else ""
    return RedirectResponse(f"/?pos={position}{mode}", 301)


def _puzzle_error_page(request: Request, answer: Answer) -> Answer:
    """Return `_error_page`, with a link to the endgame if no puzzle or table was found."""
    if answer.status != 404:
        return _error_page(request, answer)
    view, name = requested_view(request, _ANY_POSITION, SETTINGS), request.path_params["material"]
    figures = view.pair(name, view.text("all_figures"))
    return _error_page(request, answer, page_link(f"/endgames/{name}", view, figures, "button"))


def _error_page(request: Request, answer: Answer, more: str = "") -> Answer:
    """Return an error as HTML page, with the board if the requested position is legal.

    answer : the error as JSON, with `error` and `hint`
    more : link to another page, as HTML, beside the link to the board
    """
    body = answer.body
    assert not isinstance(body, str | bytes)
    view, picture = requested_view(request, _ANY_POSITION, SETTINGS), ""
    with contextlib.suppress(InputError):
        if "fen" in request.query_params or "pos" in request.query_params:
            view = requested_view(request, _ANY_POSITION, set(VIEW) - {"moves"})
            check_legal(view.start)
            picture = draw(view.position, view.look)
    what, hint = localise_error(str(body["error"]), str(body["hint"]), view.language)
    notes = [hint, view.text("error_report")] if answer.status == 500 else [hint]
    if picture:
        back = link(
            view.href(mode="read", chosen=None, heat_square=None), view.text("board"), "button"
        )
    else:
        back = page_link("/", view, view.text("back_to_board"), "button")
    verdict = (
        f'<div class="notice problem" role="alert"><h1>{escape(what)}</h1>'
        f"{''.join(f'<p>{escape(note)}</p>' for note in notes if note)}</div><p>{more} {back}</p>"
    )
    address = View.href if picture else partial(with_settings, "/endgames")
    css = "workspace" if picture else ""
    shown = board_page(view, what, verdict, picture, css=css, address=address, status=answer.status)
    return replace(shown, headers=answer.headers)


async def _not_found(request: Request, error: Exception) -> Response:
    return _error_response(
        request, RequestError(404, "there is no such page", "go back to the board")
    )


async def _internal_error(request: Request, error: Exception) -> Response:
    """Answer 500 for an unexpected error, whose traceback goes to the log.

    Adds the security headers, since this handler runs outside of `RequestLimits`.
    """
    answer = _error_response(request, INTERNAL)
    answer.headers.update(SECURITY_HEADERS)
    return answer


def _error_response(request: Request, error: RequestError) -> Response:
    """Return an error as HTML page if the request accepts HTML, else as JSON."""
    answer = failure(error)
    if "text/html" in request.headers.get("accept", ""):
        answer = _error_page(request, answer)
    return answer.response()

"""Building tables from pages: permission, endpoints, progress.

    GET  /enter/KEY        sets the cookie; the terminal of the server shows KEY
    POST /build            cookie, token of the page, own Origin and Host   ->  BuildService.start
    POST /build/cancel     likewise                                         ->  BuildService.cancel
    GET  /build/events     progress as server-sent events, until the end

The board does not build: the caller of `create_app` passes in a `BuildService`. The two POST
requests are the only ones that change anything on the server. They are refused if visitors may not
build (`BuildService.limits` is None), or if a proxy has forwarded them.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from html import escape
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from tbgen.board.knowledge.builds import (
    BuildProgress,
    BuildService,
    Stage,
    closure_bound,
    may_build,
)
from tbgen.board.knowledge.store import Facts, TableStore
from tbgen.board.language.i18n import text
from tbgen.board.language.words import material_name, time_in_words
from tbgen.board.web.http import EVENTS, Answer, RequestError, Stream, body_of, failure
from tbgen.board.web.layout import copy_button, hidden_fields, link, wide_page, with_settings
from tbgen.board.web.middleware import is_forwarded
from tbgen.board.web.verdict import MOST_NAMED, can_be_built
from tbgen.board.web.view import View, preferred_language
from tbgen.indexing import InputError, Material
from tbgen.system.units import format_bytes
from tbgen.tables import MissingTableError

POST_PATHS = frozenset({"/build", "/build/cancel"})
"""Paths that accept POST where visitors may build."""

MAX_STREAMS = 32
"""Maximum number of pages that watch a build at once; others are answered 503."""

POLL_SECONDS = 0.3
"""Seconds between progress events."""

TOO_LARGE_BYTES = 1 << 40
"""Memory of a build in bytes above which a table is called too large."""

TOO_MANY = 400
"""Greatest `closure_bound` of a table that pages offer to build; others are called too large."""

NOT_STORED = {"cache-control": "no-store"}

TOKEN = secrets.token_urlsafe(24)
"""Secret of this process, sent with every form for builds: proves that the form comes from a page
that this server made (protection against forged requests of other sites).
"""

KEY = secrets.token_urlsafe(24)
"""Secret of this process; a browser whose cookie has it may start and cancel builds. No page
contains it, because other users of the machine can read pages.
"""

ENTRY = f"/enter/{KEY}"
"""Path with the secret `KEY`; a browser that opens it may then build tables."""


class BuildEndpoints:
    """Endpoints of one application for builds: permission (`enter`), start, cancelling, progress.

    `routes` has their Starlette routes.

    workshop : runs the builds; closing : returns whether the server is shutting down
    on_error : turns a JSON error into a page
    """

    def __init__(
        self,
        workshop: BuildService,
        closing: Callable[[], bool],
        on_error: Callable[[Request, Answer], Answer],
    ) -> None:
        self._workshop = workshop
        self._closing = closing
        self._on_error = on_error
        self._streams = 0
        cancel = partial(self._change, lambda form: workshop.cancel())
        self.routes = [
            Route("/enter/{key}", self.enter),
            Route("/build", partial(self._change, self._start), methods=["POST"]),
            Route("/build/cancel", cancel, methods=["POST"]),
            Route("/build/events", self.events),
        ]

    async def enter(self, request: Request) -> Response:
        """Set the cookie and redirect to the board if the path has `KEY`, else answer 403."""
        if not _is_equal(request.path_params["key"], KEY):
            return self._refuse(request, _not_permitted())
        answer = RedirectResponse("/", 303, NOT_STORED)
        answer.set_cookie(_cookie(request), KEY, path="/build", httponly=True, samesite="strict")
        return answer

    async def events(self, request: Request) -> Response:
        """Stream events of the build until it ends, or the server shuts down.

        An event is a JSON object: `share` (the part done, 0 to 1), `said` (the progress in words)
        and `ended` (true if no build is running). Streams beyond `MAX_STREAMS` are answered 503.
        """
        if self._streams >= MAX_STREAMS:
            busy = RequestError(503, "the server is busy", "try again in a moment")
            return failure(busy).response(NOT_STORED)
        language = preferred_language(request.query_params.get("lang", ""))
        self._streams += 1
        events = self._events(language)
        return Stream(self._ended, events, headers=NOT_STORED, media_type=EVENTS)

    def _ended(self) -> None:
        self._streams -= 1

    async def _events(self, language: str) -> AsyncIterator[str]:
        goes_on = True
        while goes_on and not self._closing():
            progress = self._workshop.progress()
            goes_on = progress is not None and progress.goes_on
            event = {
                "share": 0 if progress is None else round(progress.share, 3),
                "said": "" if progress is None else progress_in_words(progress, language),
                "ended": not goes_on,
            }
            yield f"data: {json.dumps(event, ensure_ascii=False)}\n\n"
            if goes_on:
                await asyncio.sleep(POLL_SECONDS)

    async def _change(
        self, change: Callable[[Mapping[str, str]], None], request: Request
    ) -> Response:
        """Call `change` with the fields of a permitted form; redirect to the path in field `back`.

        If `back` is no path of this server, redirect to `/`. Without permission, if the form does
        not arrive, or if `change` raises `InputError` or `RequestError`, return an error page.
        """
        try:
            if is_forwarded(request.scope["headers"]):
                hint = "ask by this machine's own address, without a proxy"
                raise RequestError(403, "only this machine itself may have tables built", hint)
            if request.headers.get("origin") != f"http://{request.headers.get('host')}":
                raise RequestError(403, "this was asked from elsewhere", "use the board's own page")
            if not _is_equal(request.cookies.get(_cookie(request), ""), KEY):
                raise _not_permitted()
            fields = parse_qs((await body_of(request)).decode("utf-8", "replace"))
            form = {name: values[0] for name, values in fields.items()}
            if not _is_equal(form.get("token", ""), TOKEN):
                raise RequestError(403, "this page is out of date", "load it again")
            await asyncio.to_thread(change, form)
        except (InputError, RequestError) as error:
            return self._refuse(request, error)
        back = form.get("back", "/")
        own = back.isprintable() and re.fullmatch(r"/(?!/)[^\\]*", back)
        return RedirectResponse(back if own else "/", 303)

    def _refuse(self, request: Request, error: Exception) -> Response:
        return self._on_error(request, failure(error)).response(NOT_STORED)

    def _start(self, form: Mapping[str, str]) -> None:
        workshop = self._workshop
        materials = workshop.starters.get(form.get("set", ""))
        if materials is None:
            materials = [Material.parse(form.get("material", ""))]
        cost = workshop.cost(materials)
        if cost is None:
            hint = "choose an endgame of fewer pieces"
            raise RequestError(400, "this cannot be built here", hint)
        if not may_build(workshop, cost):
            problem = "this build is beyond the limits of this server"
            raise RequestError(403, problem, "build it with tbgen build")
        if not workshop.start(materials):
            raise RequestError(409, "a build is running", "wait for its end, or cancel it")


def _is_equal(text: str, secret: str) -> bool:
    return secrets.compare_digest(text.encode(), secret.encode())


def _cookie(request: Request) -> str:
    """Return the name of the cookie for `KEY`, with the port, as a host's ports share cookies."""
    return f"tbgen-build-{request.url.port or 80}"


def _not_permitted() -> RequestError:
    problem = "only who has started this server may have tables built"
    return RequestError(403, problem, "open the address that its terminal shows")


def missing_card(store: TableStore, facts: Facts, view: View) -> str:
    """Return the section `_material_card`, as HTML, for a position whose table is missing."""
    material, back = facts.position.material, view.href(chosen=None)
    note = f'<p class="under">{view.message("missing_captures")}</p>'
    return _material_card(store, material, view, back, note, can_be_built(facts))


def missing_page(store: TableStore, view: View, material: Material) -> Answer:
    """Return the page (status 404) of an endgame without a table: the section `_material_card`."""
    path = f"/endgames/{material}"
    title = f"{material}: {view.text('no_verdict')}"
    card = _material_card(store, material, view, with_settings(path, view))
    return wide_page(view, title, card, path, heading=escape(_name(material, view)), status=404)


def _name(material: Material, view: View) -> str:
    """Return the name of an endgame in words and letters; a large one only in letters."""
    if material.men > MOST_NAMED:
        return material.name
    return view.aside(material_name(material, view.language), material)


def _material_card(
    store: TableStore, material: Material, view: View, back: str, note: str = "",
    can_exist: bool = True,
) -> str:  # fmt: skip
    """Return a section on the tables that a material needs, as HTML, with `_offer` or progress.

    If the table is too large, or the format has none (`can_exist`), it is only a sentence.

    back : address to return to after the build; note : HTML at the end of the section
    """
    few = can_exist and closure_bound(material) <= TOO_MANY
    cost = store.cost([material]) if few else None
    if not few or (cost and cost.memory_bytes > TOO_LARGE_BYTES):
        said = view.message("missing_never", name=_name(material, view))
        return f'<section class="card missing"><p>{said}</p></section>'
    needed = set(material.closure())
    key = "missing_card" if len(needed) > 1 else "missing_card_one"
    here = len(needed.intersection(store.materials()))
    said = view.message(key, name=_name(material, view), n=len(needed), here=here)
    going = running_build(store)
    if going is not None and needed.intersection(going.wanted):
        how = _progress_card(store, going, view, back)
    else:
        asked = {"material": material.name}
        how = _failure_note(store, material, view) + _offer(store, [material], asked, view, back)
    return f'<section class="card missing"><p>{said}</p>{how}{note}</section>'


def starter_cards(store: TableStore, view: View, back: str) -> str:
    """Return sections that offer sets of endgames to build first, or progress of the running build.

    Sets whose tables are all present are left out; if no set remains, a sentence says so. Empty
    without a `BuildService`. `back` is the address to return to after the build.
    """
    workshop = store.workshop
    if workshop is None:
        return ""
    going = running_build(store)
    if going is not None:
        return f'<section class="card">{_progress_card(store, going, view, back)}</section>'
    cards, failed = "", _failure_note(store, None, view)
    for key, materials in workshop.starters.items():
        if not set(store.materials()).issuperset(materials):
            offer = _offer(store, materials, {"set": key}, view, back)
            heading = view.message(f"start_{key}")
            cards += f'<section class="card"><h2>{heading}</h2>{offer}</section>'
    if not cards:
        return f"{failed}<p>{view.message('start_done')}</p>"
    return f"<p>{view.message('starters')}</p>{failed}{cards}"


def _progress_card(store: TableStore, progress: BuildProgress, view: View, back: str) -> str:
    """Return the build's progress as HTML; the script updates it, and reloads the page at the end.

    It has a button that cancels the build if visitors may build. `back` is the page's address.
    """
    stop = ""
    if store.workshop is not None and store.workshop.limits is not None:
        stop = _form("/build/cancel", {}, view.text("build_cancel"), back)
    again = link(back, view.text("build_look"), "button small")
    return (
        f'<div class="building" data-events="/build/events?lang={view.language}">'
        f'<progress max="1" value="{progress.share:.3f}" '
        f'aria-label="{view.message("build_goes")}"></progress>'
        f'<p class="said" role="status">{escape(progress_in_words(progress, view.language))}</p>'
        f"{stop}<noscript>{again}</noscript></div>"
    )


def progress_in_words(progress: BuildProgress, language: str) -> str:
    """Format progress: `Tables: 7 of 15, now KRKN; 12 s so far`."""
    said = text(language, "build_done", done=progress.done, total=progress.total)
    if progress.running:
        names = text(language, "names_stop").join(progress.running)
        key = "build_compared" if progress.compares else "build_now"
        said += text(language, key, names=names)
    time = time_in_words(progress.seconds, language)
    return said + text(language, "build_time_so_far", time=time)


def build_state(store: TableStore) -> str:
    """Return a text for ETags: the build's state, and `TOKEN`, which is in forms of pages."""
    progress = store.build_progress
    if progress is None:
        return TOKEN
    return f"{TOKEN} {progress.stage} {progress.wanted} {progress.done} {int(progress.seconds)}"


def build_page(store: TableStore, view: View) -> Answer:
    """Return the page of the running build, or else of the sets to build first."""
    parts = starter_cards(store, view, with_settings("/build", view))
    return wide_page(view, view.text("build_title"), parts, "/build")


def running_build(store: TableStore) -> BuildProgress | None:
    """Return the progress of the running build, or None."""
    progress = store.build_progress
    return progress if progress is not None and progress.goes_on else None


def _failure_note(store: TableStore, material: Material | None, view: View) -> str:
    """Return an HTML notice if the last build (of `material`, if any) failed or was cancelled."""
    progress = store.build_progress
    if progress is None or progress.stage not in (Stage.CANCELLED, Stage.FAILED):
        return ""
    if material is not None and material not in progress.wanted:
        return ""
    problem = f" <code>{escape(progress.problem)}</code>" if progress.problem else ""
    said = view.message(f"build_{progress.stage}")
    return f'<p class="notice problem">{said}{problem}</p>'


def _offer(
    store: TableStore, materials: Sequence[Material], asked: dict[str, str], view: View, back: str
) -> str:
    """Return the cost of building some materials, if known, and a button or command, as HTML.

    The button is only for visitors on this machine, if the build is within the limits of the
    `BuildService`. Its form has the fields `asked`, which name `materials`, and leads to `back`.
    """
    workshop, cost = store.workshop, store.cost(materials)
    takes = ""
    if cost is not None:
        time = time_in_words(max(1.0, cost.seconds), view.language)
        memory, disk = format_bytes(cost.memory_bytes), format_bytes(cost.disk_bytes)
        takes = f"<p>{view.message('missing_cost', time=time, memory=memory, disk=disk)}</p>"
    if view.local and workshop is not None and cost is not None and may_build(workshop, cost):
        return takes + _form("/build", asked, view.text("build_it"), back, "suggested")
    if workshop is not None and workshop.limits is not None:
        takes += f"<p>{view.message('build_beyond')}</p>"
    names = " ".join(material.name for material in materials)
    command = MissingTableError(names, store.tables.rule_set).command
    shell = f"{command}{store.tables_option if view.local else ''}"
    return (
        f"{takes}<p>{view.message('missing_how')}</p>"
        f'<p class="command"><code>{escape(shell)}</code> {copy_button(shell, view)}</p>'
    )


def _form(path: str, fields: dict[str, str], label: str, back: str, css: str = "") -> str:
    hidden = hidden_fields({**fields, "token": TOKEN, "back": back})
    return (
        f'<form class="build" action="{path}" method="post">{hidden}'
        f'<button type="submit" class="button {css}">{escape(label)}</button></form>'
    )

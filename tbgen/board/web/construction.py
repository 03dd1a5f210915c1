"""Building tables from the board: who may ask for it, how it goes, and who does it.

    GET  /enter/KEY        a cookie for the browser of whoever reads the terminal of the server
    POST /build            cookie, the page's token, Origin and Host our own   ->  Workshop.start
    POST /build/cancel     the same                                            ->  Workshop.cancel
    GET  /build/events     how it goes, as server-sent events, to its end

The board builds nothing and knows nobody who does: whoever serves it brings a `Workshop`. These
are the only requests that change anything, and only a server that says so takes them; what a page
shows of all this is in `starting`.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from tbgen.board.knowledge.workshop import Progress, Workshop, may_build
from tbgen.board.web.http import Answer, RequestError, failure
from tbgen.indexing import InputError, Material

PATHS = frozenset({"/build", "/build/cancel"})
"""The addresses that take a POST."""

MAX_STREAMS = 32
"""Pages that watch a build at once; others are answered 503, and can be loaded again."""

LOOK_SECONDS = 0.3
"""How often those who watch are told."""

BODY_SECONDS = 5
"""How long a form may take to arrive."""

TOKEN = secrets.token_urlsafe(24)
"""Of this process: a page that brings it was made by it."""

KEY = secrets.token_urlsafe(24)
"""Of this process: other users of the machine, who can read its pages, cannot read this."""

ENTRY = f"/enter/{KEY}"
"""The address that lets a browser have tables built."""


class Construction:
    """The endpoints that build, of one application.

    closing : whether the server is about to end
    said : progress in a language, for people
    on_error : dresses an error up as a page
    """

    def __init__(
        self,
        workshop: Workshop,
        closing: Callable[[], bool],
        said: Callable[[Progress, str], str],
        on_error: Callable[[Request, Answer], Answer],
    ) -> None:
        self._workshop = workshop
        self._closing = closing
        self._said = said
        self._on_error = on_error
        self._streams = 0

    async def enter(self, request: Request) -> Response:
        """Give a browser that has the key a cookie, and show it the board."""
        if not _is_key(request.path_params["key"]):
            return _plain(self._on_error(request, failure(_stranger())))
        answer = RedirectResponse("/", 303, {"cache-control": "no-store"})
        answer.set_cookie(_cookie(request), KEY, path="/build", httponly=True, samesite="strict")
        return answer

    async def start(self, request: Request) -> Response:
        """Begin a build, and go back to the page that asked for it."""
        return await self._change(request, self._start)

    async def cancel(self, request: Request) -> Response:
        """End the build."""
        return await self._change(request, lambda form: self._workshop.cancel())

    async def events(self, request: Request) -> Response:
        """Events of the build until it has ended: `share`, `said`, and `ended`."""
        if self._streams >= MAX_STREAMS:
            return _plain(failure(RequestError(503, "the server is busy", "try again in a moment")))
        language = request.query_params.get("lang", "en")
        headers = {"cache-control": "no-store"}
        return StreamingResponse(
            self._stream(language), headers=headers, media_type="text/event-stream"
        )

    async def _stream(self, language: str) -> AsyncIterator[str]:
        self._streams += 1
        try:
            goes_on = True
            while goes_on and not self._closing():
                progress = self._workshop.progress()
                goes_on = progress is not None and progress.goes_on
                event = {
                    "share": 0 if progress is None else round(progress.share, 3),
                    "said": "" if progress is None else self._said(progress, language),
                    "ended": not goes_on,
                }
                yield f"data: {json.dumps(event, ensure_ascii=False)}\n\n"
                if goes_on:
                    await asyncio.sleep(LOOK_SECONDS)
        finally:
            self._streams -= 1

    async def _change(
        self, request: Request, change: Callable[[Mapping[str, str]], None]
    ) -> Response:
        """Do what a form asks for, if it may, and go back to where it stood."""
        try:
            if request.headers.get("origin") != f"http://{request.headers.get('host')}":
                raise RequestError(403, "this was asked from elsewhere", "use the board's own page")
            if not _is_key(request.cookies.get(_cookie(request), "")):
                raise _stranger()
            body = await asyncio.wait_for(request.body(), BODY_SECONDS)
            fields = parse_qs(body.decode("utf-8", "replace"))
            form = {name: values[0] for name, values in fields.items()}
            if not secrets.compare_digest(form.get("token", "").encode(), TOKEN.encode()):
                raise RequestError(403, "this page is out of date", "load it again")
            await asyncio.to_thread(change, form)
        except TimeoutError:
            slow = RequestError(408, "the request does not arrive", "try again in a moment")
            return _plain(self._on_error(request, failure(slow)))
        except (InputError, RequestError) as error:
            return _plain(self._on_error(request, failure(error)))
        return RedirectResponse(_own_address(form.get("back", "/")), 303)

    def _start(self, form: Mapping[str, str]) -> None:
        workshop = self._workshop
        asked = workshop.starters.get(form.get("set", ""))
        materials = [Material.parse(form.get("material", ""))] if asked is None else list(asked)
        cost = workshop.cost(materials)
        if cost is None:
            raise RequestError(
                400, "this cannot be built here", "choose an endgame of fewer pieces"
            )
        if not may_build(workshop, cost):
            raise RequestError(
                403, "this build is beyond the limits of this server", "build it with tbgen build"
            )
        if not workshop.start(materials):
            raise RequestError(409, "a build is running", "wait for its end, or cancel it")


def _is_key(text: str) -> bool:
    return secrets.compare_digest(text.encode(), KEY.encode())


def _cookie(request: Request) -> str:
    """The name of the cookie; browsers give those of a machine to all its ports."""
    return f"tbgen-build-{request.url.port or 80}"


def _stranger() -> RequestError:
    return RequestError(
        403, "only who has started this server may have tables built",
        "open the address that its terminal shows",
    )  # fmt: skip


def _own_address(back: str) -> str:
    """An address of this server; the board where something else is given."""
    plain = back.isprintable() and "\\" not in back
    return back if plain and back.startswith("/") and not back.startswith("//") else "/"


def _plain(answer: Answer) -> Response:
    headers = {"cache-control": "no-store", **(answer.headers or {})}
    return Response(answer.content(), answer.status, headers, media_type=answer.media_type)

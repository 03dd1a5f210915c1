"""Search processes, so that pages do not wait for searches.

    request  ->  a free process with the same tables  ->  endpoint there  ->  answer

Search processes run at a lower priority than the server and end with it. A search ends when its
client disconnects. The first process compiles the search kernels as soon as there are tables.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import time
import traceback
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import LifoQueue
from threading import Event
from typing import Any

from starlette.requests import Request

from tbgen.board.knowledge.search import can_search_studies
from tbgen.board.knowledge.store import TableStore
from tbgen.board.web.api import Api
from tbgen.board.web.http import INTERNAL, SEARCHERS, AbandonedError, Answer, RequestError, failure
from tbgen.board.web.pages import Pages
from tbgen.finding.query import FIELDS
from tbgen.system.platform import lower_priority, safe_path
from tbgen.tables import TablebaseError

POLL_SECONDS = 0.05
"""Seconds between checks that the client of a waiting search is still there."""

COMPILE_SECONDS = 60.0
"""Most seconds that a search waits for the compilation of the kernels: less than
`http.SEARCH_SECONDS`, so that it is refused with a hint before its request times out.
"""

NICE = 10
"""Increment of the niceness of search processes."""

_COMPILING_QUERIES = b"outcome=win&only=1&limit=1", b"outcome=win&study=1&limit=1"
"""Queries that together compile all search kernels, the common ones first."""

SPAWN = multiprocessing.get_context("spawn")
"""Multiprocessing context of search processes; a fork does not copy the server's threads safely."""


class SearchProcess:
    """Process that answers requests, one at a time."""

    def __init__(self) -> None:
        self._connection, theirs = SPAWN.Pipe()
        self._process: BaseProcess = SPAWN.Process(target=_answer_all, args=(theirs,), daemon=True)
        with safe_path():
            self._process.start()
        theirs.close()
        self._known = ""
        self._pending = False

    def ask(
        self, name: str, asked: Mapping[str, Any], store: TableStore, go_on: Callable[[], None]
    ) -> Any:
        """Run an endpoint in the process, and return its `Answer`, which may report an error.

        If `go_on` raises, the request is cancelled, and the error raised again. Raises `EOFError`
        or `OSError` if the process has ended.

        name : name of the endpoint: "page", "json" or "puzzle"; asked : ASGI scope of the request
        store : store of the server; its tables are sent to the process only if they have changed
        go_on : called repeatedly; raises `AbandonedError` once the answer is no longer needed
        """
        if self._pending:  # discard the answer to an abandoned request
            self._receive(go_on)
        known = store.fingerprint
        self._connection.send((name, asked, None if known == self._known else store.tables))
        self._known, self._pending = known, True
        try:
            return self._receive(go_on)
        except AbandonedError:
            self._connection.send(None)
            raise

    def _receive(self, go_on: Callable[[], None]) -> Any:
        while not self._connection.poll(POLL_SECONDS):
            go_on()
        answer = self._connection.recv()
        self._pending = False
        return answer

    def end(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.terminate()


class SearchProcesses:
    """Pool of at most `SEARCHERS` search processes, started on demand."""

    def __init__(self, store: TableStore) -> None:
        self._store = store
        self._free: LifoQueue[SearchProcess | None] = LifoQueue()
        self._compiled = Event()
        self._compiled.set()
        for _ in range(SEARCHERS):
            self._free.put(None)

    def compile(self) -> None:
        """Compile the search kernels before the first request, by searching a small table.

        Searches of visitors wait until the first of `_COMPILING_QUERIES` has compiled the common
        kernels.
        """
        for material in self._store.materials():
            with contextlib.suppress(TablebaseError, OSError):
                if can_search_studies(self._store, material):
                    break
        else:
            return
        asked = {"type": "http", "headers": [], "path_params": {"material": material.name}}
        self._compiled.clear()
        try:
            # If only one process may run, searches would wait for the other kernels: skip these.
            for query in _COMPILING_QUERIES[:SEARCHERS]:
                self._ask("json", Request(asked | {"query_string": query}))
                self._compiled.set()
        except RequestError:
            return  # the search failed; if its process has ended, the next search starts another
        finally:
            self._compiled.set()

    def endpoint(self, name: str) -> Callable[[Request], Answer]:
        """Return an endpoint that a search process answers; `name` is "page", "json" or "puzzle".

        A search waits, at most `COMPILE_SECONDS`, while a process compiles the same kernels.
        """

        def answer(request: Request) -> Answer:
            is_search = name == "puzzle" or not request.query_params.keys().isdisjoint(FIELDS)
            until = time.monotonic() + COMPILE_SECONDS
            while is_search and not self._compiled.wait(POLL_SECONDS):
                self._store.tables.checkpoint()
                if time.monotonic() > until:
                    problem = "the program of the search is still being compiled"
                    raise RequestError(503, problem, "try again in a minute")
            return self._ask(name, request)

        return answer

    def _ask(self, name: str, request: Request) -> Answer:
        """Return the answer of a process to a request, once one is free; raise a reported error.

        Also raises `RequestError` if the process has ended, and like `SearchProcess.ask`.
        """
        kept = (
            "type", "method", "path", "root_path", "query_string", "headers", "scheme", "server",
        )  # fmt: skip
        asked = {key: request.scope[key] for key in kept if key in request.scope}
        asked["path_params"] = dict(request.path_params)
        searcher = self._free.get()
        try:
            searcher = searcher or SearchProcess()
            answer = searcher.ask(name, asked, self._store, self._store.tables.checkpoint)
        except (EOFError, OSError) as error:
            if searcher is not None:
                searcher.end()
                searcher = None
            raise RequestError(503, "the search has been ended", "try again") from error
        finally:
            self._free.put(searcher)
        assert isinstance(answer, Answer)
        if answer.status >= 400:
            assert isinstance(answer.body, Mapping)
            raise RequestError(answer.status, answer.body["error"], answer.body["hint"])
        return answer


def _answer_all(connection: Connection) -> None:
    """Answer requests in a search process until the server has ended.

    A request is (name of the endpoint, ASGI scope, tables or None if unchanged). The message None
    cancels the request in progress: its answer is then None, unless one has already been sent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles it and ends this process
    lower_priority(NICE)
    endpoints: dict[str, Callable[[Request], Answer]] = {}

    def go_on() -> None:
        if connection.poll():
            raise AbandonedError

    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            return
        if message is None:  # cancellation, seen by `go_on` or too late
            continue
        name, asked, tables = message
        if tables is not None:
            tables.checkpoint = go_on
            store = TableStore(tables)
            pages = Pages(store)
            endpoints = {
                "page": pages.search, "puzzle": pages.puzzle, "json": Api(store).search,
            }  # fmt: skip
        try:
            answer = endpoints[name](Request(asked))
        except AbandonedError:
            answer = None
        except Exception as error:
            try:
                answer = failure(error)
            except Exception:  # unexpected
                traceback.print_exc()
                answer = failure(INTERNAL)
        try:
            connection.send(answer)
        except OSError:
            return

"""Server of the board: the application of `routes` on uvicorn, with a timeout for request heads."""

from __future__ import annotations

import asyncio
import signal
from copy import deepcopy
from socket import socket
from sys import getswitchinterval, setswitchinterval
from threading import Thread
from types import FrameType
from typing import Any

from starlette.applications import Starlette
from uvicorn import Config, Server
from uvicorn.config import LOGGING_CONFIG
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 5
"""Seconds in which the head of a request must arrive."""

MAX_CONNECTIONS = 512
"""Number of open connections at which requests are answered 503."""

_LOG: dict[str, Any] = deepcopy(LOGGING_CONFIG)
"""uvicorn's logging configuration, with the time in front of each line, and without colours.

Requests are logged to standard error, too. If that fails, so does `logging` in reporting it.
"""
_LOG["handlers"]["access"]["stream"] = "ext://sys.stderr"
for _formatter in _LOG["formatters"].values():
    _formatter["fmt"] = f"%(asctime)s {_formatter['fmt']}"
    _formatter["datefmt"] = "%Y-%m-%dT%H:%M:%S%z"
    _formatter["use_colors"] = False

TURN_SECONDS = 0.0005
"""Thread switch interval in seconds: Python's default of 5 ms would slow down short answers."""


class HeaderTimeoutProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol with a timeout for request heads.

    uvicorn waits without limit for the rest of a head. Here the connection is closed if no complete
    head has arrived `HEADER_SECONDS` after the connection was made, or after the first byte of a
    later request.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the timer of the first request on a new connection."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Receive bytes, and run the timer unless a request is being answered."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._deadline is None:
            self._wait()

    def on_response_complete(self) -> None:
        """Stop the timer after an answer, when uvicorn's keep-alive timer starts."""
        self._stop_waiting()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer, because the connection is closed."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class BoardServer(Server):
    """uvicorn server that abandons unfinished requests before it shuts down.

    app : application made by `routes.create_app`
    host, port : address to listen on, unless `run` is given sockets; log : whether to log requests
    """

    def __init__(self, app: Starlette, host: str, port: int, *, log: bool = False) -> None:
        self._state = app.state
        config = Config(
            app,
            host=host,
            port=port,
            http=HeaderTimeoutProtocol,
            ws="none",
            lifespan="off",
            log_level="info" if log else "warning",
            access_log=log,
            log_config=_LOG,
            proxy_headers=False,  # `middleware` reads them
            server_header=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=3,
        )
        super().__init__(config)

    def run(self, sockets: list[socket] | None = None) -> None:
        """Run `state.prepare` of the application in a thread, and serve until a signal.

        Meanwhile Python's thread switch interval is `TURN_SECONDS`.
        """
        before = getswitchinterval()
        setswitchinterval(TURN_SECONDS)
        Thread(target=self._state.prepare, daemon=True).start()
        try:
            super().run(sockets)
        finally:
            setswitchinterval(before)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down on a signal."""
        if sig == signal.SIGTERM:  # the regular end of a service: not raised again afterwards
            self.should_exit = True
        else:
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Shut down at once, without waiting for long answers; extends uvicorn's method."""
        self._state.runner.close()
        await super().shutdown(sockets)

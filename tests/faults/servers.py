"""The server under malicious clients, and their effect on other clients.

    abuse     slow heads, half requests, garbage, too many connections: the server stays healthy,
              and memory and descriptors are released
    heavy     light requests beside eight clients that send heavy ones without a pause. A heavy
              request has the longest game that the server accepts. It asks for the page, the page
              to play on, the verdict or the animation
    flat      many light requests: memory at the end against memory after the first 4000

Seconds depend on the machine and its load. The goal of `heavy` is a p95 below 100 ms.

    python -m tests.faults.servers --only flat --count 100000
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from tbgen.board.web.middleware import MAX_QUERY
from tbgen.board.web.view import MAX_MOVES
from tbgen.indexing import Position
from tests.board.test_http import ARRAY, taken_back
from tests.faults.campaign import MIB, OK, Budget, Tally, main, run, tbgen
from tests.helpers.board_server import resident_bytes

HEAVY_CLIENTS = 8
LIGHT_P95_MS = 100.0
MOST_GROWN = 16 * MIB
LIGHT_RATE = 50.0
"""Light requests a second beside heavy ones."""

_WAIT = 30.0


class Server:
    """`tbgen serve` in a process of its own, with three tables that are built first."""

    def __init__(self, tables: Path) -> None:
        where = ("--rules", "wxf", "--tables", tables)
        built = run(tbgen("build", "KRKN", *where))
        if built.status != OK:
            sys.exit(f"nothing to serve: {built.stderr}")
        command = tbgen("serve", *where, "--port", "0", "--no-open", "--json")
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it is read
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._log)
        assert self._process.stdout is not None
        self.port = int(json.loads(self._process.stdout.readline())["url"].rsplit(":", 1)[1][:-1])

    @property
    def memory(self) -> int:
        """Resident memory of the server in bytes."""
        return resident_bytes(self._process.pid)

    @property
    def descriptors(self) -> int:
        """Number of open files and connections of the server."""
        return len(os.listdir(f"/proc/{self._process.pid}/fd"))

    def stop(self) -> tuple[int, str]:
        """Stop the server; return its exit status and what it wrote to standard error."""
        self._process.terminate()
        status = self._process.wait(_WAIT)
        with self._log as log:
            log.seek(0)
            return status, log.read().decode("utf-8", "replace")


@contextlib.contextmanager
def serving(tally: Tally) -> Iterator[Server]:
    """Yield a server; check afterwards that SIGTERM ends it properly, and that its log is clean."""
    with tempfile.TemporaryDirectory(prefix="tbgen-servers-") as folder:
        server = Server(Path(folder))
        try:
            yield server
        finally:
            status, said = server.stop()
        tally.expect(status == OK, f"the server ends with status {status}")
        at = said.find("Traceback")
        tally.expect(at < 0, f"the server's log: {said[at : at + 2000]}")


async def ask(server: Server, paths: list[str]) -> list[tuple[int, float]]:
    """Send requests in sequence on one connection; return the status and the seconds of each."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    answers = []
    for path in paths:
        begun = time.perf_counter()
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _WAIT)
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await asyncio.wait_for(reader.readexactly(length), _WAIT)
        answers.append((int(head.split()[1]), time.perf_counter() - begun))
    writer.close()
    return answers


def light_paths(rng: random.Random, count: int) -> list[str]:
    """Return paths of cheap requests: random probes (some illegal), a static file, health."""
    found = []
    for _ in range(count):
        rank = rng.randrange(1, 9)
        fen = f"3k5/{rank}R{8 - rank}/9/9/9/9/9/9/9/{rng.choice(('4', '5'))}K{rng.choice('43')} w"
        found.append(rng.choice((f"/v1/probe?fen={quote(fen)}", "/healthz", "/static/board.js")))
    return found


def heaviest_path(number: int) -> str:
    """Return the path and query of a request with the longest game that the server accepts.

    In the game, both sides make moves and take them back.

    number : different numbers give different requests, of four kinds in turn
    """
    position = Position.from_fen(ARRAY)
    moves = ",".join(move.iccs for move in taken_back(position, MAX_MOVES))
    game = f"fen={quote(f'{ARRAY} - - 0 {number + 1}')}&moves={moves}"
    paths = (f"/?{game}", f"/?{game}&mode=play", f"/v1/judge?{game}", f"/v1/animation.svg?{game}")
    path = paths[number % len(paths)]
    assert len(path) <= MAX_QUERY, "the heaviest request is refused"
    return path


def heavy(tally: Tally, budget: Budget, seed: int) -> None:
    """Send light requests beside heavy ones; check the 95th percentile of the light ones' times."""
    with serving(tally) as server:
        asyncio.run(_beside(tally, budget, server, random.Random(seed)))


async def _beside(tally: Tally, budget: Budget, server: Server, rng: random.Random) -> None:
    done = asyncio.Event()

    async def crowd(number: int, path: str) -> None:
        while not done.is_set():
            begun = time.monotonic()
            try:
                ((status, _),) = await ask(server, [path])
            except (OSError, EOFError) as error:
                after = time.monotonic() - begun
                tally.finding(f"a heavy request of kind {number}, {after:.1f} s: {error!r}")
                continue
            tally.count(f"heavy requests answered {status}")
            tally.expect(status in (200, 503), f"a heavy request: {status}")

    alone = [seconds for _, seconds in await ask(server, light_paths(rng, 100))]
    # Computed before, so that it does not delay the measured requests.
    heaviest = [heaviest_path(number) for number in range(HEAVY_CLIENTS)]
    clients = [asyncio.create_task(crowd(*asked)) for asked in enumerate(heaviest)]
    await asyncio.sleep(1)
    took = []
    while budget.take():
        ((status, seconds),) = await ask(server, light_paths(rng, 1))
        tally.count("light requests")
        tally.expect(status in (200, 400), f"a light request: {status}")
        took.append(seconds)
        await asyncio.sleep(max(0.0, 1 / LIGHT_RATE - seconds))
    done.set()
    await asyncio.gather(*clients)
    if not took:
        return
    tally.largest("light_p95_ms_alone", _p95_ms(alone))
    tally.largest("light_p95_ms", _p95_ms(took))
    tally.expect(_p95_ms(took) < LIGHT_P95_MS, f"light requests: p95 {_p95_ms(took):.0f} ms")


def _p95_ms(seconds: list[float]) -> float:
    return 1000 * sorted(seconds)[int(0.95 * len(seconds))]


def flat(tally: Tally, budget: Budget, seed: int) -> None:
    """Send many light requests on four connections at a time; the memory must not grow."""
    rng = random.Random(seed)
    with serving(tally) as server:
        first = 0
        while paths := light_paths(rng, sum(1 for _ in budget.take_up_to(4000))):
            answers = asyncio.run(_spread(server, paths))
            tally.count("requests", len(answers))
            bad = [status for status, _ in answers if status not in (200, 400)]
            tally.expect(not bad, f"light requests answered {bad[:5]}")
            first = first or server.memory
        tally.largest("mib_after_the_first", first / MIB)
        tally.largest("mib_at_the_end", server.memory / MIB)
        grown = server.memory - first
        tally.expect(grown <= MOST_GROWN, f"{grown / MIB:.0f} MiB more memory")


async def _spread(server: Server, paths: list[str]) -> list[tuple[int, float]]:
    parts = await asyncio.gather(*(ask(server, paths[start::4]) for start in range(4)))
    return [answer for part in parts for answer in part]


def abuse(tally: Tally, budget: Budget, seed: int) -> None:
    """Open waves of connections with malicious requests, and check that the server recovers."""
    rng = random.Random(seed)
    with serving(tally) as server:
        asyncio.run(ask(server, light_paths(rng, 200)))
        memory, descriptors = server.memory, server.descriptors
        while not budget.spent:
            wave = [_bad_start(rng) for _ in budget.take_up_to(rng.choice((50, 300, 700)))]
            tally.count("bad connections", len(wave))
            statuses = asyncio.run(_wave(server, wave))
            tally.expect(all(status == 200 for status in statuses), f"healthz: {statuses}")
        deadline = time.monotonic() + _WAIT
        while server.descriptors > descriptors and time.monotonic() < deadline:
            time.sleep(0.2)
        tally.expect(server.descriptors <= descriptors, "connections stay open")
        grown = server.memory - memory
        tally.largest("mib_more", grown / MIB)
        tally.expect(grown <= MOST_GROWN, f"{grown / MIB:.0f} MiB more memory")


def _bad_start(rng: random.Random) -> bytes:
    """Return the bytes that a malicious client sends before it stops.

    They are nothing, half a request, garbage, a request with an endless head or a wrong length, or
    many requests at once.
    """
    whole = f"GET {rng.choice(light_paths(rng, 3))} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    return rng.choice(
        (
            b"", whole[: rng.randrange(len(whole))], rng.randbytes(rng.randrange(1, 3000)),
            whole[:-2] + b"X: " + b"y" * rng.choice((10, 100_000)),
            whole[:-2] + b"Content-Length: 99999999\r\n\r\n" + b"z" * 1000,
            whole[:-2] + b"Transfer-Encoding: chunked\r\n\r\nffffff\r\n", whole * 20,
        )
    )  # fmt: skip


async def _wave(server: Server, wave: list[bytes]) -> list[int]:
    """Open a connection for each text of `wave`, all at once, send the text, and wait for the end.

    A connection ends when the server answers or closes it, or after 8 seconds. Returns the statuses
    of three health requests afterwards.
    """

    async def one(data: bytes) -> None:
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(data)
            with contextlib.suppress(OSError):
                await asyncio.wait_for(reader.read(1 << 20), 8)
            writer.close()

    await asyncio.gather(*(one(data) for data in wave))
    return [status for status, _ in await ask(server, ["/healthz"] * 3)]


PARTS = {"abuse": abuse, "heavy": heavy, "flat": flat}

if __name__ == "__main__":
    main("servers", __doc__, PARTS, 1000)

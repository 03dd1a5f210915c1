"""Measure `tbgen serve` on this machine: throughput, response times and sizes of pages.

    python scripts/measure/bench_serve.py --tables egtb --rate 300 --seconds 10
    python scripts/measure/bench_serve.py --tables egtb --reader
    python scripts/measure/bench_serve.py --tables egtb --searching KRNKR
    python scripts/measure/bench_serve.py --tables egtb --first KRNKR --seconds 1

By default, several clients keep connections open and send probes at a rate. `--reader` measures the
pages of one client, and light requests beside eight clients with heavy ones; `--searching` pages
beside four clients that search; `--first` the first answers after the start. Prints JSON.

Positions are random. Each measured address is requested once, so that no response comes from a
cache, except for `click_again_ms`. A click is the page of a position; a page size includes script
and style, compressed. At most `MAX_REQUESTS` positions are requested, over loopback only.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from frame import ROOT, arguments, serving
from measuring import random_positions

from tbgen.indexing import Position
from tbgen.indexing.layout import Layout
from tbgen.tables import Tablebase

MAX_REQUESTS = 60_000

GOALS_MS = {"click_ms": 50, "heat_map_ms": 100, "light_beside_heavy_ms": 100}
"""Goals for a single reader: 95th percentiles in milliseconds, on an idle machine."""

GOAL_KIB = 120
"""Goal for the size of a page with script and style, compressed, in KiB."""


def fens_of(tables: Path, count: int) -> list[str]:
    """Draw FENs of `count` different legal positions from the six tables with the most men.

    Exits if twice as many draws do not give so many.
    """
    with Tablebase.open(tables) as opened:
        layouts = [Layout.of(name.material) for name in opened.available()[-6:]]
    found: dict[str, None] = {}
    for position in islice(random_positions(layouts, random.Random(1)), 2 * count):
        found[position.fen] = None
        if len(found) == count:
            return list(found)
    raise SystemExit(f"{tables}: too small for {count} positions; build larger tables")


async def answer(reader: asyncio.StreamReader) -> tuple[bytes, int]:
    """Read an HTTP answer with its body; return the head, and the number of bytes of the body."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    await reader.readexactly(length)
    return head, length


async def client(port: int, targets: asyncio.Queue[tuple[float, str]], took: list[float]) -> int:
    """Send queued requests on one connection; return the number of answers not of status 200.

    targets : time (`perf_counter`) at which a request is due, and its path; an empty path ends the
        client
    took : gets the seconds of each request, from the time it was due
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    failures = 0
    while True:
        due, path = await targets.get()
        if not path:
            writer.close()
            return failures
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head, _ = await answer(reader)
        # Counted from the time the request was due, so a wait for a free client is included.
        took.append(time.perf_counter() - due)
        failures += not head.startswith(b"HTTP/1.1 200")


async def load(port: int, paths: list[str], rate: float, clients: int) -> tuple[list[float], int]:
    """Request each of `paths`, `rate` a second, by several clients with one connection each.

    Returns the seconds that each request took, and the number of failures.
    """
    targets: asyncio.Queue[tuple[float, str]] = asyncio.Queue()
    took: list[float] = []
    running = [asyncio.create_task(client(port, targets, took)) for _ in range(clients)]
    begun = time.perf_counter()
    for number, path in enumerate(paths):
        due = begun + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        targets.put_nowait((due, path))
    for _ in running:
        targets.put_nowait((0.0, ""))
    return took, sum(await asyncio.gather(*running))


READER_PAGES = 200
"""Number of positions that the one reader opens."""

HEAVY_CLIENTS = 8

SEARCHING_CLIENTS = 4


async def get(port: int, path: str, client: str = "127.0.0.1") -> tuple[float, int]:
    """Request a page on a new connection; return the seconds after connecting, and gzipped bytes.

    client : loopback address from which the request comes
    """
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, local_addr=(client, 0) if client != "127.0.0.1" else None
    )
    begun = time.perf_counter()
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"
    writer.write(head.encode())
    _, length = await answer(reader)
    took = time.perf_counter() - begun
    writer.close()
    return took, length


def pages_of(fens: list[str]) -> list[str]:
    """Return the URL paths of the pages of positions, given as FENs."""
    return [f"/?fen={quote('_'.join(fen.split()[:2]), safe='/_')}" for fen in fens]


async def one_reader(port: int, pid: int, fens: list[str]) -> dict[str, object]:
    """Measure a single reader: clicks, heat maps, and probes beside heavy requests of others.

    Returns figures by name; `goals_reached` maps each goal to True if it is reached.

    pid : process of the server
    fens : the positions that the reader opens
    """
    paths = pages_of(fens)
    heats = []
    for fen, path in zip(fens, paths, strict=True):
        position = Position.from_fen(fen)
        _, square = next(iter(position.pieces()))
        heats.append(f"{path}&where={'abcdefghi'[square % 9]}{square // 9}")
    await get(port, paths[0])
    cpu = cpu_seconds_of(pid)
    clicks = [await get(port, path) for path in paths]
    cpu = cpu_seconds_of(pid) - cpu
    again = [await get(port, path) for path in paths]
    maps = [await get(port, path) for path in heats]
    static = ROOT / "tbgen" / "board" / "web" / "static"
    files = [await get(port, f"/static/{file.name}") for file in sorted(static.iterdir())]
    done = asyncio.Event()

    async def crowd(number: int) -> None:
        while not done.is_set():
            await get(port, f"/v1/mainline?fen={quote(fens[number], safe='/')}&lang=en&n={number}")

    heavy = [asyncio.create_task(crowd(number)) for number in range(HEAVY_CLIENTS)]
    beside = []
    for fen in fens:
        beside.append(await get(port, f"/v1/probe?fen={quote(fen, safe='/')}&beside=1"))
    done.set()
    await asyncio.gather(*heavy)
    page = max(size for _, size in clicks) / 1024
    assets = sum(size for _, size in files) / 1024
    found = {
        "click_ms": percentiles(clicks),
        "click_cpu_ms": round(1000 * cpu / len(clicks), 1),
        "click_again_ms": percentiles(again),
        "heat_map_ms": percentiles(maps),
        "light_beside_heavy_ms": percentiles(beside),
        "page_kib": round(page, 1),
        "script_and_style_kib": round(assets, 1),
    }
    reached = {name: found[name]["p95"] <= most for name, most in GOALS_MS.items()}
    return found | {"goals_reached": reached | {"weight": page + assets <= GOAL_KIB}}


async def beside_searches(port: int, material: str, fens: list[str]) -> dict[str, object]:
    """Measure pages of positions while other clients search the table of `material` all the time.

    The pages of the first half of `fens` are requested before the searches begin; after the
    searches comes the list of endgames. Returns figures by name.
    """
    paths = pages_of(fens)
    half = len(paths) // 2
    alone = [await get(port, path) for path in paths[:half]]
    done = asyncio.Event()
    searches = 0

    async def searching(number: int) -> None:
        nonlocal searches
        while not done.is_set():
            seed = 1000 * number + searches
            await get(port, f"/search/{material}?zugzwang=1&seed={seed}", f"127.0.0.{2 + number}")
            searches += 1

    others = [asyncio.create_task(searching(number)) for number in range(SEARCHING_CLIENTS)]
    await asyncio.sleep(2)
    beside = []
    for path in paths[half:]:
        beside.append(await get(port, path))
        await asyncio.sleep(0.2)
    done.set()
    await asyncio.gather(*others)
    endgames = [await get(port, f"/endgames?again={number}") for number in range(10)]
    return {
        "page_alone_ms": percentiles(alone),
        "page_beside_searches_ms": percentiles(beside),
        "searches": searches,
        "endgames_again_ms": percentiles(endgames[1:]),
    }


async def first_reader(port: int, material: str, seconds: float) -> dict[str, float]:
    """Return the milliseconds of a server's first answers by name, `seconds` after its start."""
    await asyncio.sleep(seconds)
    paths = {
        "endgames_ms": "/endgames",
        "endgames_in_chinese_ms": "/endgames?lang=zh-Hans",
        "search_ms": f"/search/{material}?outcome=win&only=1&least=15",
    }
    return {name: round(1000 * (await get(port, path))[0], 1) for name, path in paths.items()}


async def under_load(
    port: int, pid: int, fens: list[str], rate: float, clients: int
) -> dict[str, object]:
    """Return figures of probes of `fens`, `rate` a second by `clients` clients; `pid`: server."""
    paths = [f"/v1/probe?fen={quote(fen.replace(' ', '_'), safe='/_')}" for fen in fens]
    await load(port, [f"{path}&warm=1" for path in paths[:300]], 100, 4)
    before, cpu, begun = resident(pid), cpu_seconds_of(pid), time.perf_counter()
    took, failures = await load(port, paths, rate, clients)
    elapsed, cpu = time.perf_counter() - begun, cpu_seconds_of(pid) - cpu
    took.sort()
    return {
        "requests": len(took),
        "failures": failures,
        "requests_per_second": round(len(took) / elapsed, 1),
        "p50_ms": round(1000 * took[len(took) // 2], 2),
        "p99_ms": round(1000 * took[int(len(took) * 0.99)], 2),
        "max_ms": round(1000 * took[-1], 2),
        "cpu_ms_per_request": round(1000 * cpu / len(took), 2),
        "memory_mib": {"before": before, "after": resident(pid)},
    }


def percentiles(answers: list[tuple[float, int]]) -> dict[str, float]:
    """Return `p50` and `p95`, percentiles in milliseconds, of pairs that begin with seconds."""
    took = sorted(seconds for seconds, _ in answers)
    return {
        name: round(1000 * took[int(len(took) * share)], 1)
        for name, share in (("p50", 0.5), ("p95", 0.95))
    }


def resident(pid: int) -> int:
    """Return the resident memory of a process in MiB (Linux only)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) // 1024
    return 0


def cpu_seconds_of(pid: int) -> float:
    """Return the processor time of a process so far in seconds (Linux only)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure, and print one JSON object."""
    parser = arguments(__doc__, tables="required")
    parser.add_argument("--rate", type=float, default=300)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--reader", action="store_true", help="one reader's pages, and no load")
    parser.add_argument(
        "--searching", metavar="MATERIAL", help="one reader beside clients that search this table"
    )
    parser.add_argument(
        "--first", metavar="MATERIAL", help="first answers after --seconds, and a search of this"
    )
    asked = parser.parse_args()
    count = min(MAX_REQUESTS, int(asked.rate * asked.seconds))
    fens = fens_of(asked.tables, count)
    with serving(asked.tables) as server:
        port, pid = server.port, server.pid
        if asked.reader:
            measuring = one_reader(port, pid, fens[:READER_PAGES])
        elif asked.first:
            measuring = first_reader(port, asked.first, asked.seconds)
        elif asked.searching:
            measuring = beside_searches(port, asked.searching, fens[:READER_PAGES])
        else:
            measuring = under_load(port, pid, fens, asked.rate, asked.clients)
        print(json.dumps(asyncio.run(measuring)))


if __name__ == "__main__":
    main()

"""Requests a second that the board's API sustains on this machine, and how long they take.

    demo tables -> tbgen serve (a process of its own) -> N clients, paced -> rate, p50, p99, memory

Clients keep their connections and ask for the values of random positions, each address once, so
that no response is cached by anybody. Bounded in count and time; loopback only.

    python scripts/measure/bench_serve.py --tables egtb --rate 300 --seconds 10
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tbgen.indexing import Position
from tbgen.tables import Tablebase

MAX_REQUESTS = 60_000


def random_positions(tables: Path, count: int) -> list[str]:
    """FENs of legal positions of the tables with the most pieces."""
    from tbgen.indexing.errors import PositionError
    from tbgen.indexing.layout import Layout
    from tbgen.indexing.squares import Side
    from tbgen.rules import check_legal

    rng = random.Random(1)
    with Tablebase.open(tables) as opened:
        layouts = [Layout.of(name.material) for name in opened.available()[-6:]]
    found: dict[str, None] = {}
    while len(found) < count:
        layout = rng.choice(layouts)
        position: Position | None = layout.position(
            rng.randrange(layout.slots), rng.choice(list(Side))
        )
        if position is None:
            continue
        try:
            check_legal(position)
        except PositionError:
            continue
        found[position.fen] = None
    return list(found)


async def client(port: int, targets: asyncio.Queue[tuple[float, str]], took: list[float]) -> int:
    """Ask for one address after the other on one connection; returns the number of failures."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    failures = 0
    while True:
        due, path = await targets.get()
        if not path:
            writer.close()
            return failures
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        # From when the request was due: waiting for a free connection counts.
        took.append(time.perf_counter() - due)
        failures += not head.startswith(b"HTTP/1.1 200")


async def load(port: int, paths: list[str], rate: float, clients: int) -> tuple[list[float], int]:
    """Send the requests at a rate; returns the times taken and the number of failures."""
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


def resident(pid: int) -> int:
    """MiB that a process holds."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) // 1024
    return 0


def cpu_seconds(pid: int) -> float:
    """Processor time that a process has used: what is left of a figure on a busy machine."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Run it and print one JSON object."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--rate", type=float, default=300)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--clients", type=int, default=16)
    arguments = parser.parse_args()
    count = min(MAX_REQUESTS, int(arguments.rate * arguments.seconds))
    fens = random_positions(arguments.tables, count)
    paths = [f"/v1/probe?fen={quote(fen.replace(' ', '_'), safe='/_')}" for fen in fens]
    command = [sys.executable, "-m", "tbgen", "serve", "--no-open", "--json", "--port", "0"]
    server = subprocess.Popen(
        [*command, "--tables", str(arguments.tables)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        port = int(json.loads(server.stdout.readline())["url"].rstrip("/").rsplit(":", 1)[1])
        warm = paths[: min(300, count)]
        asyncio.run(load(port, [f"{path}&warm=1" for path in warm], 100, 4))
        before = resident(server.pid)
        cpu = cpu_seconds(server.pid)
        begun = time.perf_counter()
        took, failures = asyncio.run(load(port, paths, arguments.rate, arguments.clients))
        elapsed = time.perf_counter() - begun
        cpu = cpu_seconds(server.pid) - cpu
        took.sort()
        print(
            json.dumps(
                {
                    "requests": len(took),
                    "failures": failures,
                    "requests_per_second": round(len(took) / elapsed, 1),
                    "p50_ms": round(1000 * took[len(took) // 2], 2),
                    "p99_ms": round(1000 * took[int(len(took) * 0.99)], 2),
                    "max_ms": round(1000 * took[-1], 2),
                    "cpu_ms_per_request": round(1000 * cpu / len(took), 2),
                    "memory_mib": {"before": before, "after": resident(server.pid)},
                }
            )
        )
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    main()

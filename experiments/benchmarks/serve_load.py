"""How the explorer stands up to load: many open connections, requests at a steady rate about people chosen at random.

Requests go out on time whether or not earlier ones were answered (an open loop), so that a server which falls behind
shows as waiting and not as fewer requests. As a browser does at every change, two parts of the page are fetched, each
time about other people at another threshold, so that what the server remembers does not explain its speed. Run with a
model of ten covariates:

    python experiments/benchmarks/serve_load.py MODEL --connections 200 --rate 200 --seconds 60
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pnsight
from pnsight.data.schema import Schema

PARTS = ("/answer", "/advice")
"""What a browser fetches at every change."""


@dataclass
class Measured:
    """Seconds of each answered request, and what went wrong."""

    seconds: list[float] = field(default_factory=list)
    errors: int = 0
    late: float = 0.0
    took: float = 0.0

    def percentile(self, share: float) -> float:
        """The time within which this share of the requests was answered."""
        found = sorted(self.seconds)
        return found[min(len(found) - 1, int(share * len(found)))] if found else float("nan")


class Connection:
    """One connection that is kept open, used for one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
        self.reader, self.writer, self.host = reader, writer, host

    async def get(self, path: str) -> int:
        """Send a request, read all of the answer, and return its status."""
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode())
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        await self.reader.readexactly(int(length.group(1)) if length else 0)
        return int(head.split(" ", 2)[1])


def random_paths(schema: Schema, rng: random.Random) -> Iterator[str]:
    """All parts of a page about people of whom a random part is known at a random threshold, then about others."""
    while True:
        known = rng.random()
        fixed = {f"with.{each.name}": rng.choice(each.levels) for each in schema.covariates if rng.random() < known}
        query = urlencode({**fixed, "threshold": f"{rng.random():.4f}"})
        yield from (f"{part}?{query}" for part in PARTS)


async def load(address: str, schema: Schema, connections: int, rate: float, seconds: float, seed: int) -> Measured:
    """Ask at a steady rate over so many connections."""
    place = urlsplit(address)
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(connections):
        free.put_nowait(Connection(*await asyncio.open_connection(place.hostname, place.port), place.netloc))
    paths, found, under_way = random_paths(schema, random.Random(seed)), Measured(), set()
    begun = time.perf_counter()
    for number, path in enumerate(islice(paths, int(rate * seconds))):
        due = begun + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        found.late = max(found.late, time.perf_counter() - due)
        task = asyncio.create_task(one(free, path, due, found))
        under_way.add(task)
        task.add_done_callback(under_way.discard)
    await asyncio.gather(*under_way)
    found.took = time.perf_counter() - begun
    return found


async def one(free: asyncio.Queue[Connection], path: str, due: float, found: Measured) -> None:
    """One request; its time counts from when it was due, so waiting for a connection counts too."""
    connection = await free.get()
    try:
        status = await connection.get(path)
        found.errors += status != 200
        found.seconds.append(time.perf_counter() - due)
    except (OSError, asyncio.IncompleteReadError):
        found.errors += 1
    finally:
        free.put_nowait(connection)


async def watched(process: int, seconds: float) -> list[float]:
    """Memory of the server in MB: at the start, in the middle and at the end."""
    found = [memory(process)]
    for _ in range(2):
        await asyncio.sleep(seconds / 2)
        found.append(memory(process))
    return found


def memory(process: int) -> float:
    """Resident memory in MB."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]


def processor_seconds(process: int) -> float:
    """Processor time used so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


@contextmanager
def serving(model: str) -> Iterator[tuple[str, int]]:
    """A server of its own process: its address and process number."""
    command = [sys.executable, "-m", "pnsight", "serve", model, "--port", "0"]
    begun = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"http://\S+", line):
                print(f"started in {time.perf_counter() - begun:.2f} s")
                yield found.group(), process.pid
                break
        process.terminate()


async def measure(given: argparse.Namespace, address: str, process: int) -> None:
    schema = pnsight.load(given.model).schema
    await load(address, schema, 10, 50, 2, seed=1)  # warm up
    used = processor_seconds(process)
    found, rss = await asyncio.gather(
        load(address, schema, given.connections, given.rate, given.seconds, seed=2), watched(process, given.seconds)
    )
    used = processor_seconds(process) - used
    answered = len(found.seconds)
    print(f"{answered:,} answers, {answered / found.took:.1f} a second over {given.connections} connections")
    print(f"errors: {found.errors}; a request went out at most {1000 * found.late:.0f} ms late")
    shares = {"median": 0.5, "95%": 0.95, "99%": 0.99, "slowest": 1.0}
    print(", ".join(f"{name} {1000 * found.percentile(share):.1f} ms" for name, share in shares.items()))
    print(f"processor: {1000 * used / max(1, answered):.2f} ms a request")
    print(
        "memory: " + ", ".join(f"{name} {mb:.0f} MB" for name, mb in zip(("start", "middle", "end"), rss, strict=True))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="folder written by pnsight fit")
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--rate", type=float, default=200, help="requests a second")
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    with serving(given.model) as (address, process):
        asyncio.run(measure(given, address, process))


if __name__ == "__main__":
    main()

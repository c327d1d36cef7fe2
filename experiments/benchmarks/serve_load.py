"""How the explorer stands up to load, honest and hostile, from this machine alone.

    python experiments/benchmarks/serve_load.py steady MODEL --connections 200 --rate 200 --seconds 60
    python experiments/benchmarks/serve_load.py slow MODEL --slow 1100 --seconds 30
    python experiments/benchmarks/serve_load.py heavy MODEL --heavy 60 --seconds 60
    python experiments/benchmarks/serve_load.py mixed MODEL --seconds 300

Requests go out on time whether or not earlier ones were answered (an open loop), so that a server which falls behind
shows as waiting and not as fewer requests. As a browser does at every change, two parts of the page are fetched, each
time about other people at another threshold, so that what the server remembers does not explain its speed. Run with a
model of ten covariates. The exit code is 1 where a quick request was not answered, or the server failed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import count, islice
from typing import Any
from urllib.parse import urlencode

from load_client import Connection, Measured, Served, allow_open_files, ask_afresh, connect, serving

import pnsight
from pnsight.data.schema import Schema

PARTS = ("/answer", "/advice")
"""What a browser fetches at every change."""


def random_paths(schema: Schema, rng: random.Random) -> Iterator[str]:
    """All parts of a page about people of whom a random part is known at a random threshold, then about others."""
    while True:
        known = rng.random()
        fixed = {f"with.{each.name}": rng.choice(each.levels) for each in schema.covariates if rng.random() < known}
        query = urlencode({**fixed, "threshold": f"{rng.random():.4f}"})
        yield from (f"{part}?{query}" for part in PARTS)


# --- many people who explore ------------------------------------------------------------------------------


async def load(served: Served, schema: Schema, connections: int, rate: float, seconds: float, seed: int) -> Measured:
    """Ask at a steady rate over so many connections."""
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(connections):
        free.put_nowait(await connect(served))
    found = Measured()
    paths = islice(random_paths(schema, random.Random(seed)), int(rate * seconds))
    await _on_time(rate, [partial(_one, free, found, path) for path in paths], found)
    while not free.empty():
        free.get_nowait().writer.close()
    return found


async def _on_time(rate: float, requests: list[Callable[[float], Coroutine[Any, Any, Any]]], found: Measured) -> None:
    """Send requests at a steady rate, and wait for all."""
    begun, under_way = time.perf_counter(), set()
    for number, request in enumerate(requests):
        due = begun + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        found.late = max(found.late, time.perf_counter() - due)
        task = asyncio.create_task(request(due))
        under_way.add(task)
        task.add_done_callback(under_way.discard)
    await asyncio.gather(*under_way)
    found.took = time.perf_counter() - begun


async def _one(free: asyncio.Queue[Connection], found: Measured, path: str, due: float) -> None:
    """One request; its time counts from when it was due, so waiting for a connection counts too."""
    connection = await free.get()
    try:
        found.count(await connection.ask(path), time.perf_counter() - due)
    except (OSError, asyncio.IncompleteReadError):
        found.unanswered += 1
    finally:
        free.put_nowait(connection)


async def steady(given: argparse.Namespace, served: Served, schema: Schema) -> bool:
    """Many people who explore at once."""
    used = served.processor_seconds()
    found, memory = await asyncio.gather(
        load(served, schema, given.connections, given.rate, given.seconds, seed=2), _weighed(served, given.seconds, 2)
    )
    used = served.processor_seconds() - used
    print(f"{found.took:.0f} s over {given.connections} connections; {found}")
    print(f"a request went out at most {1000 * found.late:.0f} ms late")
    print(f"processor: {1000 * used / max(1, len(found.seconds)):.2f} ms a request")
    _tell_memory(memory)
    return found.errors == 0


# --- beside slow connections ------------------------------------------------------------------------------


async def slow(given: argparse.Namespace, served: Served, schema: Schema) -> bool:
    """Quick requests beside many connections that send a letter now and then."""
    async with _meanwhile(*(_dawdle(served) for _ in range(given.slow))):
        await asyncio.sleep(3)  # until all of them are there
        found = await _quick(served, schema, given.rate, given.seconds)
    print(f"beside {given.slow:,} slow connections, {given.rate:g} quick requests a second: {found}")
    print(f"log: {served.log_bytes:,} bytes")
    return found.errors == 0 and served.log_bytes < 100_000


async def _dawdle(served: Served) -> None:
    """Hold a connection open with a request that is never complete; when it is ended, open another."""
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            connection = await connect(served)
            try:
                for letter in "GET / HTTP/1.1\r\nX-Slow: " + "x" * 1000:
                    connection.writer.write(letter.encode())
                    await connection.writer.drain()
                    await asyncio.sleep(1)
            finally:
                connection.writer.close()
        await asyncio.sleep(0.2)


async def _quick(served: Served, schema: Schema, rate: float, seconds: float) -> Measured:
    """Quick requests at a steady rate, each over a connection of its own."""
    found = Measured()
    paths = islice(random_paths(schema, random.Random(3)), int(rate * seconds))
    await _on_time(rate, [partial(_fresh, served, found, path) for path in paths], found)
    return found


async def _fresh(served: Served, found: Measured, path: str, due: float) -> None:
    """One request over a connection of its own; it is sent when due, since there is nothing to wait for."""
    await ask_afresh(served, found, path)


# --- beside long work -------------------------------------------------------------------------------------


async def heavy(given: argparse.Namespace, served: Served, schema: Schema) -> bool:
    """Quick requests beside many rankings at once, each another, asked for again and again."""
    ranked, numbers = Measured(), count(1)
    async with _meanwhile(*(_rank(served, ranked, numbers) for _ in range(given.heavy))):
        found = await _quick(served, schema, given.rate, given.seconds)
    print(f"beside {given.heavy} rankings at once, {given.rate:g} quick requests a second: {found}")
    print(f"the rankings: {ranked}")
    return found.errors == 0 and _sound(ranked)


async def _rank(served: Served, found: Measured, numbers: Iterator[int]) -> None:
    """Ask for one ranking after the other, each at another level; when refused, come again after a while."""
    while True:
        level = 0.5 + next(numbers) % 4900 / 10_000
        if await ask_afresh(served, found, f"/api/rank?level={level:.4f}&top=50") != 200:
            await asyncio.sleep(5)


def _sound(found: Measured) -> bool:
    """Whether the server never failed: it may refuse, and say that it is busy."""
    return not any(status >= 500 and status != 503 for status in found.statuses) and 200 in found.statuses


# --- everything at once -----------------------------------------------------------------------------------


async def mixed(given: argparse.Namespace, served: Served, schema: Schema) -> bool:
    """Quick requests beside rankings, tables, slow connections and nonsense, with the memory over time."""
    others, numbers = Measured(), count(1)
    tables = _tables(schema)
    loads = [
        *(_dawdle(served) for _ in range(given.slow)),
        *(_rank(served, others, numbers) for _ in range(given.heavy)),
        *(_send(served, others, tables) for _ in range(4)),
        *(_send(served, others, _nonsense(schema)) for _ in range(4)),
    ]
    async with _meanwhile(*loads):
        found, memory = await asyncio.gather(
            _quick(served, schema, given.rate, given.seconds), _weighed(served, given.seconds, 10)
        )
    print(f"quick requests, {given.rate:g} a second: {found}")
    print(f"all others: {others}")
    _tell_memory(memory)
    print(f"log: {served.log_bytes:,} bytes")
    return found.errors == 0 and _sound(others) and served.log_bytes < 100_000


Content = tuple[str, bytes | None, str]
"""Path, body and its type."""


async def _send(served: Served, found: Measured, contents: Iterator[Content]) -> None:
    """Send one thing after the other."""
    for path, body, kind in contents:
        await ask_afresh(served, found, path, body, kind)
        await asyncio.sleep(0.5)


def _tables(schema: Schema) -> Iterator[Content]:
    """Tables of a thousand people, and the same as JSON."""
    rng = random.Random(4)
    while True:
        rows = [",".join(rng.choice(each.levels) for each in schema.covariates) for _ in range(1000)]
        text = "\n".join([",".join(schema.names), *rows])
        yield "/people/result", urlencode({"text": text}).encode(), "application/x-www-form-urlencoded"
        yield "/api/decide", str({"queries": [{}] * 500}).replace("'", '"').encode(), "application/json"


def _nonsense(schema: Schema) -> Iterator[Content]:
    """What nobody in his right mind would send."""
    name = schema.names[0]
    while True:
        yield f"/?with.{name}=" + "1" * 15_900 + "x", None, ""
        yield "/api/bounds?query=" + "a" * 3000 + "%5C%0Ab", None, ""
        yield "/groups?text=" + "a" + "%20" * 3000 + "b", None, ""
        yield "/people/result", f"text={name}%0A{'1' * 12_000}x".encode(), "application/x-www-form-urlencoded"
        yield "/people/result", b"&" * 100_000, "application/x-www-form-urlencoded"
        yield "/api/bounds", b'{"queries": [' + b"[]," * 100_000 + b"[]]}", "application/json"
        yield "/api/bounds", b"{" * 10_000, "application/json"


# --- helpers ----------------------------------------------------------------------------------------------


@asynccontextmanager
async def _meanwhile(*loads: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Put loads on the server until something else is done."""
    tasks = [asyncio.create_task(load) for load in loads]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _weighed(served: Served, seconds: float, times: int) -> list[tuple[float, float]]:
    """Memory of the server, and of it with its workers, in MB: at the start and so many times after."""
    found = [(served.server_memory(), served.memory())]
    for _ in range(times):
        await asyncio.sleep(seconds / times)
        found.append((served.server_memory(), served.memory()))
    return found


def _tell_memory(found: list[tuple[float, float]]) -> None:
    for name, values in zip(("the server", "with its workers"), zip(*found, strict=True), strict=True):
        print(f"memory of {name} over time, MB: " + " ".join(f"{value:.0f}" for value in values))


LOADS = {"steady": steady, "slow": slow, "heavy": heavy, "mixed": mixed}
USUAL = {
    "steady": {"connections": 200, "rate": 200.0, "seconds": 60.0},
    "slow": {"slow": 1100, "rate": 20.0, "seconds": 30.0},
    "heavy": {"heavy": 60, "rate": 20.0, "seconds": 60.0},
    "mixed": {"slow": 100, "heavy": 4, "rate": 20.0, "seconds": 300.0},
}


async def measure(given: argparse.Namespace, served: Served) -> bool:
    schema = pnsight.load(given.model).schema
    await load(served, schema, 10, 20, 2, seed=1)  # warm up
    return await LOADS[given.load](given, served, schema)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    loads = parser.add_subparsers(dest="load", required=True)
    for name, usual in USUAL.items():
        each = loads.add_parser(name, help=LOADS[name].__doc__)
        each.add_argument("model", help="folder written by pnsight fit")
        for option, value in usual.items():
            each.add_argument(f"--{option}", type=type(value), default=value)
    given = parser.parse_args()
    allow_open_files(8192)
    with serving(given.model, open_files=1024) as served:
        good = asyncio.run(measure(given, served))
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())

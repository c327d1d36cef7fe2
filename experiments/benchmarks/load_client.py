"""A served model to put under load: requests over kept or fresh connections, and what they cost the server."""

from __future__ import annotations

import asyncio
import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit


@dataclass
class Measured:
    """Seconds of each answered request, how many answers had each status, and how many requests had none."""

    seconds: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    unanswered: int = 0
    late: float = 0.0
    took: float = 0.0

    def count(self, status: int, seconds: float) -> None:
        """Take down an answer."""
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.seconds.append(seconds)

    @property
    def errors(self) -> int:
        """Requests without an answer, or without a good one."""
        return self.unanswered + sum(number for status, number in self.statuses.items() if status != 200)

    def percentile(self, share: float) -> float:
        """The time within which this share of the requests was answered."""
        found = sorted(self.seconds)
        return found[min(len(found) - 1, int(share * len(found)))] if found else float("nan")

    def __str__(self) -> str:
        shares = {"median": 0.5, "95%": 0.95, "99%": 0.99, "slowest": 1.0}
        times = ", ".join(f"{name} {1000 * self.percentile(share):.1f} ms" for name, share in shares.items())
        kinds = ", ".join(f"{number:,} x {status}" for status, number in sorted(self.statuses.items())) or "none"
        return f"answers: {kinds}; unanswered: {self.unanswered}; {times}"


@dataclass(frozen=True)
class Served:
    """A server in a process of its own: where it is, its process, and what it has written to its log."""

    address: str
    process: int
    log: list[int]

    @property
    def place(self) -> tuple[str, int]:
        """Host and port."""
        parts = urlsplit(self.address)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    @property
    def log_bytes(self) -> int:
        """Bytes written to the log since the start."""
        return sum(self.log)

    def processes(self) -> list[int]:
        """The server and its workers."""
        found = [self.process]
        for thread in Path(f"/proc/{self.process}/task").iterdir():
            with suppress(OSError):  # it has ended meanwhile
                found += map(int, (thread / "children").read_text().split())
        return found

    def memory(self) -> float:
        """Resident memory of the server and its workers, in MB."""
        return sum(map(_memory, self.processes()))

    def server_memory(self) -> float:
        """Resident memory of the server alone, in MB."""
        return _memory(self.process)

    def processor_seconds(self) -> float:
        """Processor time used so far by the server and its workers."""
        return sum(map(_processor_seconds, self.processes()))


class Connection:
    """One connection, used for one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
        self.reader, self.writer, self.host = reader, writer, host

    async def ask(self, path: str, body: bytes | None = None, kind: str = "application/json", end: str = "") -> int:
        """Send a request, read all of the answer, and return its status."""
        method = "GET" if body is None else "POST"
        sent = "" if body is None else f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        self.writer.write(f"{method} {path} HTTP/1.1\r\nHost: {self.host}\r\n{sent}{end}\r\n".encode() + (body or b""))
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        await self.reader.readexactly(int(length.group(1)) if length else 0)
        return int(head.split(" ", 2)[1])


async def connect(served: Served) -> Connection:
    """A connection to the server."""
    host, port = served.place
    return Connection(*await asyncio.open_connection(host, port), f"{host}:{port}")


async def ask_afresh(served: Served, found: Measured, path: str, body: bytes | None = None, kind: str = "") -> int:
    """One request over a connection of its own, taken down; its status, or 0 without an answer."""
    begun = time.perf_counter()
    connection = None
    try:
        connection = await connect(served)
        status = await connection.ask(path, body, kind or "application/json", "Connection: close\r\n")
    except (OSError, asyncio.IncompleteReadError):
        found.unanswered += 1
        return 0
    finally:
        if connection is not None:
            connection.writer.close()
    found.count(status, time.perf_counter() - begun)
    return status


@contextmanager
def serving(model: str, open_files: int | None = None) -> Iterator[Served]:
    """A server of a process of its own, which may have so many files open."""
    command = [sys.executable, "-m", "pnsight", "serve", model, "--port", "0"]
    if open_files is not None:
        command = ["sh", "-c", f'ulimit -n {open_files} && exec "$@"', "sh", *command]
    begun = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        address = _address(process.stderr)
        print(f"started in {time.perf_counter() - begun:.2f} s")
        served = Served(address, process.pid, [])
        reading = threading.Thread(target=_weigh, args=(process.stderr, served.log), daemon=True)
        reading.start()
        yield served
        process.terminate()
        reading.join(60)


def _address(said: IO[bytes]) -> str:
    for line in said:
        if found := re.search(r"http://[^\s?]+", line.decode()):
            return found.group()
    raise SystemExit("the server did not start")


def _weigh(said: IO[bytes], log: list[int]) -> None:
    """Read what a server writes, so that it can go on, and keep its length."""
    log.extend(map(len, said))


def allow_open_files(number: int) -> None:
    """Let this program have so many files open, if the system does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < number:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(number, hard), hard))


def _memory(process: int) -> float:
    with suppress(OSError):
        text = Path(f"/proc/{process}/status").read_text()
        if found := re.search(r"VmRSS:\s+(\d+)", text):
            return int(found[1]) / 1024
    return 0.0


def _processor_seconds(process: int) -> float:
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100
    return 0.0

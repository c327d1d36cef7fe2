"""How far DuckDB has come with a long count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import duckdb

from pnsight.data.reading.engine import ReportShare

_SECONDS = 0.1


@contextmanager
def report_progress(connection: duckdb.DuckDBPyConnection | None, report: ReportShare | None) -> Iterator[None]:
    """While the block runs a query on the connection, report the share that is done."""
    if connection is None or report is None:
        yield
        return
    over = Event()

    def look() -> None:
        while not over.wait(_SECONDS):
            percent = connection.query_progress()
            if percent >= 0:  # -1 before the query has begun
                report(percent / 100)

    watcher = Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()

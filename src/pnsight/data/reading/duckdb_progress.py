"""Progress of long DuckDB queries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import duckdb

from pnsight.data.reading.engine import ReportShare

_POLL_SECONDS = 0.1


@contextmanager
def report_progress(connection: duckdb.DuckDBPyConnection | None, report: ReportShare | None) -> Iterator[None]:
    """Report the progress of the query that the block runs on a connection.

    Parameters
    ----------
    connection
        The connection; None to report nothing.
    report
        Called from another thread with the share of the query that is done; None to report nothing.
    """
    if connection is None or report is None:
        yield
        return
    over = Event()

    def poll() -> None:
        while not over.wait(_POLL_SECONDS):
            percent = connection.query_progress()
            if percent >= 0:  # -1 before the query has begun
                report(percent / 100)

    watcher = Thread(target=poll, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()

"""Progress bars on standard error, shown only to a person at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from pnsight import _progress as progress


@contextmanager
def bar(title: str) -> Iterator[progress.Progress]:
    """A callback that draws a bar with a note, the time gone and the time left."""
    console = Console(file=sys.stderr)
    if not console.is_terminal:  # a bar that is switched off still ends its line, in some versions of rich
        yield progress.no_progress
        return
    columns = (TextColumn(title), BarColumn(), TextColumn("{task.completed:.0f}/{task.total:.0f}"))
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, *times, console=console, transient=True) as drawn:
        task = drawn.add_task(title, total=1, note="")

        def report(done: int, total: int, note: str) -> None:
            drawn.update(task, completed=done, total=max(total, 1), note=note)

        yield report


@contextmanager
def counter(title: str) -> Iterator[progress.Progress]:
    """A callback that shows how much is done where nobody knows how much there is."""
    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield progress.no_progress
        return
    with console.status(title) as status:

        def report(done: int, total: int, note: str) -> None:
            status.update(f"{title}: {done:,} {note}")

        yield report

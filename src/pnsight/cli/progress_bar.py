"""Progress on standard error: a bar for a person at a terminal, elsewhere a line every ten seconds.

How far it is, is a share: the steps are counted otherwise from one part of the work to the next. How long it will still
take is not said: steps differ too much in length for that to be known.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from pnsight import _progress as progress
from pnsight.cli.output import say

_SECONDS = 10.0
"""Between two lines where there is no terminal."""


@contextmanager
def bar(title: str) -> Iterator[progress.Progress]:
    """A callback that draws a bar with a note and the time gone."""
    if not sys.stderr.isatty():  # rich would draw for FORCE_COLOR too, which kernels of notebooks set
        yield progress_lines(title, share_done, say)
        return
    console = Console(file=sys.stderr)
    columns = (TextColumn(title), BarColumn(), TextColumn("{task.percentage:.0f}%"))
    with Progress(
        *columns, TimeElapsedColumn(), TextColumn("{task.fields[note]}"), console=console, transient=True
    ) as drawn:
        task = drawn.add_task(title, total=1, note="")

        def report(done: int, total: int, note: str) -> None:
            drawn.update(task, completed=done, total=max(total, 1), note=note)

        yield report


@contextmanager
def counter(title: str) -> Iterator[progress.Progress]:
    """A callback that shows how much is done where nobody knows how much there is."""
    if not sys.stderr.isatty():
        yield progress_lines(title, _so_far, say)
        return
    with Console(file=sys.stderr).status(title) as status:

        def report(done: int, total: int, note: str) -> None:
            status.update(f"{title}: {_so_far(done, total, note)}")

        yield report


def progress_lines(
    title: str,
    describe: Callable[[int, int, str], str],
    write: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
) -> progress.Progress:
    """A callback that writes a line if the last one is ten seconds old; what ends sooner writes none.

    Parameters
    ----------
    title
        What is done.
    describe
        Says how far it is, from what the callback is called with.
    write
        Takes a line.
    clock
        Tells the time in seconds.

    Returns
    -------
    Progress
    """
    start = last = clock()

    def report(done: int, total: int, note: str) -> None:
        nonlocal last
        now = clock()
        if now - last >= _SECONDS:
            last = now
            write(f"{title}: {describe(done, total, note)}, {now - start:.0f} s")

    return report


def share_done(done: int, total: int, note: str) -> str:
    """How far work is, as a line says it."""
    return f"{done / max(total, 1):.0%}" + (f", {note}" if note else "")


def _so_far(done: int, total: int, note: str) -> str:
    return f"{done:,} {note}"

"""Progress of long computations, reported to a callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with steps done, steps in all, and a short note such as the present loss."""


def no_progress(done: int, total: int, note: str) -> None:
    """Progress callback that does nothing."""


def subtask(progress: Progress, k: int, parts: int, note: str) -> Progress:
    """Progress callback for the k-th of several equal parts of a task.

    Parameters
    ----------
    progress
        Callback of the whole task.
    k, parts
        Which part it is, from 0, and how many there are.
    note
        What the part is called; its own notes follow after a colon.

    Returns
    -------
    Progress
        Callback for the steps of the part.
    """

    def report(done: int, total: int, detail: str) -> None:
        progress(k * total + done, parts * total, note if not detail else f"{note}: {detail}")

    return report

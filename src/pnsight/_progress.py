"""How long work tells how far it is, without knowing who listens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with steps done, steps in all, and a short note such as the present loss."""


def silent(done: int, total: int, note: str) -> None:
    """Nobody listens."""


def part(progress: Progress, k: int, parts: int, note: str) -> Progress:
    """Progress of the k-th of several equal parts, under a note of its own."""

    def told(done: int, total: int, detail: str) -> None:
        progress(k * total + done, parts * total, note if not detail else f"{note}: {detail}")

    return told

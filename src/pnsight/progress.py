"""How long work tells how far it is, without knowing who listens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with steps done, steps in all, and a short note such as the present loss."""


def silent(done: int, total: int, note: str) -> None:
    """Nobody listens."""

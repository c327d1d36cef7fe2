"""What a soak is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

MOST_TOLD = 20
"""Failures that are written out."""


@dataclass(frozen=True)
class Findings:
    """What a soak found.

    Attributes
    ----------
    figures : numbers by what they count
    failures : promises that were broken, each with how to see it again
    """

    figures: Mapping[str, int]
    failures: Sequence[str] = ()

    def __str__(self) -> str:
        found = [f"  {number:>9,}  {what}" for what, number in self.figures.items()]
        more = len(self.failures) - MOST_TOLD
        told = [f"  FAILED: {failure}" for failure in self.failures[:MOST_TOLD]]
        return "\n".join([*found, *told, *([f"  and {more:,} more"] if more > 0 else [])])


@dataclass(frozen=True)
class Soak:
    """An attack that can be run for as long as one likes.

    Attributes
    ----------
    promise : what is attacked, in a sentence
    options : whole numbers that `run` takes by name, with those of a long run
    run : the attack
    """

    promise: str
    options: Mapping[str, int]
    run: Callable[..., Findings]

"""Claims that one share of people is no larger than another, each share counted in a study's cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pnsight._typing import FloatArray
from pnsight.diagnostics.mantel_haenszel import Evidence

_EXPERIMENT, _REGISTRY, _BOTH = "in the experiment", "in the observational table", "in both tables together"


@dataclass(frozen=True)
class Share:
    """A share of rows.

    Attributes
    ----------
    text : in symbols
    where : the table that shows it, in words
    counted : cells of `Study.counts` that count
    among : cells that it is a share of
    """

    text: str
    where: str
    counted: tuple[int, ...]
    among: tuple[int, ...]


@dataclass(frozen=True)
class Claim:
    """That the left share is no larger than the right one; they must not have rows in common."""

    left: Share
    right: Share

    def __str__(self) -> str:
        return f"{self.left.text} <= {self.right.text}"


ASSIGNED = tuple(
    Share(text, _EXPERIMENT, (cell,), among)
    for cell, (text, among) in enumerate(
        (("P(y_x)", (0, 1)), ("P(y'_x)", (0, 1)), ("P(y_x')", (2, 3)), ("P(y'_x')", (2, 3)))
    )
)
"""What the experiment shows, in the order of `law.COUNT_CELLS`."""

CHOSEN = tuple(
    Share(text, _REGISTRY, (cell,), (4, 5, 6, 7))
    for cell, text in enumerate(("P(x,y)", "P(x,y')", "P(x',y)", "P(x',y')"), start=4)
)
"""What the observational table shows, in the same order."""

RESPONDED = Share("P(y)", _REGISTRY, (4, 6), (4, 5, 6, 7))
RESPONDED_IF_CHOSEN = Share("P(y|x)", _REGISTRY, (4,), (4, 5)), Share("P(y|x')", _REGISTRY, (6,), (6, 7))
RESPONDED_IN_ALL = Share("P(y|x)", _BOTH, (0, 4), (0, 1, 4, 5)), Share("P(y|x')", _BOTH, (2, 6), (2, 3, 6, 7))
"""Shares of the people who responded: of all, of those with and without treatment, of the same in both tables."""


def evidence_of(counts: FloatArray, claims: Sequence[Claim]) -> Evidence:
    """What counts in the layout of `Study.counts` show about each claim, profile by profile."""

    def sums(cells: Iterable[tuple[int, ...]]) -> FloatArray:
        return np.stack([counts[:, list(chosen)].sum(axis=1) for chosen in cells], axis=1)

    return Evidence.of_shares(
        sums(claim.left.counted for claim in claims),
        sums(claim.left.among for claim in claims),
        sums(claim.right.counted for claim in claims),
        sums(claim.right.among for claim in claims),
    )

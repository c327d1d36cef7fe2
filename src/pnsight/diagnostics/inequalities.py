"""Inequalities between proportions of people, each proportion counted in a study's cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.structure import OBSERVATIONAL
from pnsight.data.two_by_two import N_X, N_X0, TWO_BY_TWO, X0N, X0Y, XN, XY, Y_X, Y_X0
from pnsight.diagnostics.mantel_haenszel import Evidence

_BOTH = "both"


@dataclass(frozen=True)
class Proportion:
    """A proportion of rows.

    Attributes
    ----------
    text : in symbols
    where : the table that shows it, ``experimental``, ``observational`` or ``both``
    counted : names of the cells that count
    among : names of the cells that it is a proportion of
    """

    text: str
    where: str
    counted: tuple[str, ...]
    among: tuple[str, ...]


@dataclass(frozen=True)
class Inequality:
    """That the left proportion is no larger than the right one; they must not have rows in common."""

    left: Proportion
    right: Proportion

    def __str__(self) -> str:
        return f"{self.left.text} <= {self.right.text}"


def cell_proportion(name: str) -> Proportion:
    """The proportion of a group's rows that are in one of its cells, by the cell's name."""
    group = next(group for group in TWO_BY_TWO.groups if any(cell.name == name for cell in group.cells))
    return Proportion(f"P({name})", group.table, (name,), tuple(cell.name for cell in group.cells))


RESPONDED = Proportion("P(y)", OBSERVATIONAL, (XY, X0Y), (XY, XN, X0Y, X0N))
RESPONDED_IF_CHOSEN = (
    Proportion("P(y|x)", OBSERVATIONAL, (XY,), (XY, XN)),
    Proportion("P(y|x')", OBSERVATIONAL, (X0Y,), (X0Y, X0N)),
)
RESPONDED_IN_ALL = (
    Proportion("P(y|x)", _BOTH, (Y_X, XY), (Y_X, N_X, XY, XN)),
    Proportion("P(y|x')", _BOTH, (Y_X0, X0Y), (Y_X0, N_X0, X0Y, X0N)),
)
"""Shares of the people who responded: of all, of those with and without treatment, of the same in both tables."""


def evidence_of(counts: FloatArray, inequalities: Sequence[Inequality]) -> Evidence:
    """Evidence about inequalities, profile by profile.

    Parameters
    ----------
    counts : shape (profiles, cells)
        In the layout of `Study.counts`.
    inequalities
        What is to be tested.

    Returns
    -------
    sums of shape (profiles, inequalities)
    """

    def sums(cells: Iterable[tuple[str, ...]]) -> FloatArray:
        columns = ([TWO_BY_TWO.column(name) for name in chosen] for chosen in cells)
        return np.stack([counts[:, chosen].sum(axis=1) for chosen in columns], axis=1)

    return Evidence.of_proportions(
        sums(inequality.left.counted for inequality in inequalities),
        sums(inequality.left.among for inequality in inequalities),
        sums(inequality.right.counted for inequality in inequalities),
        sums(inequality.right.among for inequality in inequalities),
    )

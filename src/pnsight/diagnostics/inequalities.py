"""Inequalities between proportions of people, each proportion counted in a study's cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.structure import OBSERVATIONAL, Structure
from pnsight.data.two_by_two import N_X, N_X0, TWO_BY_TWO, X0N, X0Y, XN, XY, Y_X, Y_X0
from pnsight.diagnostics.mantel_haenszel import Evidence
from pnsight.estimands.compiled import LinearTerms

_BOTH = "both"
_EXACT = 1e-9


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


def cell_proportion(*names: str, structure: Structure = TWO_BY_TWO) -> Proportion:
    """The proportion of a group's rows that are in some of its cells, by the cells' names."""
    group = next(group for group in structure.groups if any(cell.name == names[0] for cell in group.cells))
    text = " + ".join(f"P({name})" for name in names)
    return Proportion(text, group.table, names, tuple(cell.name for cell in group.cells))


def two_group_inequalities(terms: LinearTerms, structure: Structure) -> tuple[Inequality, ...]:
    """Those of several linear inequalities, each that a term is not negative, that compare shares of two groups.

    The cells of a group add up to one, so that a term may be written with each cell of one group not at all or
    subtracted, and each of the other not at all or added.

    Parameters
    ----------
    terms
        Linear functions of the law.
    structure
        Its groups of cells.

    Returns
    -------
    In the order of the terms.
    """
    found = (
        _two_groups(row, constant, structure) for row, constant in zip(terms.coefficients, terms.constant, strict=True)
    )
    return tuple(each for each in found if each is not None)


def _two_groups(row: FloatArray, constant: float, structure: Structure) -> Inequality | None:
    varying = [some for some in structure.group_slices if np.ptp(row[some]) > _EXACT]
    if len(varying) != 2:
        return None
    rest = constant + sum(float(row[some][0]) for some in structure.group_slices if some not in varying)
    found: list[Inequality] = []
    for lesser, greater in (varying[::-1], varying):
        left, right = row[lesser] - row[lesser].max(), row[greater] - row[greater].min()
        leftover = rest + float(row[lesser].max()) + float(row[greater].min())
        if abs(leftover) < _EXACT and _are_units(-left) and _are_units(right):
            sides = ((lesser, -left), (greater, right))
            found.append(
                Inequality(*(cell_proportion(*_names(structure, *side), structure=structure) for side in sides))
            )
    return min(found, key=lambda each: len(each.left.counted) + len(each.right.counted), default=None)


def _are_units(values: FloatArray) -> bool:
    return bool((np.minimum(np.abs(values), np.abs(values - 1)) < _EXACT).all())


def _names(structure: Structure, some: slice, chosen: FloatArray) -> list[str]:
    return [cell.name for cell, own in zip(structure.cells[some], chosen, strict=True) if own > 0.5]


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


def evidence_of(counts: FloatArray, inequalities: Sequence[Inequality], structure: Structure = TWO_BY_TWO) -> Evidence:
    """Evidence about inequalities, profile by profile.

    Parameters
    ----------
    counts : shape (profiles, cells)
        Effective rows of each cell.
    inequalities
        What is to be tested.
    structure
        Whose cells they are.

    Returns
    -------
    sums of shape (profiles, inequalities)
    """

    def sums(cells: Iterable[tuple[str, ...]]) -> FloatArray:
        columns = ([structure.column(name) for name in chosen] for chosen in cells)
        return np.stack([counts[:, chosen].sum(axis=1) for chosen in columns], axis=1)

    return Evidence.of_proportions(
        sums(inequality.left.counted for inequality in inequalities),
        sums(inequality.left.among for inequality in inequalities),
        sums(inequality.right.counted for inequality in inequalities),
        sums(inequality.right.among for inequality in inequalities),
    )

"""Two arms and two outcomes, the first instance of a structure: what its cells are called and in which order.

x and y mean true, x' and y' false, whatever the study calls its arms and outcomes. The experiment shows P(y_x) among
the treated and P(y_x') among the untreated, the observational table the joint distribution of what people chose and
had. No other module knows the order of the cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.structure import (
    DROP,
    EXPERIMENTAL,
    OBSERVATIONAL,
    SET,
    TWO_BY_TWO_KIND,
    Cell,
    Description,
    Group,
    ObservationSet,
    Structure,
    Variable,
    enumerate_types,
)

TREATED, CONTROL = "treated", "untreated"
"""Groups of the experimental table."""

Y_X, N_X, Y_X0, N_X0 = "y_x", "y'_x", "y_x'", "y'_x'"
XY, XN, X0Y, X0N = "x,y", "x,y'", "x',y", "x',y'"
"""Names of the cells: outcomes under each treatment, and what people chose with what they had."""

_LATEX = {
    Y_X: "y_x",
    N_X: "y'_x",
    Y_X0: "y_{x'}",
    N_X0: "y'_{x'}",
    XY: "x, y",
    XN: "x, y'",
    X0Y: "x', y",
    X0N: "x', y'",
}


CELLS = {
    EXPERIMENTAL: ((N_X0, Y_X0), (N_X, Y_X)),
    OBSERVATIONAL: ((X0N, X0Y), (XN, XY)),
}
"""By table, the name of the cell of each arm, the untreated first, and each outcome, no response first."""

BINARY = ("0", "1")
"""What arms and outcomes are called unless the study has names for them."""


@lru_cache(maxsize=64)
def two_by_two(arms: Sequence[str] = BINARY, outcomes: Sequence[str] = BINARY, missing: str = DROP) -> Structure:
    """Two arms and two outcomes by the study's names.

    Parameters
    ----------
    arms : tuple of two names
        The untreated, then the treated.
    outcomes : tuple of two names
        No response, then the response.
    missing
        ``drop``, or ``set`` where a row without an outcome shows that it may have either.

    Returns
    -------
    Eight response types; an experimental table with two arms, and an observational one.
    """
    variables = (Variable("X", tuple(arms)), Variable("Y0", tuple(outcomes)), Variable("Y1", tuple(outcomes)))
    x, y0, y1 = enumerate_types(variables).T == 1
    shown = np.where(x, y1, y0)

    def group(name: str, table: str, cells: dict[str, npt.NDArray[np.bool_]]) -> Group:
        found = (Cell(cell, tuple(map(bool, types)), _LATEX[cell]) for cell, types in cells.items())
        return Group(name, table, tuple(found))

    groups = (
        group(TREATED, EXPERIMENTAL, {Y_X: y1, N_X: ~y1}),
        group(CONTROL, EXPERIMENTAL, {Y_X0: y0, N_X0: ~y0}),
        group(
            OBSERVATIONAL,
            OBSERVATIONAL,
            {XY: x & shown, XN: x & ~shown, X0Y: ~x & shown, X0N: ~x & ~shown},
        ),
    )
    description = Description(TWO_BY_TWO_KIND, tuple(arms), tuple(outcomes), tried=tuple(arms), missing=missing)
    sets = _missing_outcomes() if missing == SET else ()
    return Structure(variables, groups, (("Y", tuple(map(int, shown))),), sets, description)


UNKNOWN = {EXPERIMENTAL: ("?_x'", "?_x"), OBSERVATIONAL: ("x',?", "x,?")}
"""By table, the name of the set of rows of each arm, the untreated first, that have no outcome."""


def _missing_outcomes() -> tuple[ObservationSet, ...]:
    group = {EXPERIMENTAL: (CONTROL, TREATED), OBSERVATIONAL: (OBSERVATIONAL, OBSERVATIONAL)}
    return tuple(
        ObservationSet(UNKNOWN[table][arm], table, group[table][arm], CELLS[table][arm])
        for table in CELLS
        for arm in (1, 0)
    )


TWO_BY_TWO = two_by_two()
"""Eight response types; an experimental table with two arms, and an observational one."""

EXPERIMENT_ALONE = TWO_BY_TWO.only([EXPERIMENTAL])
"""The same people seen through an experiment alone."""


def two_by_two_law(a: FloatArray, b: FloatArray, joint: FloatArray | None = None) -> Law:
    """The law with these probabilities.

    Parameters
    ----------
    a, b : shape (rows,)
        P(y_x) and P(y_x').
    joint : shape (rows, 4), or None
        P(x,y), P(x,y'), P(x',y), P(x',y'); None for an experiment alone.

    Returns
    -------
    The law, one row each.
    """
    arms = np.stack([a, 1 - np.asarray(a), b, 1 - np.asarray(b)], axis=1)
    if joint is None:
        return Law(EXPERIMENT_ALONE, arms)
    return Law(TWO_BY_TWO, np.concatenate([arms, joint], axis=1))


def cell_of(x: npt.NDArray[np.integer[Any]], y: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.intp]:
    """The cell of a table: both tables list the treated first, and those who respond before others.

    Parameters
    ----------
    x, y : shape (entries,)
        Treatment and outcome, one if true.

    Returns
    -------
    Shape (entries,): positions among the cells of the table.
    """
    return np.asarray(2 * (1 - x) + (1 - y), dtype=np.intp)


def cell_counts(
    place: npt.NDArray[np.intp],
    profiles: int,
    x: npt.NDArray[np.integer[Any]],
    y: npt.NDArray[np.integer[Any]],
    rows: FloatArray | None = None,
) -> FloatArray:
    """Counts of one table in the order of its cells.

    Parameters
    ----------
    place : shape (entries,)
        Which profile each entry has.
    profiles
        How many profiles there are.
    x, y : shape (entries,)
        Treatment and outcome, one if true.
    rows : shape (entries,), or None
        For how many rows each entry stands; one each if None.

    Returns
    -------
    Shape (profiles, cells of the table).
    """
    counts = np.bincount(4 * place + cell_of(x, y), weights=rows, minlength=4 * profiles)
    return np.asarray(counts, dtype=np.float64).reshape(profiles, 4)

"""The nearest law that some population of the types an assumption leaves has: the most likely one.

An estimated law may contradict an assumption by noise alone. Of the laws that populations without the excluded response
types have, the one is taken under which the rows are most likely (expectation-maximisation over the types).
"""

from __future__ import annotations

import numpy as np

from pnsight._typing import BoolArray, FloatArray
from pnsight.data.law import Law
from pnsight.estimands.compiled import coherence_terms

_ROUNDS = 2000
_CONVERGED = 1e-10
_ROUNDING = 1e-9
_LEAST = 1e-300


def nearest_law(law: Law, possible: BoolArray, rows: FloatArray | None = None) -> Law:
    """The most likely laws of populations that have only some of the response types.

    Parameters
    ----------
    law
        Estimated laws, one a row.
    possible : shape (types,)
        Types that there may be.
    rows : shape (groups,) or (laws, groups), or None
        How many rows of each group a law rests on; one each if None.

    Returns
    -------
    A law that such a population has is left as it is; so are groups that nothing is known of.
    """
    structure = law.structure
    terms = coherence_terms(structure, tuple(possible.tolist()))
    broken = np.flatnonzero((terms(law) < -_ROUNDING).any(axis=0))
    if not len(broken):
        return law
    weight = np.ones((1, len(structure.groups))) if rows is None else np.atleast_2d(rows)
    weight = np.broadcast_to(weight, (len(law), len(structure.groups)))[broken]
    cells = law.cells[broken]
    known = ~np.isnan(cells)
    counts = np.where(known, structure.for_cells(np.maximum(weight, _ROUNDING)) * np.nan_to_num(cells), 0.0)
    found = law.cells.copy()
    fitted = structure.incidence[:, possible] @ _most_likely(counts, structure.incidence[:, possible]).T
    found[broken] = np.where(known, fitted.T, np.nan)
    return Law(structure, found)


def _most_likely(counts: FloatArray, incidence: FloatArray) -> FloatArray:
    """Shares of the types, shape (rows, types), under which counts of cells (rows, cells) are most likely."""
    types = np.full((len(counts), incidence.shape[1]), 1 / incidence.shape[1])
    moving = np.arange(len(counts))
    for _ in range(_ROUNDS):
        before = types[moving]
        once = _em_step(before, counts[moving], incidence)
        twice = _em_step(once, counts[moving], incidence)
        types[moving] = _em_step(_ahead(before, once, twice), counts[moving], incidence)
        moving = moving[np.abs(types[moving] - before).max(axis=1) > _CONVERGED]
        if not len(moving):
            break
    return types


def _em_step(types: FloatArray, counts: FloatArray, incidence: FloatArray) -> FloatArray:
    expected = np.maximum(types @ incidence.T, _LEAST)
    total = types * ((counts / expected) @ incidence)
    return np.asarray(total / np.maximum(total.sum(axis=1, keepdims=True), _LEAST))


def _ahead(start: FloatArray, once: FloatArray, twice: FloatArray) -> FloatArray:
    """Where two steps seem to lead (Varadhan and Roland 2008)."""
    step, bend = once - start, twice - 2 * once + start
    length = np.sqrt((step**2).sum(axis=1) / np.maximum((bend**2).sum(axis=1), _LEAST))
    length = np.clip(length, 1.0, 1e3)[:, None]
    ahead = start + 2 * length * step + length**2 * bend
    return np.where((ahead > 0).all(axis=1, keepdims=True), ahead, twice)

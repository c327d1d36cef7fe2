"""The nearest law that some population of the types an assumption leaves has: the most likely one.

An estimated law may contradict an assumption by noise alone. Of the laws that populations without the excluded response
types have, the one is taken under which the rows are most likely (expectation-maximisation over the types). Where
there are limits, it is the law nearest in standard errors that satisfies every inequality (C. Hildreth 1957, "A
quadratic programming procedure"), which is the most likely one in large samples.
"""

from __future__ import annotations

import numpy as np

from pnsight._typing import BoolArray, FloatArray
from pnsight.data.law import Law
from pnsight.estimands.compiled import LinearTerms, coherence_terms
from pnsight.estimands.sampling_error import PRIOR_ROWS

_ROUNDS = 2000
_CONVERGED = 1e-10
_ROUNDING = 1e-9
_LEAST = 1e-300
_SWEEPS = 500
_MET = 1e-12
_FEWEST, _MANY, _MOST = 1e-9, 1e6, 1e12
"""Between which rows are taken to be, and what is taken where nothing is said."""


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


def project_onto_inequalities(
    law: Law, terms: LinearTerms, rows: FloatArray | None = None, unless: BoolArray | None = None
) -> Law:
    """The nearest laws at which no term is negative, distance being counted in standard errors.

    Parameters
    ----------
    law
        Estimated laws, one a row.
    terms
        Functions of the law; those that bend are taken for straight next to it, again and again.
    rows : shape (groups,) or (laws, groups), or None
        How many rows of each group a law rests on; as many in each if None.
    unless : shape (laws,), or None
        Laws that are left as they are.

    Returns
    -------
    A law at which no term is negative is left as it is.
    """
    structure = law.structure
    broken: BoolArray = np.asarray((terms(law) < -_ROUNDING).any(axis=0) & ~np.isnan(law.cells).any(axis=1))
    if unless is not None:
        broken &= ~unless
    if not broken.any():
        return law
    weight = np.full((1, len(structure.groups)), _MANY) if rows is None else np.atleast_2d(rows)
    weight = np.broadcast_to(weight, (len(law), len(structure.groups)))[broken]
    found = law.cells.copy()
    found[broken] = _hildreth(law[broken], terms, np.clip(np.nan_to_num(weight), _FEWEST, _MOST))
    return Law(structure, found)


def _hildreth(law: Law, terms: LinearTerms, rows: FloatArray) -> FloatArray:
    """Cells moved along one inequality after the other, and back again as far as one need not have been."""
    cells = law.cells.copy()
    multipliers = np.zeros((len(terms.constant), len(cells)))
    moved = np.zeros((len(terms.constant), *cells.shape))
    tangents = _tangents(terms, law, law, rows)
    for _ in range(_SWEEPS):
        if terms.is_curved:
            tangents = _tangents(terms, Law(law.structure, cells), law, rows)
        for term, (slope, offset, direction, length) in enumerate(tangents):
            value = (cells * slope).sum(axis=1) + offset
            step = np.divide(-value, length, out=np.zeros(len(cells)), where=length > 0)
            multipliers[term] = np.maximum(multipliers[term] + step, 0.0)
            cells -= moved[term]
            moved[term] = multipliers[term][:, None] * direction
            cells += moved[term]
        if (terms(Law(law.structure, cells)) > -_MET).all():
            break
    return cells


def _tangents(
    terms: LinearTerms, here: Law, law: Law, rows: FloatArray
) -> list[tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
    """Of each term next to a law: its slope and offset, where it pulls the estimates, and how far by a unit of that."""
    found = []
    for term, value in enumerate(terms(here)):
        slope = terms.gradients(here, np.full(len(here), term, dtype=np.intp))
        direction = _by_variance(slope, law, rows)
        found.append((slope, value - (here.cells * slope).sum(axis=1), direction, (slope * direction).sum(axis=1)))
    return found


def _by_variance(slope: FloatArray, law: Law, rows: FloatArray) -> FloatArray:
    """How laws move if pulled along a slope, those of few rows most: their covariance times it, shape (laws, cells)."""
    found = np.empty_like(slope)
    for number, some in enumerate(law.structure.group_slices):
        own = rows[:, number, None]
        shares = (own * law.cells[:, some] + PRIOR_ROWS / (some.stop - some.start)) / (own + PRIOR_ROWS)
        mean = (shares * slope[:, some]).sum(axis=1, keepdims=True)
        found[:, some] = shares * (slope[:, some] - mean) / own
    return found


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

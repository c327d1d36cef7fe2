"""Compiled bounds: an estimand as max and min of a few linear functions of the law.

Over all populations with a given law, the extremes of a linear function of the response types are two linear programs,

    lower = min c.p  =  max l.q        subject to  A p = q, p >= 0   and  A^T l <= c

with A the incidence, q the law and l the dual variables. The vertices of the dual polyhedron do not depend on the law:
enumerated once, they turn the programs into closed forms, and its rays are the inequalities that make a law coherent.
Tian and Pearl's bounds on PNS come out again. Source: A. Balke and J. Pearl (1997). With `limits`, such as a slack or
an assumption that few are harmed, the dual has a variable for each, and the same vertices hold however much one allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import lcm
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.structure import Structure
from pnsight.errors import LimitError
from pnsight.estimands.double_description import IntArray, extreme_rays, independent_rows
from pnsight.estimands.limits import CovarianceLimit, Limit, LimitShape
from pnsight.estimands.resolve import ROUNDING

MAX_COMPILED_TYPES = 500
"""Structures with more response types are solved query by query."""

_EXACT = 1e-9
"""Coefficients are small whole numbers, or payoffs; sums of them are off by less."""

_LARGEST_WHOLE = 10_000

_MAX_RAYS_WITH_LIMITS = 3_000
"""Moves between cells make many more rays; with more than this, compiling takes minutes."""


@dataclass(frozen=True)
class LinearTerms:
    """Linear functions of a law.

    Attributes
    ----------
    coefficients : shape (terms, cells)
    constant : shape (terms,)
    """

    coefficients: FloatArray
    constant: FloatArray

    def __call__(self, law: Law) -> FloatArray:
        """Value of each term, shape (terms, rows); NaN only where a cell that the term uses is unknown."""
        unknown = np.isnan(law.cells)
        values = self.coefficients @ np.where(unknown, 0.0, law.cells).T + self.constant[:, None]
        if unknown.any():
            values[(self.coefficients != 0).astype(np.float64) @ unknown.T.astype(np.float64) > 0] = np.nan
        return np.asarray(values)

    @property
    def is_curved(self) -> bool:
        """Whether it is more than a linear function of the law."""
        return False

    def tangent(self, law: Law) -> LinearTerms:
        """Linear functions that agree with these at the first row of a law, and next to it."""
        return self

    def gradients(self, law: Law, terms: npt.NDArray[np.intp]) -> FloatArray:
        """Derivatives by the cells of one term a row, at each row of a law, shape (rows, cells)."""
        return np.asarray(self.coefficients[terms])


@dataclass(frozen=True)
class CurvedTerms(LinearTerms):
    """Linear functions of a law and of one smooth function of it.

    Attributes
    ----------
    weights : shape (terms,)
    curve : what the weights are multiplied by
    """

    weights: FloatArray
    curve: CovarianceLimit

    def __call__(self, law: Law) -> FloatArray:
        """Value of each term, shape (terms, rows)."""
        bent = np.where(self.weights[:, None] != 0, self.weights[:, None] * self.curve(law.cells)[None, :], 0.0)
        return np.asarray(super().__call__(law) + bent)

    @property
    def is_curved(self) -> bool:
        """Whether any term is more than a linear function of the law."""
        return bool(self.weights.any())

    def tangent(self, law: Law) -> LinearTerms:
        """Linear functions that agree with these at the first row of a law, and next to it."""
        cells = np.nan_to_num(law.cells[:1])
        slope = self.curve.gradient(cells)[0]
        offset = self.curve(cells)[0] - slope @ cells[0]
        return LinearTerms(self.coefficients + np.outer(self.weights, slope), self.constant + self.weights * offset)

    def gradients(self, law: Law, terms: npt.NDArray[np.intp]) -> FloatArray:
        """Derivatives by the cells of one term a row, at each row of a law, shape (rows, cells)."""
        return np.asarray(self.coefficients[terms] + self.weights[terms, None] * self.curve.gradient(law.cells))


@dataclass(frozen=True)
class CompiledBounds:
    """The tight bounds on one linear function of the response types.

    Attributes
    ----------
    lower, upper : the lower end is the largest of the one, the upper end the smallest of the other
    coherence : nonnegative for every law that some population has
    """

    structure: Structure
    lower: LinearTerms
    upper: LinearTerms
    coherence: LinearTerms

    def bounds(self, law: Law) -> tuple[FloatArray, FloatArray]:
        """Both ends for each row of the law, shape (rows,) each; they may cross where no population has the law."""
        return self.lower(law).max(axis=0), self.upper(law).min(axis=0)

    def tangent(self, law: Law) -> CompiledBounds:
        """The bounds with linear functions that agree with these at the first row of a law, and next to it."""
        return CompiledBounds(self.structure, self.lower.tangent(law), self.upper.tangent(law), self.coherence)


def incompatibility(law: Law) -> FloatArray:
    """By how much no population can have each law, the worst violation of an inequality; zero where one can.

    With two arms and two outcomes: P(x,y) <= P(y_x) <= 1 - P(x,y') and P(x',y) <= P(y_x') <= 1 - P(x',y').

    Parameters
    ----------
    law
        One group a row.

    Returns
    -------
    Shape (rows,).
    """
    return np.asarray(np.maximum(0.0, -coherence_terms(law.structure)(law).min(axis=0, initial=0.0)))


def is_contradictory(law: Law, limits: tuple[Limit, ...] = ()) -> npt.NDArray[np.bool_]:
    """Whether no population has each law, by more than rounding; what is unknown of a law contradicts nothing.

    Parameters
    ----------
    law
        One group a row.
    limits
        How far populations may differ from it.

    Returns
    -------
    Shape (rows,).
    """
    worst = np.fmin.reduce(coherence_terms(law.structure, None, limits)(law), axis=0, initial=0.0)
    return np.asarray(worst < -ROUNDING)


def compile_bounds(
    structure: Structure,
    value: npt.NDArray[np.generic],
    possible: npt.NDArray[np.bool_] | None = None,
    limits: tuple[Limit, ...] = (),
) -> CompiledBounds:
    """Bounds on the mean of a value of the response types, as formulas; compiled once and kept.

    Parameters
    ----------
    structure
        Which types there are, and what the tables show of them.
    value : shape (types,)
        Its value for each type, such as one where an event holds.
    possible : shape (types,), or None
        Types that there may be; None for all.
    limits
        What else is limited; the formulas are compiled for any right sides.

    Returns
    -------
    The compiled bounds.
    """
    chosen = np.ones(structure.n_types, dtype=bool) if possible is None else possible
    numbers = tuple(np.asarray(value, dtype=np.float64).tolist())
    return _at_right_sides(structure, numbers, tuple(chosen.tolist()), limits)


@lru_cache(maxsize=256)
def _at_right_sides(
    structure: Structure, value: tuple[float, ...], possible: tuple[bool, ...], limits: tuple[Limit, ...]
) -> CompiledBounds:
    lower, upper = _compile(structure, value, possible, tuple(each.shape for each in limits))
    coherence = coherence_terms(structure, possible, limits)
    return CompiledBounds(structure, lower.at(limits), upper.at(limits), coherence)


class _OpenTerms(NamedTuple):
    """Terms of which the right sides of the limits are still open: what each is multiplied by, (terms, limits)."""

    terms: LinearTerms
    multipliers: FloatArray

    def at(self, limits: tuple[Limit, ...]) -> LinearTerms:
        """The terms at given right sides."""
        if not limits:
            return self.terms
        constant = self.terms.constant + self.multipliers @ np.array([each.at_most for each in limits])
        coefficients = self.terms.coefficients.copy()
        found: CovarianceLimit | None = None
        weights = np.zeros(len(constant))
        for each, own in zip(limits, self.multipliers.T, strict=True):
            if each.of_cells:
                coefficients += np.outer(own, each.of_cells)
            if each.curve is not None:
                found, weights = each.curve, own
        if found is None:
            return LinearTerms(coefficients, constant)
        return CurvedTerms(coefficients, constant, weights, found)


@lru_cache(maxsize=256)
def _compile(
    structure: Structure, value: tuple[float, ...], possible: tuple[bool, ...], shapes: tuple[LimitShape, ...]
) -> tuple[_OpenTerms, _OpenTerms]:
    if structure.n_types > MAX_COMPILED_TYPES:
        raise LimitError(
            f"the structure has {structure.n_types:,} response types, more than the {MAX_COMPILED_TYPES} that are "
            "compiled to a formula; merge values, or solve the linear program query by query."
        )
    basis = _basis(structure, possible, shapes)
    identified, unit, whole = basis.in_whole_numbers(basis.objective(np.array(value)[list(possible)]))
    found = []
    for sign in (1, -1):
        duals, multipliers = basis.dual_vertices(sign * whole)
        terms = basis.terms(identified + sign * unit * duals)
        found.append(_OpenTerms(terms, -sign * unit * multipliers))
    return found[0], found[1]


def identified_terms(
    structure: Structure,
    value: npt.NDArray[np.generic],
    possible: npt.NDArray[np.bool_] | None = None,
    limits: tuple[Limit, ...] = (),
) -> LinearTerms | None:
    """The mean of a value of the types as a linear function of the law; None if the law does not determine it.

    Parameters
    ----------
    structure
        Which types there are, and what the tables show of them.
    value : shape (types,)
        Such as one where an event holds.
    possible : shape (types,), or None
        Types that there may be; None for all.
    limits
        How far populations may differ from the law.

    Returns
    -------
    One linear term, or None.
    """
    chosen = None if possible is None or possible.all() else tuple(possible.tolist())
    basis = _basis(structure, chosen, tuple(each.shape for each in limits))
    wanted = basis.objective(np.asarray(value, dtype=np.float64)[slice(None) if chosen is None else np.array(chosen)])
    found: FloatArray = basis.solve(wanted)
    if np.abs(found @ basis.columns - wanted).max() > _EXACT:
        return None
    return basis.terms(found[None, :])


def coherence_terms(
    structure: Structure, possible: tuple[bool, ...] | None = None, limits: tuple[Limit, ...] = ()
) -> LinearTerms:
    """What is nonnegative for every law that some population has: the rays of the dual polyhedron.

    Parameters
    ----------
    structure
        Which types there are, and what the tables show of them.
    possible
        Whether there may be people of each type; None for all.
    limits
        What else is limited.

    Returns
    -------
    One function of the law for each inequality.
    """
    return _coherence(structure, possible, tuple(each.shape for each in limits)).at(limits)


@lru_cache(maxsize=256)
def _coherence(structure: Structure, possible: tuple[bool, ...] | None, shapes: tuple[LimitShape, ...]) -> _OpenTerms:
    basis = _basis(structure, possible, shapes)
    duals, multipliers = basis.dual_rays()
    found, more = basis.terms(duals), basis.equalities()
    terms = LinearTerms(
        np.concatenate([found.coefficients, more.coefficients]), np.concatenate([found.constant, more.constant])
    )
    return _OpenTerms(terms, np.vstack([multipliers, np.zeros((len(more.constant), len(shapes)))]))


@lru_cache(maxsize=256)
def _basis(structure: Structure, possible: tuple[bool, ...] | None, shapes: tuple[LimitShape, ...] = ()) -> _Basis:
    kept = np.ones(structure.n_types, dtype=bool) if possible is None else np.array(possible)
    return _Basis(structure, kept, shapes)


class _Basis:
    """Coordinates of the dual: a constant and all cells but the last of each group, without those that follow.

    After them come those of the limits. The unknowns are the types that there may be, and then the moves.
    """

    def __init__(self, structure: Structure, kept: npt.NDArray[np.bool_], shapes: tuple[LimitShape, ...] = ()) -> None:
        self.structure = structure
        incidence = structure.incidence[:, kept].astype(np.int64)
        moves = [(number, *move) for number, (_, some) in enumerate(shapes) for move in some]
        self.n_moves = len(moves)
        moved = np.zeros((structure.n_cells, len(moves)), np.int64)
        self.limited: IntArray = np.zeros((len(shapes), incidence.shape[1] + len(moves)), np.int64)
        for number, (of_types, _) in enumerate(shapes):
            if of_types:
                self.limited[number, : incidence.shape[1]] = np.array(of_types, np.int64)[kept]
        for place, (number, counted, belongs) in enumerate(moves):
            moved[counted, place], moved[belongs, place] = 1, -1
            self.limited[number, incidence.shape[1] + place] = 1
        self.free = [some.start + j for some in structure.group_slices for j in range(some.stop - some.start - 1)]
        whole = np.append(np.ones(incidence.shape[1], np.int64), np.zeros(len(moves), np.int64))
        self.matrix: IntArray = np.vstack([whole[None, :], np.hstack([incidence, moved])[self.free]])
        self.independent = independent_rows(self.matrix) if self.matrix.size else []
        self.columns: IntArray = self.matrix[self.independent]

    def objective(self, value: FloatArray) -> FloatArray:
        """A value of the types that there may be, as one of all unknowns."""
        return np.append(value, np.zeros(self.n_moves))

    def dual_vertices(self, objective: IntArray) -> tuple[FloatArray, FloatArray]:
        """Vertices of {l, t >= 0 : A^T l - G^T t <= objective}: shapes (vertices, coordinates), (vertices, limits)."""
        size, limits = len(self.columns), len(self.limited)
        positive = np.zeros((limits + 1, size + limits + 1), np.int64)
        positive[:, size:] = np.eye(limits + 1, dtype=np.int64)
        rays = self._rays(np.vstack([np.column_stack([-self.columns.T, self.limited.T, objective]), positive]))
        found = rays[rays[:, -1] > 0]
        vertices = np.asarray(found[:, :-1] / found[:, -1:])
        return vertices[:, :size], vertices[:, size:]

    def dual_rays(self) -> tuple[FloatArray, FloatArray]:
        """Rays of {l, t >= 0 : A^T l + G^T t >= 0}: shapes (rays, coordinates) and (rays, limits)."""
        size, limits = len(self.columns), len(self.limited)
        positive = np.zeros((limits, size + limits), np.int64)
        positive[:, size:] = np.eye(limits, dtype=np.int64)
        rays = self._rays(np.vstack([np.column_stack([self.columns.T, self.limited.T]), positive]))
        rays = rays[rays[:, :size].any(axis=1)]  # the others say that no right side is negative
        return rays[:, :size].astype(np.float64), rays[:, size:].astype(np.float64)

    def _rays(self, inequalities: IntArray) -> IntArray:
        if not len(self.limited):
            return extreme_rays(inequalities)
        try:
            return extreme_rays(inequalities, _MAX_RAYS_WITH_LIMITS)
        except LimitError:
            raise LimitError(
                f"with {len(self.structure.description.outcomes)} outcomes, slack, misread outcomes and assumptions "
                "that say how much are too many together to be written as a formula; leave some out, merge outcomes, "
                "or ask about fewer arms."
            ) from None

    def in_whole_numbers(self, objective: FloatArray) -> tuple[FloatArray, float, IntArray]:
        """The objective as a part that the law determines, and a unit times a part in whole numbers."""
        if (objective == np.rint(objective)).all() and np.abs(objective).max(initial=0.0) <= _LARGEST_WHOLE:
            return np.zeros(len(self.columns)), 1.0, np.rint(objective).astype(np.int64)
        identified = self.solve(objective)
        rest = objective - identified @ self.columns
        scale = np.abs(rest).max(initial=0.0)
        if scale <= _EXACT * np.abs(objective).max(initial=1.0):
            return identified, 0.0, np.zeros(len(objective), np.int64)
        parts = [Fraction(share).limit_denominator(_LARGEST_WHOLE) for share in rest / scale]
        divisor = lcm(*(part.denominator for part in parts))
        whole = [int(part * divisor) for part in parts]
        if max(map(abs, whole)) > _LARGEST_WHOLE or np.abs(np.array(whole) / divisor - rest / scale).max() > _EXACT:
            raise LimitError("the values of the response types are too fine to be compiled to a formula; round them.")
        return identified, float(scale) / divisor, np.array(whole, dtype=np.int64)

    def solve(self, objective: FloatArray) -> FloatArray:
        """Dual coordinates that match the objective at as many types as there are coordinates."""
        some = independent_rows(self.columns.T)
        return np.asarray(np.linalg.solve(self.columns[:, some].T.astype(np.float64), objective[some]))

    def equalities(self) -> LinearTerms:
        """Cells that follow from others where types are left out, as pairs of opposite inequalities."""
        left = [row for row in range(len(self.matrix)) if row not in self.independent]
        duals = np.array([self.solve(self.matrix[row].astype(np.float64)) for row in left])
        followed = self.terms(duals.reshape(len(left), len(self.columns)), simplify=False)
        own = np.zeros((len(left), self.structure.n_cells))
        own[np.arange(len(left)), [self.free[row - 1] for row in left]] = 1.0
        gap, constant = own - followed.coefficients, -followed.constant
        return LinearTerms(np.concatenate([gap, -gap]), np.concatenate([constant, -constant]))

    def terms(self, duals: FloatArray, simplify: bool = True) -> LinearTerms:
        """Linear functions of the law with these dual coordinates, in the cells that say it most simply."""
        coefficients = np.zeros((len(duals), self.structure.n_cells))
        constant = np.zeros(len(duals))
        for place, row in enumerate(self.independent):
            if row == 0:
                constant = duals[:, place].copy()
            else:
                coefficients[:, self.free[row - 1]] = duals[:, place]
        if simplify:
            for term in range(len(duals)):
                constant[term] = _simplify(coefficients[term], constant[term], self.structure)
        return LinearTerms(coefficients, constant)


def _simplify(coefficients: FloatArray, constant: float, structure: Structure) -> float:
    """Write a term with as few cells as possible, in place, and return its constant.

    The cells of a group add up to one, so a multiple of their sum can be exchanged for a constant.
    """
    options = [_exchanges(coefficients[some]) for some in structure.group_slices]

    def cost(choice: tuple[tuple[float, int, int], ...]) -> tuple[int, float, int]:
        left = constant - sum(shift for shift, _, _ in choice)
        used = sum(number for _, number, _ in choice)
        return used + (abs(left) > _EXACT), abs(left), sum(places for _, _, places in choice)

    best = min(product(*options), key=cost)
    for some, (shift, _, _) in zip(structure.group_slices, best, strict=True):
        coefficients[some] += shift
    coefficients[np.abs(coefficients) <= _EXACT] = 0.0
    left = constant - sum(shift for shift, _, _ in best)
    return 0.0 if abs(left) <= _EXACT else left


def _exchanges(own: FloatArray) -> list[tuple[float, int, int]]:
    """What may be added to all cells of a group, and then how many remain, and at which places, as a tie-break."""
    found = []
    for shift in sorted({0.0, *(-own).tolist()}):
        remaining = np.flatnonzero(np.abs(own + shift) > _EXACT)
        found.append((shift, len(remaining), int(remaining.sum())))
    return found

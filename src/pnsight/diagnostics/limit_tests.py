"""Tests of assumptions that say how much, or that are made with slack: at the law of each group asked about.

Such an assumption holds of a group, and not of each of its profiles. What it implies for the law is compiled: the rays
of its program that are not there without it, each a function of the law that must not be negative. Each is compared
with its standard error (the delta method), and the chance of any false alarm is shared out among all (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from pnsight._typing import BoolArray, FloatArray
from pnsight.data.law import Law
from pnsight.data.structure import Structure
from pnsight.diagnostics.verdict import FAMILYWISE_ALPHA
from pnsight.errors import AssumptionError
from pnsight.estimands.assumptions import CORRELATION, find_assumption
from pnsight.estimands.compiled import CurvedTerms, LinearTerms, coherence_terms, compile_bounds
from pnsight.estimands.confidence import linear_standard_error
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.graded import graded_limit
from pnsight.estimands.resolve import ROUNDING
from pnsight.estimands.sampling_error import SamplingError
from pnsight.notes import Note

_EXACT = 9
"""Digits by which inequalities are told apart."""


@dataclass(frozen=True)
class LimitTest:
    """What the law of each group says about assumptions.

    Attributes
    ----------
    estimand : with the assumptions
    law : shape (groups,)
    score : shape (groups,)
        By how many standard errors what is implied is broken at most; negative where it is not.
    comparisons : how many there are, of all groups
    """

    estimand: Estimand
    law: Law
    score: FloatArray
    broken: BoolArray
    comparisons: int

    @property
    def adjusted(self) -> FloatArray:
        """P-values that allow for all comparisons, shape (groups,)."""
        return np.asarray(np.minimum(1.0, np.exp(log_ndtr(-self.score)) * self.comparisons))

    @property
    def contradicted(self) -> BoolArray:
        """Which groups contradict the assumptions by more than chance explains."""
        return np.asarray(self.broken & (self.adjusted < FAMILYWISE_ALPHA))

    def note(self, groups: list[str]) -> Note:
        """How the assumptions stand up; `AssumptionError` is raised where a group contradicts them.

        Parameters
        ----------
        groups
            Names of the groups.

        Returns
        -------
        A note that says so, and where the nearest law had to be taken.
        """
        names = self.estimand.assume
        if self.contradicted.any():
            worst = int(np.where(self.contradicted, self.score, -np.inf).argmax())
            values = {"comparisons": self.comparisons, "adjusted": self.adjusted[worst]}
            also = [groups[row] for row in np.flatnonzero(self.contradicted) if row != worst]
            found = {**self._figures(worst, groups), **values, "also": also[:5], "more": max(0, len(also) - 5)}
            raise AssumptionError(Note("limit_contradicted", found, "failure"))
        if self.broken.any():
            worst = int(np.where(self.broken, self.score, -np.inf).argmax())
            count = {"groups": self.broken.sum(), "of": len(groups)}
            return Note("limit_within_chance", {**self._figures(worst, groups), **count})
        return Note("limit_not_contradicted", {"assumed": names, "groups": len(groups)})

    def _figures(self, row: int, groups: list[str]) -> dict[str, Any]:
        """What one group's law says of the assumption that it breaks most."""
        names = self.estimand.assume
        shown = [(name, *_shown(self.estimand, name, self.law[row : row + 1])) for name in names]
        name, value, _ = max(shown, key=lambda each: each[2])
        kind = find_assumption(name).kind
        return {"assumed": names, "group": groups[row], "kind": kind, "value": value, "errors": self.score[row]}


def compare_limits(estimand: Estimand, law: Law, rows: FloatArray | SamplingError) -> LimitTest:
    """Compare what assumptions imply with the law of each group.

    Parameters
    ----------
    estimand
        With the assumptions.
    law
        Estimated laws, one group a row.
    rows
        How far they stray, as `end_intervals` takes it.

    Returns
    -------
    What the laws say.
    """
    terms = implied_terms(estimand, law.structure)
    value = terms(law)
    score = np.full(value.shape, -np.inf)
    for term in range(len(value)):
        slope = terms.gradients(law, np.full(len(law), term, dtype=np.intp))
        error = linear_standard_error(np.nan_to_num(slope), law, rows)
        score[term] = np.divide(-value[term], error, out=np.full(len(law), -np.inf), where=error > 0)
    worst = np.fmax.reduce(score, axis=0, initial=-np.inf)
    broken = np.asarray((value < -ROUNDING).any(axis=0))
    return LimitTest(estimand, law, worst, broken, max(1, value.size))


def implied_terms(estimand: Estimand, structure: Structure) -> LinearTerms:
    """What must not be negative under the assumptions of an estimand, but for what holds of every law.

    Parameters
    ----------
    estimand
        With the assumptions.
    structure
        What the tables show.

    Returns
    -------
    Functions of the law.
    """
    found = estimand.compiled(structure).numerator.coherence
    always = {_key(row) for row in _rows(coherence_terms(structure, None, estimand.relaxations(structure)))}
    kept = np.array([_key(row) not in always for row in _rows(found)], dtype=bool)
    if isinstance(found, CurvedTerms):
        return CurvedTerms(found.coefficients[kept], found.constant[kept], found.weights[kept], found.curve)
    return LinearTerms(found.coefficients[kept], found.constant[kept])


def _rows(terms: LinearTerms) -> FloatArray:
    """Coefficients of each term, of the cells, the constant and what bends."""
    bends = terms.weights if isinstance(terms, CurvedTerms) else np.zeros(len(terms.constant))
    return np.column_stack([terms.coefficients, terms.constant, bends])


def _key(row: FloatArray) -> tuple[float, ...]:
    """The same for inequalities that differ in their unit only."""
    return tuple((np.round(row / np.abs(row).max(initial=1e-300), _EXACT) + 0.0).tolist())


def _shown(estimand: Estimand, name: str, law: Law) -> tuple[float, float]:
    """What one law says of what is assumed, as near to it as it can be, and by how much it is off.

    The least share harmed, the largest correlation, or the least share of people of kinds that are left out.
    """
    structure, relaxations = law.structure, estimand.relaxations(law.structure)
    assumed = find_assumption(name)
    if assumed.amount is None:
        own = Estimand(contrast=estimand.contrast, horizon=estimand.horizon, assume=(name,))
        least = compile_bounds(structure, ~own.possible(structure), None, relaxations).lower(law).max()
        return float(least), float(least)
    limit = graded_limit(structure, estimand.contrast, estimand.horizon, assumed)
    if limit is None:
        return float("nan"), -np.inf
    least = compile_bounds(structure, np.array(limit.of_types), None, relaxations).lower(law).max()
    if assumed.kind != CORRELATION or limit.curve is None:
        return float(least), float(least) - assumed.amount
    scale = float(limit.curve.scale(law.cells)[0]) or np.nan
    excess = (float(least) - float(limit.curve(law.cells)[0])) / scale
    return assumed.amount - excess, excess

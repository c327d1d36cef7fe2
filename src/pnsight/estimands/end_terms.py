"""The estimated terms of one end of a bound, and what their errors mean for the largest of them.

An end is the largest of a few linear functions of the law (the smallest, for an upper end, whose signs are changed
here), divided by the probability of an event where the quantity conditions on one. The limits of a ratio are those r
for which numerator - r event may be zero (Fieller 1954, "Some problems in interval estimation").

The largest of several estimates is too large more often than each of them. Only terms that contend for the maximum
count (adaptive inequality selection: Chernozhukov, Lee and Rosen 2013, "Intersection bounds: estimation and
inference"), and their correlations (`critical_values`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np

from pnsight._typing import FloatArray, IndexArray
from pnsight.data.law import Law
from pnsight.estimands.compiled import LinearTerms
from pnsight.estimands.critical_values import normal_cdf, normal_density, of_maximum, spanning_angles
from pnsight.estimands.sampling_error import Reach, SamplingError, Side, TermReach

_FEW_ROWS, _MANY_ROWS = 100.0, 1e12
"""Terms contend for the maximum if they are within sqrt(log rows) standard errors of it (Andrews and Soares 2010,
"Inference for parameters defined by moment inequalities using generalized moment selection"), between these rows."""

_CLOSE = 1.5
"""Standard errors within which terms contend for the median of the maximum: with more, ends that are clearly apart are
corrected too; with fewer, ties are not."""

_SEARCH_STEPS = 8
"""After which limits of ratios are right to four digits."""

_ROUNDING = 1e-12


class EndTerms:
    """One end: the largest of several estimated terms; for an upper end, of their negatives.

    Parameters
    ----------
    terms
        Numerators.
    event
        What they are divided by; None for nothing.
    sign
        1 for a lower end, -1 for an upper one; all that is returned has its sign.
    law
        Estimated laws without unknown cells.
    error
        How far they stray.
    span
        The least and the largest value that the quantity can have.
    """

    def __init__(
        self,
        terms: LinearTerms,
        event: LinearTerms | None,
        sign: Literal[-1, 1],
        law: Law,
        error: SamplingError,
        span: tuple[float, float],
    ) -> None:
        self._law, self._error = law, error
        self._bracket = span if sign > 0 else (-span[1], -span[0])
        self._coefficients = sign * terms.coefficients
        self._event = np.zeros(law.structure.n_cells) if event is None else event.coefficients[0]
        self._is_ratio = event is not None
        self._numerator = sign * terms(law)
        self.chance = np.ones(len(law)) if event is None else np.maximum(event(law)[0], _ROUNDING)
        """Probability of the event, shape (queries,)."""
        self.values = self._numerator / self.chance
        """The terms, shape (terms, queries)."""

    @property
    def value(self) -> FloatArray:
        """The estimate, shape (queries,)."""
        return np.asarray(self.values.max(axis=0))

    @cached_property
    def attained_by(self) -> IndexArray:
        """Which term attains it, shape (queries,)."""
        return np.asarray(self.values.argmax(axis=0))

    @property
    def gradient(self) -> FloatArray:
        """Of the term that attains it, shape (cells, queries)."""
        each = np.arange(len(self._law))
        wide = np.broadcast_to(self._gradients, (*self._gradients.shape[:2], len(each)))
        return np.asarray(wide[self.attained_by, :, each].T)

    @cached_property
    def _gradients(self) -> FloatArray:
        """Of every term, shape (terms, cells, queries or 1)."""
        if not self._is_ratio:
            return self._coefficients[:, :, None]
        along = self._coefficients[:, :, None] - self.values[:, None, :] * self._event[:, None]
        return np.asarray(along / self.chance)

    @cached_property
    def _covariance(self) -> FloatArray:
        return self._error.covariance(self._gradients, self._law.cells.T, self._law.structure)

    @cached_property
    def _errors(self) -> FloatArray:
        """Standard error of each term, shape (terms, queries)."""
        variance = np.maximum(np.einsum("jjq->jq", self._covariance), 0.0)
        return np.sqrt(np.where(variance > _ROUNDING**2, variance, 0.0))

    @cached_property
    def _gaps(self) -> tuple[FloatArray, FloatArray]:
        """How far each term is below the largest, and the standard error of that, shape (terms, queries) each."""
        each = np.arange(len(self._law))
        shared = self._covariance[self.attained_by, :, each].T
        variance = self._errors**2 + self._errors[self.attained_by, each] ** 2 - 2 * shared
        return self.value - self.values, np.sqrt(np.maximum(variance, 0.0))

    @cached_property
    def _angles(self) -> FloatArray:
        """Between the terms that contend for the maximum, along a tree: shape (terms - 1, queries)."""
        return self._angles_within(np.sqrt(np.log(np.clip(self._error.least_rows, _FEW_ROWS, _MANY_ROWS))))

    def _angles_within(self, reach: FloatArray | float) -> FloatArray:
        """Between the terms that are within so many standard errors of the largest."""
        gap, error = self._gaps
        contends = (self._errors > 0) & (gap <= reach * error + _ROUNDING)
        found = np.zeros((len(contends) - 1, contends.shape[1]))
        several = contends.sum(axis=0) > 1
        if several.any():
            scale = np.where(contends, self._errors, 1.0)[:, several]
            correlation = self._covariance[:, :, several] / (scale[:, None] * scale[None, :])
            found[:, several] = spanning_angles(correlation, contends[:, several])
        return found

    # --- what follows ----------------------------------------------------------------------------------

    @property
    def standard_error(self) -> FloatArray:
        """How far the end moves when its terms move by one standard error, shape (queries,)."""
        up = (self.values + self._errors).max(axis=0) - self.value
        down = self.value - (self.values - self._errors).max(axis=0)
        return np.asarray(np.maximum(up, down))

    def width_to(self, upper: EndTerms) -> tuple[FloatArray, FloatArray]:
        """Distance of the upper end from this lower one, and its standard error, shape (queries,) each."""
        gradient = (self.gradient + upper.gradient)[None]  # the signs of the upper end's terms are changed
        variance = self._error.covariance(gradient, self._law.cells.T, self._law.structure)[0, 0]
        return -upper.value - self.value, np.sqrt(np.maximum(variance, 0.0))

    @property
    def expected_excess(self) -> FloatArray:
        """By how much the largest of the estimates is too large on average, shape (queries,).

        Of the term that attains it and one other: the mean of the larger of two normal variables (Clark 1961, "The
        greatest of a finite set of random variables"), as far apart as they were found less one standard error of that.
        """
        gap, error = self._gaps
        far = np.maximum(gap / np.maximum(error, _ROUNDING) - 1, 0.0)
        return np.asarray((error * (normal_density(far) - far * normal_cdf(-far))).max(axis=0))

    @property
    def median_unbiased(self) -> FloatArray:
        """The estimate, lowered until it exceeds the truth at most half of the time, shape (queries,).

        Half-median-unbiased (Chernozhukov, Lee and Rosen 2013), and lower by no less than the expected excess: one term
        that is compared with a constant is too large on average, though not in the median.
        """
        critical = of_maximum(np.zeros(len(self._law)), self._angles_within(_CLOSE))
        return np.asarray(
            np.minimum((self.values - critical * self._errors).max(axis=0), self.value - self.expected_excess)
        )

    def below(self, critical: FloatArray) -> FloatArray:
        """Where the interval of the end begins, shape (queries,).

        At a critical value, shape (queries,), for one term, which is raised where several contend.
        """
        raised = of_maximum(critical, self._angles)
        return np.asarray(self._limits(raised, -1).max(axis=0))

    def above(self, critical: FloatArray) -> FloatArray:
        """Where the interval of the end stops, shape (queries,): the largest of the terms' own limits."""
        return np.asarray(self._limits(critical, 1).max(axis=0))

    def _limits(self, critical: FloatArray, side: Side) -> FloatArray:
        """The terms' own limits on one side, shape (terms, queries)."""
        reach = self._reach.towards(side, critical)
        return self._search(reach, side) if self._is_ratio else self.values + side * reach(np.zeros((1, 1)))

    @cached_property
    def _reach(self) -> TermReach:
        return self._error.terms(self._coefficients, self._event, self._law.cells.T, self._law.structure)

    def _search(self, reach: Reach, side: Side) -> FloatArray:
        """Ratios at which the limit of numerator - ratio x event is zero, shape (terms, queries).

        Between the estimate and the end of the span on that side, by false position; of an end that stays twice in a
        row the value is halved (the Illinois method).
        """
        least, most = self._bracket

        def inside(ratio: FloatArray) -> FloatArray:
            return np.asarray(side * (self._numerator - ratio * self.chance) + reach(ratio))

        nearest = inner = np.clip(self.values, least, most)
        furthest = outer = np.full_like(inner, most if side > 0 else least)
        at_inner, at_outer = inside(inner), inside(outer)
        beyond, none = at_outer >= 0, at_inner < 0
        moved = np.zeros(inner.shape)
        for _ in range(_SEARCH_STEPS):
            gap = at_inner - at_outer
            found = inner + (outer - inner) * np.divide(at_inner, gap, out=np.ones_like(gap), where=gap > 0)
            value = inside(found)
            step = np.where(value >= 0, 1.0, -1.0)
            again = moved == step
            at_outer = np.where(step < 0, value, np.where(again, at_outer / 2, at_outer))
            at_inner = np.where(step > 0, value, np.where(again, at_inner / 2, at_inner))
            inner, outer, moved = np.where(step > 0, found, inner), np.where(step > 0, outer, found), step
        return np.where(beyond, furthest, np.where(none, nearest, inner))

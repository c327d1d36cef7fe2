"""Confidence intervals in closed form: of each end of a bound, and of the quantity between them.

Pure functions of estimated laws and of how many rows are behind them, for all queries at once. The ends are largest and
smallest terms (`end_terms`). The interval of an end has equal tails, and holds it at ties between terms too. The
quantity itself lies anywhere between the ends, and has an interval of its own (Imbens and Manski 2004), with the width
between the ends taken as small as chance would have it (the caution of Stoye 2009, "More on confidence intervals for
partially identified parameters").
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.estimands.compiled_ratio import Ends
from pnsight.estimands.critical_values import imbens_manski, two_sided
from pnsight.estimands.end_terms import EndTerms
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.sampling_error import RowsBehind, SamplingError

_MAX_VALUES_AT_ONCE = 400_000
"""Covariances of terms that are held at once; queries are answered in blocks of so many."""

_IMPOSSIBLE = 1e-12
"""An event less likely than this is taken for impossible."""

_CAUTION = 1.0
"""Standard errors by which the width between the ends may be too large."""


@dataclass(frozen=True)
class Intervals:
    """Confidence intervals of both ends and of the quantity itself; arrays of shape (queries,), NaN without an answer.

    Attributes
    ----------
    lower_low, lower_high : of the lower end
    upper_low, upper_high : of the upper end
    value_low, value_high : of the quantity
    """

    lower_low: FloatArray
    lower_high: FloatArray
    upper_low: FloatArray
    upper_high: FloatArray
    value_low: FloatArray
    value_high: FloatArray

    def around(self, lower: FloatArray, upper: FloatArray, span: tuple[float, float]) -> Intervals:
        """Within the span, around these ends and not shorter than what lies between them; NaN where they are."""
        within = (np.clip(getattr(self, each.name), *span) for each in fields(self))
        lower_low, lower_high, upper_low, upper_high, value_low, value_high = within
        return Intervals(
            np.minimum(lower_low, lower),
            np.maximum(lower_high, lower),
            np.minimum(upper_low, upper),
            np.maximum(upper_high, upper),
            np.minimum(value_low, lower),
            np.maximum(value_high, upper),
        )


def simultaneous_levels(level: float, comparisons: int) -> tuple[float, float]:
    """Confidence of the interval of one end, and of one value, so that those of several answers hold together.

    Bonferroni: the chance to miss is shared out among the answers, and among the two ends of each.

    Parameters
    ----------
    level
        Confidence that all intervals of ends hold, and that all intervals of values do.
    comparisons
        Answers whose intervals are to hold together; 0 if each interval is to hold by itself.

    Returns
    -------
    The two levels.
    """
    if not comparisons:
        return level, level
    return 1 - (1 - level) / (2 * comparisons), 1 - (1 - level) / comparisons


def end_intervals(
    estimand: Estimand,
    law: Law,
    rows: FloatArray | SamplingError,
    level: float | None = None,
    comparisons: int = 0,
) -> Intervals:
    """Confidence intervals of both ends at the law of a query, and of the quantity between them.

    Parameters
    ----------
    estimand
        What is bounded. Of its assumptions those are used that hold of a mixture, as `Estimand.bounds_at` does.
    law
        Estimated laws, one query a row.
    rows : shape (queries, groups), or a SamplingError
        How many independent rows are behind the shares of each group of cells: effective numbers, which need not be
        whole and may be infinite. Where a group that matters has none there is no interval.
    level
        Confidence; by default the estimand's.
    comparisons
        Answers whose intervals are to hold together; 0 if each interval is to hold by itself.

    Returns
    -------
    The intervals, within the span of the quantity.
    """
    of_end, of_value = simultaneous_levels(estimand.level if level is None else level, comparisons)

    def compute(lower: EndTerms, upper: EndTerms) -> tuple[FloatArray, ...]:
        critical = np.full(len(lower.value), two_sided(of_end))
        width, error = lower.width_to(upper)
        between = _between_ends(width, error, lower.standard_error, upper.standard_error, of_value)
        ends = lower.below(critical), lower.above(critical), -upper.above(critical), -upper.below(critical)
        return *ends, lower.below(between), -upper.below(between), lower.value, -upper.value

    *found, below, above = _in_blocks(estimand, law, rows, compute)
    span = estimand.span
    return Intervals(*found).around(np.clip(below, *span), np.clip(above, *span), span)


def standard_errors(estimand: Estimand, law: Law, rows: FloatArray | SamplingError) -> Ends:
    """Standard error of each end at the law of a query: how far it moves when its terms move by one of theirs.

    Parameters
    ----------
    estimand, law, rows
        As `end_intervals` takes them.

    Returns
    -------
    Those of the lower and of the upper end, shape (queries,) each, NaN where nothing is known.
    """
    lower, upper = _in_blocks(estimand, law, rows, lambda one, two: (one.standard_error, two.standard_error))
    return lower, upper


def median_unbiased_ends(estimand: Estimand, law: Law, rows: FloatArray | SamplingError) -> Ends:
    """Ends corrected for being the largest and the smallest of several estimates.

    A lower end that is the largest of noisy terms is too large, an upper end too small. These are moved outwards until
    each claims too much at most half of the time (half-median-unbiased: Chernozhukov, Lee and Rosen 2013), and by no
    less than is expected on average.

    Parameters
    ----------
    estimand, law, rows
        As `end_intervals` takes them.

    Returns
    -------
    Lower and upper ends, shape (queries,) each, within the span of the quantity.
    """
    lower, upper = _in_blocks(estimand, law, rows, lambda one, two: (one.median_unbiased, -two.median_unbiased))
    return np.clip(lower, *estimand.span), np.clip(upper, *estimand.span)


def linear_standard_error(gradient: FloatArray, law: Law, rows: FloatArray | SamplingError) -> FloatArray:
    """Standard error of a smooth function of the law, by the delta method.

    Parameters
    ----------
    gradient : shape (queries, cells)
        Its derivatives by the cells; zero where it does not depend on one.
    law
        Estimated laws, one query a row.
    rows : shape (queries, groups), or a SamplingError
        As `end_intervals` takes them.

    Returns
    -------
    Shape (queries,), NaN where nothing is known of a group that matters.
    """
    error = rows if isinstance(rows, SamplingError) else RowsBehind(rows)
    used = law.structure.by_group(np.abs(gradient)) > 0
    cells = np.nan_to_num(law.cells).T
    variance = error.covariance(gradient.T[None], cells, law.structure)[0, 0]
    return np.where(error.known(used), np.sqrt(np.maximum(variance, 0.0)), np.nan)


def expected_excess(estimand: Estimand, law: Law, rows: FloatArray | SamplingError) -> Ends:
    """By how much noise moves each end inwards on average, times the probability of what the quantity conditions on.

    Parameters
    ----------
    estimand, law, rows
        As `end_intervals` takes them.

    Returns
    -------
    By how much the lower end is too high and the upper end too low, shape (queries,) each, NaN where nothing is known.
    """
    lower, upper = _in_blocks(
        estimand, law, rows, lambda one, two: (one.expected_excess * one.chance, two.expected_excess * two.chance)
    )
    return lower, upper


class EndNoise(ABC):
    """What is known about the errors of both ends, for many queries."""

    @abstractmethod
    def intervals(self, level: float, comparisons: int = 0) -> Intervals:
        """Confidence intervals, with `level` and `comparisons` as `end_intervals` takes them."""

    @abstractmethod
    def median_unbiased(self) -> Ends:
        """Both ends as `median_unbiased_ends` gives them, shape (queries,) each."""


@dataclass(frozen=True)
class LawNoise(EndNoise):
    """Ends at the law of a query; attributes as `end_intervals` takes them."""

    estimand: Estimand
    law: Law
    rows: FloatArray | SamplingError

    @property
    def law_and_error(self) -> tuple[Law, FloatArray | SamplingError]:
        """The law, and how far it strays."""
        return self.law, self.rows

    def intervals(self, level: float, comparisons: int = 0) -> Intervals:
        """From the noise of the law."""
        return end_intervals(self.estimand, self.law, self.rows, level, comparisons)

    def median_unbiased(self) -> Ends:
        """Moved outwards by what the noise of the law makes of largest and smallest terms."""
        return median_unbiased_ends(self.estimand, self.law, self.rows)


@dataclass(frozen=True)
class MeanNoise(EndNoise):
    """Ends that are smooth, such as means over many profiles; arrays of shape (queries,).

    Attributes
    ----------
    ends, errors : lower and upper ends, and their standard errors
    width_error : standard error of the distance between them
    excess : by how much the lower end may be too high and the upper too low, as means of largest and smallest terms
    span : the least and the largest value that the quantity can have
    """

    ends: Ends
    errors: Ends
    width_error: FloatArray
    excess: Ends
    span: tuple[float, float]

    def intervals(self, level: float, comparisons: int = 0) -> Intervals:
        """Normal limits, further outwards by the excess."""
        of_end, of_value = simultaneous_levels(level, comparisons)
        (lower, upper), (lower_error, upper_error) = self.ends, self.errors
        low, high = lower - self.excess[0], upper + self.excess[1]
        z = two_sided(of_end)
        between = _between_ends(upper - lower, self.width_error, lower_error, upper_error, of_value)
        found = Intervals(
            low - z * lower_error,
            lower + z * lower_error,
            upper - z * upper_error,
            high + z * upper_error,
            low - between * lower_error,
            high + between * upper_error,
        )
        return found.around(lower, upper, self.span)

    def median_unbiased(self) -> Ends:
        """Moved outwards by the excess."""
        return np.clip(self.ends[0] - self.excess[0], *self.span), np.clip(self.ends[1] + self.excess[1], *self.span)


def _between_ends(
    width: FloatArray, width_error: FloatArray, lower_error: FloatArray, upper_error: FloatArray, level: float
) -> FloatArray:
    """Critical value of the quantity's interval, shape (queries,), at a width that may be too large by chance."""
    error = np.maximum(lower_error, upper_error)
    surely = np.maximum(width - _CAUTION * width_error, 0.0)
    return imbens_manski(np.divide(surely, error, out=np.full(len(error), np.inf), where=error > 0), level)


def _in_blocks(
    estimand: Estimand,
    law: Law,
    rows: FloatArray | SamplingError,
    compute: Callable[[EndTerms, EndTerms], tuple[FloatArray, ...]],
) -> list[FloatArray]:
    """What follows from the two ends, block by block of queries; NaN where nothing is known."""
    error = rows if isinstance(rows, SamplingError) else RowsBehind(rows)
    found = estimand.compiled(law.structure)
    terms = max(len(found.numerator.lower.constant), len(found.numerator.upper.constant))
    at_once = _MAX_VALUES_AT_ONCE // (terms * max(terms, law.structure.n_cells))
    step = 1 if found.is_curved else max(1, at_once)
    blocks = [
        _of_block(estimand, law[start : start + step], error[start : start + step], compute)
        for start in range(0, max(1, len(law)), step)
    ]
    return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]


def _of_block(
    estimand: Estimand,
    law: Law,
    error: SamplingError,
    compute: Callable[[EndTerms, EndTerms], tuple[FloatArray, ...]],
) -> tuple[FloatArray, ...]:
    structure, found = law.structure, estimand.compiled(law.structure)
    law = estimand.projected(law, error.rows_by_group)
    if found.is_curved:
        found = found.tangent(law)
    bounds, event = found.numerator, found.event
    parts = [bounds.lower.coefficients, bounds.upper.coefficients, *([] if event is None else [event.coefficients])]
    used = structure.by_group(np.abs(np.concatenate(parts)).sum(axis=0)) > 0
    unknown = np.isnan(law.cells) & structure.for_cells(used)
    known = error.known(used) & ~unknown.any(axis=1)
    filled = Law(structure, np.nan_to_num(law.cells))
    known &= found.conditioning_probability(filled) > _IMPOSSIBLE
    lower = EndTerms(bounds.lower, event, 1, filled, error, estimand.span)
    upper = EndTerms(bounds.upper, event, -1, filled, error, estimand.span)
    return tuple(np.where(known, values, np.nan) for values in compute(lower, upper))

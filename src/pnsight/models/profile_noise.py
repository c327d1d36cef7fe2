"""Sampling error of answers that are means over profiles, of each of which only its own rows speak.

The rows of different profiles are independent, so the profiles' variances add up, by the squares of their weights. The
weights are shares of a table's rows, and have an error of their own. A profile with one row shows no variance, and
takes that of the group as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.schema import Codes
from pnsight.data.study import Study
from pnsight.estimands.assumptions import EXOGENOUS, exogenous_rows, project_onto_assumptions
from pnsight.estimands.compiled_ratio import Ends
from pnsight.estimands.confidence import EndNoise, LawNoise, MeanNoise, expected_excess
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.sampling_error import CellCovariance
from pnsight.queries import lattice

_NO_ROWS = 1e-300
_HARDLY_A_ROW = 1e-9


@dataclass(frozen=True)
class ProfileNoise:
    """A study of which every profile speaks for itself, and what is made of it.

    Attributes
    ----------
    study : counts that answers are made from
    estimand : what is asked
    terms : shape (profiles, terms)
        What each profile brings to the mean; anything where it weighs nothing.
    rows : shape (profiles, groups)
        Effective rows behind the law of each profile.
    weights : shape (profiles,)
        People that each profile stands for; none where it has no answer.
    effective_people : shape (profiles,)
        Effective rows that the weights were counted in.
    """

    study: Study
    estimand: Estimand
    terms: FloatArray
    rows: FloatArray
    weights: FloatArray
    effective_people: FloatArray

    def of_laws(self, codes: Codes) -> LawNoise:
        """Of ends at the mean law of each query, from as many rows as would show it as well."""
        structure, shares = self.study.structure, np.nan_to_num(self._law.cells)
        few = self.rows < 2
        seen = structure.by_group(shares * (1 - shares)) / np.where(few, np.inf, self.rows - 1)
        unseen = np.where(few, 1 / np.maximum(self.rows, _NO_ROWS), 0.0)
        squares, each = structure.by_group(shares**2), 1 / np.maximum(self.rows, _NO_ROWS)
        mean, square, noise, blind, *squared = self._means(codes, [shares, squares, seen, unseen], [seen, unseen, each])
        spread = structure.by_group(mean * (1 - mean))
        between = np.maximum(square - structure.by_group(mean**2) - noise - blind * spread, 0.0)
        variance = squared[0] + squared[1] * spread + between / self._people(codes)[:, None]
        known = variance * spread > 0
        rows = np.where(known, 1 + spread / np.where(known, variance, 1.0), 1 / np.maximum(squared[2], _NO_ROWS))
        return LawNoise(self.estimand, Law(structure, mean), rows)

    def of_mean_terms(self, codes: Codes, least_rows: FloatArray) -> EndNoise:
        """Of ends made from the mean of what profiles bring; `least_rows`, shape (queries,), are behind a query."""
        mean, matrix = self._mean_and_covariance(codes)
        if not self.estimand.refines(self.study.structure):
            return LawNoise(self.estimand, Law(self.study.structure, mean), CellCovariance(matrix, least_rows))
        excess = np.column_stack(self._excess())
        (too_far,) = self._means(codes, [np.nan_to_num(excess)])
        return _of_refined(mean, matrix, too_far, self.estimand.span)

    def effective_rows(self, codes: Codes) -> FloatArray:
        """Rows that would show the mean over each query's profiles as well, of the group known least, shape (queries,).

        That is 1 / (sum of w^2 / n) over the profiles, w being their shares and n their rows (Kish's effective sample
        size, where a few rows of a profile stand for many people). Where choice is taken to be exogenous, the rows of
        both tables show how people respond.
        """
        exogenous = EXOGENOUS in self.estimand.assume
        rows = exogenous_rows(self._law, self.rows) if exogenous else self.rows
        (squared,) = self._means(codes, [], [1 / np.maximum(np.nan_to_num(rows), _HARDLY_A_ROW)])
        return np.asarray(np.nan_to_num(1 / np.where(squared > 0, squared, np.nan)).min(axis=1))

    @cached_property
    def _law(self) -> Law:
        return Law.from_counts(self.study.counts, self.study.structure)

    def _excess(self) -> Ends:
        """By how much noise moves what each profile brings inwards on average, shape (profiles,) each."""
        if EXOGENOUS not in self.estimand.assume:
            return expected_excess(self.estimand, self._law, self.rows)
        counted = self.study.structure.by_group(self.study.counts)
        law = project_onto_assumptions(self._law, (EXOGENOUS,), counted)
        return expected_excess(self.estimand, law, exogenous_rows(self._law, self.rows))

    def _mean_and_covariance(self, codes: Codes) -> tuple[FloatArray, FloatArray]:
        """Of what profiles bring, shapes (queries, terms) and (queries, terms, terms)."""
        size = self.terms.shape[1]
        first, second = np.tril_indices(size)
        brought = np.where(self.weights[:, None] > 0, self.terms, 0.0)
        products = brought[:, first] * brought[:, second]
        mean, product, within = self._means(codes, [brought, products], [self._own_covariances()])
        between = product - mean[:, first] * mean[:, second]
        matrix = np.empty((len(codes), size, size))
        matrix[:, first, second] = matrix[:, second, first] = within + between / self._people(codes)[:, None]
        return mean, matrix

    def _own_covariances(self) -> FloatArray:
        """Covariances of what each profile brings, their lower triangles, shape (profiles, pairs of terms).

        By how much an answer changes when the law moves towards each cell (the jackknife, by steps as large as chance
        makes them, so that it also sees a term that may yet become the largest), and how often rows are of that cell:
        in a profile's own rows and one more, of the study's people at large.
        """
        structure, cells = self.study.structure, self._law.cells
        first, second = np.tril_indices(self.terms.shape[1])
        at_large = Law.from_counts(self.study.cell_rows, structure).cells
        before = self._brought(cells)
        found = np.zeros((len(cells), len(first)))
        for rows, some in zip(self.rows.T[:, :, None], structure.group_slices, strict=True):
            step = 1 / np.sqrt(rows + 1)
            often = (np.nan_to_num(rows * cells[:, some]) + at_large[:, some]) / (rows + 1)
            variance = np.divide(often, rows, out=np.zeros(often.shape), where=rows > 0)
            for cell in range(some.start, some.stop):
                slope = np.nan_to_num((self._brought(_moved(cells, some, cell, step)) - before) / step)
                found += variance[:, cell - some.start, None] * slope[:, first] * slope[:, second]
        return found

    def _brought(self, cells: FloatArray) -> FloatArray:
        """What each profile brings at a law, shape (profiles, terms), whether or not its ends cross."""
        rows = self.study.structure.by_group(self.study.counts)
        return self.estimand.profile_terms(Law(self.study.structure, cells), rows, may_cross=True)

    def _people(self, codes: Codes) -> FloatArray:
        """Effective rows that the weights in each query were counted in, shape (queries,)."""
        people = np.where(self.weights > 0, self.effective_people, 0.0)[:, None]
        return np.maximum(self._sum(codes, people)[:, 0], _NO_ROWS)

    def _means(
        self, codes: Codes, weighed: Sequence[FloatArray], squared: Sequence[FloatArray] = ()
    ) -> list[FloatArray]:
        """Means over each query's people, and sums by squared shares of the people; shape (queries, columns) each."""
        weight = self.weights[:, None]
        columns = [weight * values for values in weighed] + [weight**2 * values for values in squared]
        sums = self._sum(codes, np.column_stack([*columns, weight]))
        total = np.where(sums[:, -1:] > 0, sums[:, -1:], np.nan)
        parts = np.split(sums[:, :-1], np.cumsum([values.shape[1] for values in columns])[:-1], axis=1)
        return [part / total ** (1 if place < len(weighed) else 2) for place, part in enumerate(parts)]

    def _sum(self, codes: Codes, values: FloatArray) -> FloatArray:
        return lattice.sum_over(self.study.schema, codes, self.study.profiles, values)


def _moved(cells: FloatArray, group: slice, cell: int, step: FloatArray) -> FloatArray:
    """Laws of which one cell of a group has gained a share of the rest, shape (profiles, 1)."""
    moved = cells.copy()
    moved[:, group] *= 1 - step
    moved[:, cell] += step[:, 0]
    return moved


def _of_refined(mean: FloatArray, matrix: FloatArray, excess: FloatArray, span: tuple[float, float]) -> MeanNoise:
    """Of the ratios of the first two means to the third, which is the probability of the event conditioned on."""
    event = np.where(mean[:, 2] > 0, mean[:, 2], np.nan)
    lower, upper = mean[:, 0] / event, mean[:, 1] / event
    one, none = np.ones(len(mean)), np.zeros(len(mean))
    gradients = np.stack([[one, none, -lower], [none, one, -upper], [-one, one, lower - upper]]) / event
    variance = np.einsum("eiq,qij,ejq->eq", gradients, matrix, gradients, optimize=True)
    lower_error, upper_error, width_error = np.sqrt(np.maximum(variance, 0.0))
    too_far = excess[:, 0] / event, excess[:, 1] / event
    return MeanNoise((lower, upper), (lower_error, upper_error), width_error, too_far, span)

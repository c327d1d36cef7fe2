"""Training examples of the bound regressors: well-supported queries with their plug-in bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.schema import Codes
from pnsight.data.study import Study
from pnsight.estimands import bounds
from pnsight.queries import lattice


@dataclass(frozen=True)
class TrainingExamples:
    """Queries with their sample-based bounds.

    Attributes
    ----------
    codes : shape (examples, covariates)
    ends : shape (examples, 2)
        Plug-in lower and upper bound.
    support : shape (examples,)
        Rows in the table that has fewer of them.
    """

    codes: Codes
    ends: FloatArray
    support: FloatArray

    def __len__(self) -> int:
        return len(self.codes)

    def supported(self, min_rows: float) -> TrainingExamples:
        """The examples with at least `min_rows` rows in both tables."""
        return self.take(np.flatnonzero(self.support >= min_rows))

    def take(self, rows: npt.NDArray[np.intp]) -> TrainingExamples:
        """The examples at the given positions."""
        return TrainingExamples(self.codes[rows], self.ends[rows], self.support[rows])


def feasible_examples(study: Study, space: str, quantity: str) -> TrainingExamples:
    """All queries of the space whose plug-in bounds satisfy 0 <= lower <= upper <= 1.

    Source: step 4 of the paper's algorithms, before its threshold of rows.

    Parameters
    ----------
    study : Study
        Counts to take the plug-in bounds from.
    space : str
        ``"exact"``: the study's profiles; ``"mask"``: all queries.
    quantity : str
        What is bounded.

    Returns
    -------
    TrainingExamples
    """
    if space == "exact":
        codes, counts = study.profiles, study.counts
    else:
        codes = lattice.all_queries(study.schema)
        counts = lattice.roll_up(study.schema, study.profiles, study.counts)
    lower, upper = bounds(Law.from_counts(counts, study.structure), quantity)
    keep = (lower >= 0) & (lower <= upper) & (upper <= 1)
    support = study.structure.by_table(counts).min(axis=1)
    return TrainingExamples(codes[keep], np.stack([lower, upper], axis=1)[keep], support[keep])


def split_rows(study: Study, share: float, rng: np.random.Generator) -> tuple[Study, Study]:
    """Train-validation split: two studies that share no row.

    Parameters
    ----------
    study : Study
        Counts to divide.
    share : float
        Probability with which a row goes to the second study.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    training, held_out : Study
    """
    held_out = rng.binomial(study.counts.astype(np.int64), share).astype(np.float64)
    return study.with_counts(study.counts - held_out), study.with_counts(held_out)

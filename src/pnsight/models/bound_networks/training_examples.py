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
class Examples:
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

    def supported(self, threshold: float) -> Examples:
        """Those with at least that many rows in both tables."""
        return self.take(np.flatnonzero(self.support >= threshold))

    def take(self, rows: npt.NDArray[np.intp]) -> Examples:
        """Those at the given places."""
        return Examples(self.codes[rows], self.ends[rows], self.support[rows])


def feasible_examples(study: Study, space: str, quantity: str) -> Examples:
    """All queries of the space whose plug-in bounds satisfy 0 <= lower <= upper <= 1.

    Source: step 4 of the paper's algorithms, before the threshold.
    """
    if space == "exact":
        codes, counts = study.profiles, study.counts
    else:
        codes = lattice.all_queries(study.schema)
        counts = lattice.roll_up(study.schema, study.profiles, study.counts)
    observational = None if study.observational is None else counts[:, 4:]
    lower, upper = bounds(Law.from_counts(counts[:, :4], observational), quantity)
    keep = (lower >= 0) & (lower <= upper) & (upper <= 1)
    tables = [counts[:, :4].sum(axis=1)] + ([] if observational is None else [observational.sum(axis=1)])
    return Examples(codes[keep], np.stack([lower, upper], axis=1)[keep], np.minimum.reduce(tables)[keep])


def split_rows(study: Study, share: float, rng: np.random.Generator) -> tuple[Study, Study]:
    """Two studies that share no row: each row goes to the second with probability `share`."""
    held_out = rng.binomial(study.counts.astype(np.int64), share).astype(np.float64)
    return study.with_counts(study.counts - held_out), study.with_counts(held_out)

"""A study: what the two tables say, counted once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pnsight.law import FloatArray
from pnsight.schema import Codes, Schema


@dataclass(frozen=True)
class Study:
    """Distinct covariate profiles with their counts in both tables.

    Attributes
    ----------
    schema : Schema
    profiles : shape (profiles, covariates)
        Codes of the distinct profiles that have rows in either table.
    experimental : shape (profiles, 4)
        Rows of the experimental table in the order of `law.COUNT_CELLS`.
    observational : shape (profiles, 4), or None
        The same for the observational table; None when there is none.
    dropped : dict
        Rows left out while counting, by reason.
    ignored : tuple
        Columns that only one of the tables has, and so were not used.
    """

    schema: Schema
    profiles: Codes
    experimental: FloatArray
    observational: FloatArray | None
    treatment: str = "x"
    outcome: str = "y"
    dropped: dict[str, int] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    @property
    def counts(self) -> FloatArray:
        """Both tables' counts side by side, shape (profiles, 8), or (profiles, 4) for an experiment alone."""
        if self.observational is None:
            return self.experimental
        return np.concatenate([self.experimental, self.observational], axis=1)

    def with_counts(self, counts: FloatArray) -> Study:
        """The same study with other counts in the layout of `counts`."""
        observational = None if self.observational is None else counts[:, 4:]
        return replace(self, experimental=counts[:, :4], observational=observational)

    def __repr__(self) -> str:
        observational = 0 if self.observational is None else int(self.observational.sum())
        return (
            f"Study(experimental rows: {int(self.experimental.sum()):,}, observational rows: {observational:,}, "
            f"covariates: {len(self.schema.names)}, distinct profiles: {len(self.profiles):,}, "
            f"treatment: {self.treatment!r}, outcome: {self.outcome!r})"
        )

"""The plug-in estimate: each query's own rows, put into the formulas. The paper's baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pnsight.law import FloatArray, Law
from pnsight.models.base import LawModel
from pnsight.progress import Progress, silent
from pnsight.schema import Codes
from pnsight.study import Study


class PlugIn(LawModel):
    """Empirical laws: unbiased, undefined without rows, wild with few."""

    name: ClassVar[str] = "plug-in"

    def fit(self, study: Study, progress: Progress = silent) -> Self:
        """Keep the study; there is nothing else to learn."""
        self.study_ = study
        return self

    def parameters(self) -> Mapping[str, Any]:
        """None."""
        return {}

    def law_given(self, codes: Codes, counts: FloatArray) -> Law:
        """Empirical law of each query, NaN where the rows it needs are absent."""
        observational = None if self.study.observational is None else counts[:, 4:]
        return Law.from_counts(counts[:, :4], observational)

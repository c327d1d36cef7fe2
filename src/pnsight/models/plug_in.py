"""The plug-in estimate: each query's own rows, put into the formulas. The paper's baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pnsight.law import FloatArray, Law
from pnsight.models.base import LawModel
from pnsight.progress import Progress, silent
from pnsight.schema import Codes
from pnsight.study import Study


@dataclass(eq=False)
class PlugIn(LawModel):
    """Empirical laws: undefined without rows, wild with few; the ends are pushed outwards or inwards by noise.

    Parameters
    ----------
    quantity
        What `bounds` answers when it is not asked for another.
    """

    quantity: str = "pns"

    name: ClassVar[str] = "plug-in"

    def fit(self, study: Study, progress: Progress = silent) -> Self:
        """Keep the study; there is nothing else to learn."""
        self.study_ = study
        return self

    def parameters(self) -> Mapping[str, Any]:
        """The quantity."""
        return {"quantity": self.quantity}

    def law_given(self, codes: Codes, counts: FloatArray) -> Law:
        """Empirical law of each query, NaN where the rows it needs are absent."""
        observational = None if self.study.observational is None else counts[:, 4:]
        return Law.from_counts(counts[:, :4], observational)

"""Sampling: what unequal weights and clusters leave of the rows, and whether there are clusters enough to tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from pnsight.data.sampling import TableSampling
from pnsight.data.study import Study
from pnsight.diagnostics.verdict import OK, WARNING, Verdict
from pnsight.notes import WARNING as WARNING_NOTE
from pnsight.notes import Note

MIN_CLUSTERS = 20
"""With fewer clusters in an arm or table, how much they vary is itself uncertain."""


@dataclass(frozen=True)
class Sampling:
    """How the rows of each table were sampled, where they weigh unequally or come in clusters."""

    tables: tuple[TableSampling, ...]

    @property
    def notes(self) -> tuple[Note, ...]:
        """What to be warned of."""
        return tuple(self._few_clusters())

    def _few_clusters(self) -> Iterator[Note]:
        for one in self.tables:
            if one.fewest_clusters is not None and one.fewest_clusters < MIN_CLUSTERS:
                values = {"table": one.table, "clusters": one.fewest_clusters}
                yield Note("few_clusters", values, WARNING_NOTE)

    @property
    def verdict(self) -> Verdict:
        """A warning where there are few clusters."""
        worth = tuple(Note("sampled", self._values(one)) for one in self.tables)
        return Verdict(WARNING if self.notes else OK, (*self.notes, *worth))

    def _values(self, one: TableSampling) -> dict[str, Any]:
        return {
            **one.note.values,
            "largest": one.largest_cluster,
            "split": one.split_clusters,
            "design_effect": one.design_effect,
        }

    def details(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {one.table: {**asdict(one), "design_effect": one.design_effect} for one in self.tables}


def sampling_of(study: Study) -> Sampling | None:
    """Sampling of a study's tables.

    Parameters
    ----------
    study
        The tables.

    Returns
    -------
    what their rows are worth; None where every row counts once and is independent
    """
    if study.design is None:
        return None
    found = tuple(one for one in study.design.tables if one.unequal or one.clusters is not None)
    return Sampling(found) if found else None

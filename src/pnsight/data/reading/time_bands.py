"""Times to an event in bands: the interval that an event is in, and how far rows that were censored were followed.

A row that was censored within an interval was followed through part of it. It counts by a share as one that came
through the interval, and by the rest as one that was censored before it. The share is such that the estimate for all
rows of an arm is that of finer intervals, an eighth of each: of those censored in a part of an interval, as many are
then taken to have their event within it as the parts that follow show (the idea of B. Efron 1967, "The two sample
problem with censored data"). Within a part, events and censoring are taken to be spread evenly (J. Cutler and F. Ederer
1958, "Maximum utilization of the life table method in analyzing survival").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pnsight._typing import FloatArray, IndexArray
from pnsight.data.sampled_rows import sum_by

PARTS = 8
"""Parts of an interval by which is told how far a row was followed."""


@dataclass(frozen=True)
class TimeBands:
    """Bands of time that tell apart all that matters about a time."""

    horizons: tuple[float, ...]

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """Edges of the bands, each the lowest number of its band; a horizon is a band of its own."""
        found: list[float] = [-math.inf]
        start = 0.0
        for end in self.horizons:
            found += [start + (end - start) * part / PARTS for part in range(1, PARTS)]
            found += [end, math.nextafter(end, math.inf)]
            start = end
        return (*found, math.inf)

    def event_intervals(self, bands: IndexArray) -> IndexArray:
        """The interval that an event in each band is in, the number of horizons for later ones."""
        return np.asarray(bands // (PARTS + 1), dtype=np.intp)

    @property
    def n_bands(self) -> int:
        """How many bands there are."""
        return len(self.edges) - 1

    def followed(self, bands: IndexArray) -> IndexArray:
        """Intervals that a row censored in each band was followed through."""
        through, part = np.divmod(bands, PARTS + 1)
        return np.asarray(through + (part == PARTS), dtype=np.intp)

    def passing_parts(self, bands: IndexArray, arms: IndexArray, happened: IndexArray, rows: FloatArray) -> FloatArray:
        """By which share each entry, were it censored, counts as having come through the interval that it is in.

        Parameters
        ----------
        bands, arms, happened, rows : shape (entries,)
            The band of its time, -1 where it has none; its arm; 1 for an event and 0 for none; and how many rows it
            stands for.

        Returns
        -------
        Shape (entries,), from the rows of each arm by themselves.
        """
        found = np.zeros(len(bands))
        for each in np.unique(arms):
            own = (arms == each) & (bands >= 0)
            kinds = [own & (happened == kind) for kind in (1, 0)]
            events, censored = (sum_by(bands[which], rows[which], self.n_bands) for which in kinds)
            found[own] = self.passing_shares(events, censored)[bands[own]]
        return found

    def passing_shares(self, events: FloatArray, censored: FloatArray) -> FloatArray:
        """By which share rows censored in each band count as having come through the interval.

        Parameters
        ----------
        events, censored : shape (bands,)
            Rows of an arm with an event in each band, and censored in it.

        Returns
        -------
        Shape (bands,); zero at a horizon, where they came through the interval before, and after the last.
        """
        at_risk = np.cumsum((events + censored)[::-1])[::-1]
        exact = np.arange(self.n_bands) % (PARTS + 1) == PARTS
        exposed = np.maximum(at_risk - np.where(exact, 0.0, censored / 2), 1e-300)
        stays = 1 - np.clip(events / exposed, 0.0, 1 - 1e-12)
        found = np.zeros(self.n_bands)
        for start in range(0, self.n_bands - 1, PARTS + 1):
            own = stays[start : start + PARTS + 1]
            after = np.cumprod(own[::-1])[::-1]  # from the beginning of each part to the end of the interval
            within = 1 - after[0]
            ends_inside = 1 - after[:PARTS] / np.sqrt(own[:PARTS])
            even = (np.arange(PARTS) + 0.5) / PARTS
            found[start : start + PARTS] = 1 - ends_inside / within if within > 0 else even
        return np.clip(found, 0.0, 1.0)

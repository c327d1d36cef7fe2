"""Rows of a table drawn from a population: what they show, as columns and counted in the cells of the structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight._typing import BoolArray, FloatArray, IndexArray
from pnsight.data.arms_and_outcomes import MISSING, after_horizon
from pnsight.data.noncompliance import KIND as NONCOMPLIANCE
from pnsight.data.reading.time_bands import TimeBands
from pnsight.data.structure import EXPERIMENTAL, Structure
from pnsight.data.structures import outcome_codes, places
from pnsight.simulation.table_design import FollowUp, TableDesign

Columns: TypeAlias = dict[str, npt.NDArray[Any]]
"""Columns of a table by name, each of shape (rows,)."""

_ENTRIES_AT_ONCE = 1 << 25


@dataclass(frozen=True)
class DrawnRows:
    """Rows of one table; arrays have shape (rows,).

    Attributes
    ----------
    table : its name
    profiles : covariates, shape (rows, covariates): codes, or numbers as they are
    arm : position of the arm that each person has: assigned, taken or chosen
    outcome : position of the outcome, or of the interval of time that the event is in
    assigned : position of the arm that they were assigned, where they may take another
    time, happened : of times to an event, until when each row was followed, and whether the event happened then
    """

    table: str
    profiles: npt.NDArray[Any]
    arm: IndexArray
    outcome: IndexArray
    assigned: IndexArray | None = None
    time: FloatArray | None = None
    happened: BoolArray | None = None

    def columns(self, structure: Structure, design: TableDesign) -> Columns:
        """The table but for its covariates: what was assigned, treatment, and outcome or time and event."""
        described = structure.description
        found: Columns = {}
        if self.assigned is not None:
            found[design.assigned] = named_values(described.arms, self.assigned)
        found[design.treatment] = named_values(described.arms, self.arm)
        if self.time is None or self.happened is None:
            return {**found, design.outcome: named_values(described.outcomes, self.outcome)}
        return {**found, design.outcome: self.time, design.event: self.happened.astype(np.int8)}

    def counts(self, place: IndexArray, profiles: int, structure: Structure) -> FloatArray:
        """Rows by profile, whose `place` is given, in the cells and sets of the table, shape (profiles, columns)."""
        row, code, part = self._shown(structure)
        index: tuple[IndexArray, ...] = (self.arm[row], code)
        if self.assigned is not None:
            index = (self.assigned[row], *index)
        at = places(structure, self.table)[index]
        columns = len(structure.all_columns_of(self.table))
        found = np.bincount(place[row] * columns + at, weights=part, minlength=profiles * columns)
        return np.asarray(found, dtype=np.float64).reshape(profiles, columns)

    def _shown(self, structure: Structure) -> tuple[IndexArray, IndexArray, FloatArray]:
        """Rows, the code of what each shows of its outcome, and the part of it that counts there.

        As in reading, a row that was censored within an interval counts in part as one that came through it.
        """
        every = np.arange(len(self.arm))
        if self.time is None or self.happened is None:
            return every, self.outcome, np.ones(len(every))
        horizons, known = structure.description.horizons, outcome_codes(structure.description)
        bands = TimeBands(horizons)
        band = np.searchsorted(bands.edges, self.time, side="right") - 1
        interval = bands.event_intervals(band)
        seen = self.happened | (interval == len(horizons))
        plain, rest = np.flatnonzero(seen), np.flatnonzero(~seen)
        happened, rows = self.happened.astype(np.intp), np.ones(len(every))
        through, part = bands.followed(band[rest]), bands.passing_parts(band, self.arm, happened, rows)[rest]
        later = [known.index(after_horizon(horizon)) for horizon in horizons[:-1]]
        after = np.array([known.index(MISSING), *later, len(horizons)])
        return (
            np.concatenate([plain, rest, rest]),
            np.concatenate([interval[plain], after[through], after[np.minimum(through + 1, len(horizons))]]),
            np.concatenate([np.ones(len(plain)), 1 - part, part]),
        )


def draw_rows(
    rng: np.random.Generator,
    table: str,
    profiles: npt.NDArray[Any],
    types: IndexArray,
    structure: Structure,
    arm_probabilities: FloatArray,
    follow_up: FollowUp | None,
) -> DrawnRows:
    """What the rows of a table show of people whose profiles and response types are given.

    Parameters
    ----------
    rng
        Where chance comes from.
    table
        Its name.
    profiles, types : shapes (rows, covariates) and (rows,)
        Covariates, and positions of types.
    structure
        Of which the types are.
    arm_probabilities : shape (arms tried,)
        How the experiment assigns arms.
    follow_up
        Of times to an event, how long rows are followed; None for ever.

    Returns
    -------
    The rows.
    """
    people, described = structure.people, structure.description
    arm, assigned = people["X"][types], None
    if table == EXPERIMENTAL:
        tried = np.array([described.arms.index(name) for name in described.tried])
        given = _by_probabilities(rng.random(len(types)), arm_probabilities)
        arm = tried[given]
        if described.kind == NONCOMPLIANCE:
            taken = np.stack([people[f"D{z}"] for z in tried])
            arm, assigned = taken[given, types], arm
    under = np.stack([people[f"Y{k}"] for k in range(len(described.arms))])
    outcome = under[arm, types]
    if not described.horizons:
        return DrawnRows(table, profiles, arm, outcome, assigned)
    time = _times(rng, outcome, described.horizons)
    end = np.full(len(time), np.inf) if follow_up is None else follow_up.draw(rng, profiles)
    return DrawnRows(table, profiles, arm, outcome, assigned, np.minimum(time, end), time <= end)


def draw_types(rng: np.random.Generator, place: IndexArray, shares: FloatArray) -> IndexArray:
    """A response type for each row.

    Parameters
    ----------
    rng
        Where chance comes from.
    place : shape (rows,)
        Which profile each has.
    shares : shape (profiles, types)
        Of the types among people of each profile.

    Returns
    -------
    Shape (rows,): positions of types.
    """
    edges, chance = np.cumsum(shares, axis=1)[:, :-1], rng.random(len(place))
    step = max(1, _ENTRIES_AT_ONCE // max(1, edges.shape[1]))
    parts = [(chance[i : i + step, None] >= edges[place[i : i + step]]).sum(axis=1) for i in range(0, len(place), step)]
    return np.concatenate(parts)


def _by_probabilities(chance: FloatArray, probabilities: FloatArray) -> IndexArray:
    """Positions drawn with these probabilities; the smallest chances stand for the last."""
    edges = np.cumsum(probabilities[::-1])[:-1]
    return np.asarray(len(probabilities) - 1 - np.searchsorted(edges, chance, side="right"), dtype=np.intp)


def _times(rng: np.random.Generator, interval: IndexArray, horizons: Sequence[float]) -> FloatArray:
    """A time within each interval, all of it equally likely; after the last horizon as long again on average."""
    last = horizons[-1]
    starts, ends = np.array([0.0, *horizons]), np.array([*horizons, last])
    within = starts[interval] + (ends - starts)[interval] * (1 - rng.random(len(interval)))  # never at the start
    later = last + rng.exponential(last, len(interval))
    return np.where(interval == len(horizons), later, within)


def named_values(names: Sequence[str], codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Values of a column.

    Parameters
    ----------
    names
        Of the values; whole numbers become numbers.
    codes : shape (rows,)
        Position of each row's value among them.

    Returns
    -------
    Shape (rows,).
    """
    if not all(name.isdecimal() for name in names):
        return np.asarray(np.array(names)[codes])
    numbers = np.array([int(name) for name in names])
    return np.asarray(numbers.astype(np.int8 if numbers.max() < 128 else np.int64)[codes])

"""Overlap: whether the experiment has people like those of the observational table, and both arms for all of them.

A group is hardly covered if the experiment has less than a tenth of the people that it would have if it were drawn like
the observational table. Groups that fix one covariate or two are looked at; whole profiles are too sparse to tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnsight._typing import BoolArray, FloatArray, IndexArray
from pnsight.data.schema import Schema
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL
from pnsight.data.study import Study
from pnsight.data.two_by_two import CONTROL, TREATED
from pnsight.diagnostics.verdict import OK, WARNING, Verdict, verdict
from pnsight.notes import INFO, Note
from pnsight.notes import WARNING as WARNING_NOTE

MAX_UNCOVERED = 0.05
"""A larger share of people whom the experiment hardly covers is warned of."""

_TENTH = 0.1
_MIN_EXPECTED = 20.0  # rows: chance leaves a tenth of so many in 1 of 2 million cases
_HARDLY_SHARED = 0.9
_MAX_WORK = 20_000_000  # profiles times pairs of covariates: about half a second
_MAX_NAMED = 3


@dataclass(frozen=True)
class UncoveredGroup:
    """A group that the experiment hardly covers: in words, with its share of the observational table."""

    group: str
    share: float


@dataclass(frozen=True)
class OneArmedLevel:
    """A level at which a table has people in one arm only: in words, with the table, that arm, and the rows."""

    level: str
    table: str
    arm: str
    rows: float


@dataclass(frozen=True)
class Overlap:
    """Whom the experiment covers.

    Attributes
    ----------
    alone : whether there is no observational table
    covariates : how many there are
    uncovered : share of the observational table's people whom the experiment hardly covers
    groups : groups that are hardly covered, the largest first, none within another
    hardly_shared : covariates of which the tables hardly share a value, with the share of people at values they share
    one_armed : levels with people in one arm only
    """

    alone: bool
    covariates: int
    uncovered: float
    groups: tuple[UncoveredGroup, ...]
    hardly_shared: tuple[tuple[str, float], ...]
    one_armed: tuple[OneArmedLevel, ...]

    @property
    def notes(self) -> tuple[Note, ...]:
        """What to be warned of."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[Note]:
        if self.hardly_shared:
            covariates = [{"covariate": name, "shared": shared} for name, shared in self.hardly_shared]
            yield Note("values_hardly_shared", {"covariates": covariates}, WARNING_NOTE)
        if self.uncovered > MAX_UNCOVERED:
            named = [one.group for one in self.groups[:_MAX_NAMED]]
            more = len(self.groups) - len(named)
            yield Note("hardly_covered", {"share": self.uncovered, "groups": named, "more": more}, WARNING_NOTE)
        yield from self._one_armed(EXPERIMENTAL)

    def _one_armed(self, table: str) -> Iterator[Note]:
        found = [one for one in self.one_armed if one.table == table]
        if found:
            named = [{"level": one.level, "arm": one.arm} for one in found[:_MAX_NAMED]]
            severity = WARNING_NOTE if table == EXPERIMENTAL else INFO
            yield Note("one_armed", {"table": table, "levels": named, "more": len(found) - len(named)}, severity)

    @property
    def verdict(self) -> Verdict:
        """A warning where the experiment says little about some of the people asked about."""
        if not self.covariates:
            return verdict(OK, "overlap_without_covariates")
        if self.notes:
            return Verdict(WARNING, (*self.notes, *self._one_armed(OBSERVATIONAL)))
        said = Note("covered", {"alone": self.alone, "uncovered": self.uncovered})
        return Verdict(OK, (said, *self._one_armed(OBSERVATIONAL)))

    def details(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {
            "uncovered": self.uncovered,
            "groups": [vars(one) for one in self.groups],
            "hardly_shared": [{"covariate": name, "shared": shared} for name, shared in self.hardly_shared],
            "one_armed": [vars(one) for one in self.one_armed],
        }


def overlap_of(study: Study) -> Overlap:
    """Overlap of a study: whom its experiment covers, and at which levels it has one arm only.

    Parameters
    ----------
    study
        Both tables, or an experiment alone.

    Returns
    -------
    share of the observational table's people who are hardly covered, and levels that lack an arm
    """
    one_armed = tuple(_one_armed_levels(study))
    if study.observational is None:
        return Overlap(True, len(study.schema.names), 0.0, (), (), one_armed)
    found = _Coverage.of(study)
    levels = {j: found.thin(found.place(j), size) for j, size in enumerate(study.schema.shape)}
    groups = [group for j, thin in levels.items() for group in found.named((j,), thin)]
    uncovered = np.zeros(len(study.profiles), dtype=bool)
    for j, thin in levels.items():
        uncovered |= thin[found.place(j)]
    for pair, hardly in found.thin_pairs():
        thin = hardly & ~found.contained(pair, levels)
        groups += found.named(pair, thin)
        uncovered |= thin[found.place(*pair)]
    shared = {j: 1 - found.share_of(thin[found.place(j)]) for j, thin in levels.items()}
    return Overlap(
        False,
        len(study.schema.names),
        found.share_of(uncovered),
        tuple(sorted(groups, key=lambda one: -one.share)),
        tuple((study.schema.names[j], share) for j, share in shared.items() if share <= 1 - _HARDLY_SHARED),
        one_armed,
    )


@dataclass(frozen=True)
class _Coverage:
    """Effective rows of the experiment, and rows of the observational table, of each profile."""

    schema: Schema
    columns: IndexArray
    trial: FloatArray
    registry: FloatArray

    @classmethod
    def of(cls, study: Study) -> _Coverage:
        trial = study.effective_counts[:, study.structure.all_columns_of(EXPERIMENTAL)].sum(axis=1)
        columns = np.ascontiguousarray(study.profiles.T, dtype=np.intp)
        return cls(study.schema, columns, trial, study.profile_counts("observational"))

    def thin_pairs(self) -> Iterator[tuple[tuple[int, int], BoolArray]]:
        """Pairs of covariates that fix groups which are hardly covered, and which; none if there are too many pairs."""
        varying = [j for j, size in enumerate(self.schema.shape) if size > 1]
        if len(varying) * (len(varying) - 1) // 2 * len(self.trial) > _MAX_WORK:
            return
        for at, first in enumerate(varying[:-1]):
            yield from self._thin_with(first, np.array(varying[at + 1 :]))

    def _thin_with(self, first: int, others: IndexArray) -> Iterator[tuple[tuple[int, int], BoolArray]]:
        """Those pairs of one covariate with each of others; counted together, since most have no such group."""
        sizes = np.array(self.schema.shape)[others]
        ends = np.cumsum(sizes * self.schema.shape[first])
        begins = ends - sizes * self.schema.shape[first]
        place = begins[:, None] + self.columns[first] * sizes[:, None] + self.columns[others]
        thin = self.thin(place.ravel(), int(ends[-1]))
        for at in np.unique(np.searchsorted(ends, np.flatnonzero(thin), side="right")):
            yield (first, int(others[at])), thin[begins[at] : ends[at]]

    def place(self, *covariates: int) -> IndexArray:
        """The group of each profile among those that fix these covariates, shape (profiles,)."""
        if len(covariates) == 1:
            return np.asarray(self.columns[covariates[0]])
        first, second = covariates
        return np.asarray(self.columns[first] * self.schema.shape[second] + self.columns[second])

    def thin(self, place: IndexArray, groups: int) -> BoolArray:
        """Which of some groups the experiment hardly covers, shape (groups,).

        `place` is the group of each profile, as often as the profiles are divided into groups.
        """
        times = len(place) // max(1, len(self.trial))
        seen, people = (np.bincount(place, np.tile(rows, times), groups) for rows in (self.trial, self.registry))
        expected = people / (self.registry.sum() or 1.0) * self.trial.sum()
        return np.asarray((expected >= _MIN_EXPECTED) & (seen <= _TENTH * expected))

    def contained(self, pair: tuple[int, int], levels: dict[int, BoolArray]) -> BoolArray:
        """Which groups of a pair fix a level that is hardly covered by itself, shape (groups,)."""
        first, second = (levels[j] for j in pair)
        return np.asarray((first[:, None] | second[None, :]).ravel())

    def named(self, covariates: tuple[int, ...], thin: BoolArray) -> list[UncoveredGroup]:
        """The groups in words, with their shares of the observational table."""
        if not thin.any():
            return []
        people = np.bincount(self.place(*covariates), self.registry, len(thin)) / self.registry.sum()
        sizes = [self.schema.shape[j] for j in covariates]
        return [
            UncoveredGroup(self._in_words(covariates, np.unravel_index(int(at), sizes)), float(people[at]))
            for at in np.flatnonzero(thin)
        ]

    def _in_words(self, covariates: tuple[int, ...], codes: tuple[np.intp, ...]) -> str:
        chosen = (self.schema.covariates[j] for j in covariates)
        return ", ".join(f"{one.name}={one.levels[int(code)]}" for one, code in zip(chosen, codes, strict=True))

    def share_of(self, chosen: BoolArray) -> float:
        """Share of the observational table's people in some profiles."""
        return float(self.registry[chosen].sum() / (self.registry.sum() or 1.0))


def _one_armed_levels(study: Study) -> Iterator[OneArmedLevel]:
    """Levels where all have one arm, though so many people would have another by chance."""
    for table, arms in _rows_by_arm(study).items():
        total = sum(arms.values(), np.zeros(len(study.profiles))).sum() or 1.0
        for j, covariate in enumerate(study.schema.covariates):
            by_level = {
                arm: np.bincount(study.profiles[:, j], rows, len(covariate.levels)) for arm, rows in arms.items()
            }
            rows = sum(by_level.values(), np.zeros(len(covariate.levels)))
            for arm, own in by_level.items():
                others = 1 - arms[arm].sum() / total
                for at in np.flatnonzero((rows - own == 0) & (rows * others >= _MIN_EXPECTED)):
                    yield OneArmedLevel(f"{covariate.name}={covariate.levels[at]}", table, arm, float(rows[at]))


def _rows_by_arm(study: Study) -> dict[str, dict[str, FloatArray]]:
    """By table and name of the arm, effective rows of each profile, shape (profiles,)."""
    counts, structure = study.effective_counts, study.structure
    plain = structure.is_two_by_two
    by_group = structure.by_group(counts)
    found = {
        EXPERIMENTAL: {
            structure.groups[number].name: by_group[:, number] for number in structure.groups_of(EXPERIMENTAL)
        }
    }
    if study.observational is not None:
        columns = np.arange(structure.n_cells)[structure.columns_of(OBSERVATIONAL)]
        names = (CONTROL, TREATED) if plain else structure.description.arms
        order = (1, 0) if plain else range(len(names))
        found[OBSERVATIONAL] = {
            names[arm]: counts[:, columns[structure.chosen_arms == arm]].sum(axis=1) for arm in order
        }
    return found

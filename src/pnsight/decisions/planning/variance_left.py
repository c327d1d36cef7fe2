"""What further rows would leave of the doubt about bounds: arm by arm, and profile by profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.data.schema import Codes
from pnsight.data.study import Population, Study
from pnsight.decisions.considered import possible_profiles
from pnsight.decisions.planning.information_borrowing import Reach, Rows, measure
from pnsight.estimands.estimand import Estimand
from pnsight.models import Model
from pnsight.queries import lattice

Table: TypeAlias = Literal["experimental", "observational", "both"]
"""Where further rows go; "both" gives half of them to each table."""

MOST_PROFILES = 2048
"""Profiles looked at; of more, those of so many people drawn at random speak for all."""


@dataclass(frozen=True)
class Crowd:
    """The people of a population by profile.

    Attributes
    ----------
    codes : shape (profiles, covariates)
    share : shape (profiles,)
        Share of the people that each profile stands for.
    own : shape (profiles,)
        Share of the people who have it; less than `share` where not all profiles are looked at.
    population : whose people they are
    """

    codes: Codes
    share: FloatArray
    own: FloatArray
    population: Population | None

    @classmethod
    def of(cls, model: Model, population: Population | None, seed: int) -> Crowd:
        """All profiles with people, or those of people drawn at random where profiles are too many."""
        codes = possible_profiles(model.study)
        share = model.shares(codes, population)
        codes, share = codes[share > 0], share[share > 0]
        if len(codes) <= MOST_PROFILES:
            return cls(codes, share / share.sum(), share, population)
        drawn = np.random.default_rng([seed, 6]).choice(len(codes), MOST_PROFILES, p=share / share.sum())
        chosen, times = np.unique(drawn, return_counts=True)
        return cls(codes[chosen], times / MOST_PROFILES, share[chosen], population)

    def added(self, groups: Codes, share: FloatArray, rows: FloatArray) -> Rows:
        """So many rows by arm (arms,), from the people of each group, who are this share of all (groups,)."""
        covers = lattice.membership_matrix(groups, self.codes)
        inside = np.maximum(covers @ self.share, np.finfo(np.float64).tiny)
        own, nearby = covers * self.own / share[:, None], covers * self.share / inside[:, None]
        return Rows(rows[:, None, None] * own.T, rows[:, None, None] * nearby.T)


def doubt_left(model: Model, estimand: Estimand, crowd: Crowd, added: Rows) -> FloatArray:
    """Share of the variance of each end that further rows leave, shape (groups, 2, profiles)."""
    estimate, strays = model.simulated(crowd.codes, crowd.population)
    errors = strays - strays.mean(axis=0)
    by_arm = _reach(model, crowd, estimate, errors).left(added)
    due_to = _due_to(model.study, estimand, estimate, estimate + errors)
    return np.asarray(np.einsum("aep,apg->gep", due_to, by_arm))


def arms_of(study: Study) -> FloatArray:
    """Rows of the treated, of the untreated, and of the observational table if there is one, shape (arms,)."""
    return study.structure.by_group(study.counts.sum(axis=0))


def split(study: Study, rows: float, table: Table) -> FloatArray:
    """How many of the rows each arm gets, shape (arms,); the trial treats the same share of them as so far."""
    at_hand = arms_of(study)
    trial = {"experimental": 1.0, "observational": 0.0, "both": 0.5}[table]
    treated = at_hand[0] / at_hand[:2].sum()
    return rows * np.array([trial * treated, trial * (1 - treated), 1 - trial])[: len(at_hand)]


def _reach(model: Model, crowd: Crowd, estimate: FloatArray, errors: FloatArray) -> Reach:
    """How far rows reach among the profiles, from their laws and draws of the errors in them."""
    totals = arms_of(model.study)
    own = model.structure.by_group(model.counts(crowd.codes)).T[:, :, None]
    nearby = own * (totals / np.maximum(own.sum(axis=(1, 2)), 1))[:, None, None]
    levels = model.schema.one_hot(crowd.codes)
    apart = len(model.schema.names) - np.rint(levels @ levels.T).astype(np.intp)
    return measure(estimate, errors, Rows(own, nearby), crowd.share, apart, model.structure.group_slices)


def _due_to(study: Study, estimand: Estimand, estimate: FloatArray, others: FloatArray) -> FloatArray:
    """Share of the variance of each end that is due to each arm, shape (arms, 2, profiles).

    The law of one arm at a time is exchanged for one that errs as fits do, while the others stay as estimated.
    """
    rows = arms_of(study)
    centre = Law(study.structure, estimate)
    ends = np.stack(estimand.profile_bounds(centre, rows))
    squares = np.zeros((len(arms_of(study)), *ends.shape))
    for cells in others:
        for arm, law in enumerate(_exchanged(centre, Law(study.structure, cells))):
            squares[arm] += (np.stack(estimand.profile_bounds(law, rows)) - ends) ** 2
    squares = np.nan_to_num(squares)
    total = squares.sum(axis=0)
    return np.asarray(np.divide(squares, total, out=np.full_like(squares, 1 / len(squares)), where=total > 0))


def _exchanged(law: Law, other: Law) -> Iterator[Law]:
    """The law with the numbers of each arm in turn taken from the other."""
    for columns in law.structure.group_slices:
        cells = law.cells.copy()
        cells[:, columns] = other.cells[:, columns]
        yield Law(law.structure, cells)

"""How a response-type model is fitted, step by step; `response_types` says what is answered from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pnsight._progress import Progress, subtask
from pnsight.data.law import COUNTED_CELLS, FloatArray
from pnsight.data.profiles import profile_index
from pnsight.data.schema import Codes
from pnsight.data.study import Study
from pnsight.models.mlp_numpy import Layers, mean_shares, shares
from pnsight.models.resampling import resampled, split_counts
from pnsight.models.response_types.capacity import (
    HOPELESS,
    IMPLAUSIBLE,
    LADDER,
    SHORT_LADDER,
    Rung,
    all_alike,
    allotted,
    choose,
    short_of_best,
    within,
)
from pnsight.models.response_types.fit_summary import Choices, CovariateChoice
from pnsight.models.response_types.intervals import STUDY, spread_factor, subpopulations
from pnsight.models.response_types.latent_classes import CovariateLaw, fit_covariate_laws
from pnsight.models.response_types.marginalise import DRAWS, MOST_LISTED, CountedProfiles, ListedProfiles, Mixing
from pnsight.models.response_types.shrinkage import choose_strength, log_likelihood, posterior
from pnsight.queries import lattice

FOLDS, FEW_FOLDS = 4, 2
NETWORKS, FEW_NETWORKS = 8, 4
RESAMPLES, FEW_RESAMPLES = 16, 8
"""Parts that are held out in turn, networks of the estimate, simulated studies; and how many if profiles are many."""

STAGES = (
    "choosing",
    "choosing among the best",
    "fitting to all rows",
    "finding plausible laws",
    "finding the intervals",
)

MANY_PROFILES = 8192
"""Distinct profiles above which fewer rungs, folds, networks and simulated studies are trained."""

JUDGED_PROFILES = 16384
"""Profiles that rung, strength and factor are chosen on; of more, a random part speaks for all."""


class _Version(NamedTuple):
    """One version of what was learned: networks, whose mean it is, and the counts they were fitted to."""

    networks: Sequence[Layers]
    counts: FloatArray


class _Climb(NamedTuple):
    """What held-out rows say of the rungs: how far each is behind the best, and which were kept in the race.

    `plausible` are the rungs that may have learned the true law. `scores` are of those kept, (rungs, profiles), at the
    judged profiles, and `answers` by fold what they answer there, (rungs, profiles, 8).
    """

    behind: FloatArray
    kept: npt.NDArray[np.intp]
    plausible: npt.NDArray[np.intp]
    scores: FloatArray
    answers: Sequence[FloatArray]


class Fitting:
    """One fit, step by step: capacity, strength and covariate law from held-out rows, then all rows."""

    def __init__(self, study: Study, seed: int, intervals: bool, progress: Progress) -> None:
        self.study, self.intervals, self.progress = study, intervals, progress
        self.rng = np.random.default_rng([seed, 4])
        self.counts = study.eight_counts
        self.inputs = study.schema.effect_coding(study.profiles)
        many = len(study.profiles) > MANY_PROFILES
        self.ladder: Sequence[Rung] = (SHORT_LADDER if many else LADDER) if self.inputs.shape[1] else LADDER[:1]
        self.folds, self.networks = (FEW_FOLDS, FEW_NETWORKS) if many else (FOLDS, NETWORKS)
        self.resamples = (FEW_RESAMPLES if many else RESAMPLES) if intervals else 0
        self.judged = np.sort(self.rng.permutation(len(self.inputs))[:JUDGED_PROFILES])
        self.worth = np.sqrt(self.counts[self.judged].sum(axis=1))

    def run(self) -> tuple[Choices, Mixing]:
        """Choose, fit, and find the intervals."""
        parts = split_counts(self.counts, FOLDS, self.rng)[: self.folds]
        behind, kept, plausible, scores, answers = self._climb(parts)
        weights = np.zeros(len(self.ladder))
        weights[kept] = choose(scores, self.rng)
        if kept[0] == 0 and all_alike(scores * self.worth, constant=0):
            weights, plausible = np.eye(len(weights))[0], kept[within(HOPELESS, scores * self.worth)]
        held_out = [fold[self.judged] for fold in parts]
        training = [self.counts[self.judged] - fold for fold in held_out]
        centres = [np.tensordot(weights[kept], of_fold, axes=1) for of_fold in answers]
        strength, strengths = choose_strength(centres, training, held_out)
        tables = [self.counts[:, :4].sum(axis=1), self.counts[:, 4:].sum(axis=1)]
        laws = fit_covariate_laws(
            self.study.schema, self.study.profiles, [rows for rows in tables if rows.any()], self.rng
        )
        fitted = self._train([self.counts], [(0, rung) for rung in allotted(weights, self.networks)], 2)
        members, factor = [_Version(fitted, self.counts)], None
        if self.intervals:
            members += self._simulated(weights, plausible, strength)
            foretold = [posterior(*pair, strength) for pair in zip(centres, training, strict=True)]
            factor = self._factor(members[1:], 1 / np.square(weights).sum(), strength, foretold, held_out)
        mixing = (self._listed if self.study.schema.n_profiles <= MOST_LISTED else self._counted)(
            members, laws, strength
        )
        rungs = [(str(rung), float(b), float(w)) for rung, b, w in zip(self.ladder, behind, weights, strict=True)]
        named = zip(("experimental", "observational"), laws, strict=False)
        covariates = [
            CovariateChoice(table, len(law.smooth.shares), law.seen, law.borrowed, tuple(law.evidence.items()))
            for table, law in named
        ]
        choices = Choices(tuple(rungs), strength, tuple(strengths.items()), self.networks, factor, tuple(covariates))
        return choices, mixing

    def _climb(self, parts: Sequence[FloatArray]) -> _Climb:
        """Train every rung without each fold, and after half of the folds only those that may still be the best."""
        half = -(-len(parts) // 2)
        first = self._answers(parts[:half], np.arange(len(self.ladder)), 0)
        scores = self._scores(first, parts[:half])
        behind = short_of_best(scores, self.worth.sum() * half / FOLDS)
        kept, plausible = within(HOPELESS, scores), within(IMPLAUSIBLE, scores)
        second = self._answers(parts[half:], kept, 1)
        scores = scores[kept] + self._scores(second, parts[half:])
        behind[kept] = short_of_best(scores, self.worth.sum() * len(parts) / FOLDS)
        return _Climb(behind, kept, plausible, scores, [*(of_fold[kept] for of_fold in first), *second])

    def _answers(self, parts: Sequence[FloatArray], rungs: npt.NDArray[np.intp], stage: int) -> list[FloatArray]:
        """By fold, what each rung answers at the judged profiles when it did not see the fold, (rungs, profiles, 8)."""
        pairs = [(fold, rung) for fold in range(len(parts)) for rung in rungs]
        trained = self._train([self.counts - fold for fold in parts], pairs, stage)
        each = np.stack([shares(network, self.inputs[self.judged]) for network in trained]).astype(np.float64)
        return list(each.reshape(len(parts), len(rungs), *each.shape[1:]))

    def _scores(self, answers: Sequence[FloatArray], parts: Sequence[FloatArray]) -> FloatArray:
        """Log-likelihood of held-out rows over the root of the profile's rows, (rungs, profiles)."""
        found = [log_likelihood(of_fold, fold[self.judged]) for of_fold, fold in zip(answers, parts, strict=True)]
        return np.asarray(np.sum(found, axis=0) / self.worth)

    def _train(self, sources: Sequence[FloatArray], pairs: Sequence[tuple[int, int]], stage: int) -> list[Layers]:
        """One network for each pair of a source of counts and a rung."""
        from pnsight.models.response_types.train_jax import Member, train_members

        members = [Member(self.ladder[rung], source, int(self.rng.integers(2**31))) for source, rung in pairs]
        stages = STAGES if self.intervals else STAGES[:3]
        return train_members(self.inputs, sources, members, subtask(self.progress, stage, len(stages), stages[stage]))

    def _simulated(self, weights: FloatArray, plausible: npt.NDArray[np.intp], strength: float) -> Iterator[_Version]:
        """For each of several simulated studies, the law behind it and two networks fitted to it.

        The laws are what plausible rungs make of the study at hand, so unlike resampled rows they show also how far a
        fit strays from a law that is known, its bias included, and unlike the estimate they are as rough as the rows
        allow. The fits have rungs in proportion to their weights, as the estimate has.
        """
        behind = plausible[allotted(np.ones(len(plausible)), self.resamples)]
        laws = self._train([self.counts], [(0, rung) for rung in behind], 3)
        types = (posterior(mean_shares([law], self.inputs), self.counts, strength) for law in laws)
        samples = [self._drawn(of_law @ COUNTED_CELLS.T) for of_law in types]
        rungs = self.rng.permutation(allotted(weights, self.resamples))
        fits = self._train(samples, [pair for pair in enumerate(rungs) for _ in range(2)], 4)
        for study, (law, counts) in enumerate(zip(laws, samples, strict=True)):
            yield _Version([law], self.counts)
            yield from (_Version([fit], counts) for fit in fits[2 * study : 2 * study + 2])

    def _drawn(self, law: FloatArray) -> FloatArray:
        """Counts of a study like this one; its profiles are resampled, and `law` (profiles, 8) says what happens."""
        tables = [
            resampled(rows, self.rng) if rows.any() else rows
            for rows in (self.counts[:, :2], self.counts[:, 2:4], self.counts[:, 4:])
        ]
        drawn = [
            self.rng.multinomial(rows.sum(axis=1).astype(np.int64), _proper(cells))
            for rows, cells in zip(tables, (law[:, :2], law[:, 2:4], law[:, 4:]), strict=True)
        ]
        return np.concatenate(drawn, axis=1).astype(np.float64)

    def _listed(
        self,
        members: Sequence[_Version],
        laws: Sequence[CovariateLaw],
        strength: float,
    ) -> ListedProfiles:
        schema, profiles = self.study.schema, self.study.profiles
        every = lattice.all_profiles(schema)
        place = profile_index(schema, profiles)
        inputs = schema.effect_coding(every)
        types, masses = [], []
        for networks, counts in members:
            found = mean_shares(networks, inputs)
            found[place] = posterior(found[place], counts, strength)
            types.append(found)
            masses.append([_mass(law, every, place) for law in self._laws_given(laws, counts)])
        return ListedProfiles(schema, np.array(types, np.float32), np.array(masses))

    def _laws_given(self, laws: Sequence[CovariateLaw], counts: FloatArray) -> Sequence[CovariateLaw]:
        """Covariate laws of a simulated study."""
        if counts is self.counts:
            return laws
        tables = [rows for rows in (counts[:, :4].sum(axis=1), counts[:, 4:].sum(axis=1)) if rows.any()]
        return [
            law.given(self.study.profiles, np.sum(tables, axis=0) if law.borrowed else rows)
            for law, rows in zip(laws, tables, strict=True)
        ]

    def _counted(
        self,
        members: Sequence[_Version],
        laws: Sequence[CovariateLaw],
        strength: float,
    ) -> CountedProfiles:
        from scipy.stats import qmc

        shrunk = members if np.isfinite(strength) else members[:1]
        types = [
            posterior(mean_shares(nets, self.inputs), counts, strength).astype(np.float32) for nets, counts in shrunk
        ]
        counted = [[law.shares for law in self._laws_given(laws, counts)] for _, counts in members]
        sequence = qmc.Sobol(1 + len(self.study.schema.shape), seed=self.rng)
        return CountedProfiles(
            self.study.schema,
            self.study.profiles,
            np.array(types),
            np.array(counted, np.float32),
            np.array([law.seen for law in laws]),
            [law.smooth for law in laws],
            [networks for networks, _ in members],
            sequence.random(DRAWS),
        )

    def _factor(
        self,
        simulated: Sequence[_Version],
        networks: float,
        strength: float,
        foretold: Sequence[FloatArray],
        held_out: Sequence[FloatArray],
    ) -> float:
        inputs = self.inputs[self.judged]
        types = [
            posterior(mean_shares(networks, inputs), counts[self.judged], strength) for networks, counts in simulated
        ]
        studies = np.stack(types).reshape(self.resamples, STUDY, *types[0].shape)
        rows = self.counts[self.judged].sum(axis=1)
        covers = subpopulations(self.study.profiles[self.judged], rows, self.rng)
        return spread_factor(studies, networks, foretold, held_out, covers, seen=1 - 1 / FOLDS)


def _mass(law: CovariateLaw, every: Codes, place: npt.NDArray[np.intp]) -> FloatArray:
    """P(profile) of every profile; those counted are at these places."""
    mass = (1 - law.seen) * law.smooth.mass(every)
    mass[place] += law.seen * law.shares
    return mass


def _proper(cells: FloatArray) -> FloatArray:
    """Shares that add up to one to the last digit, as drawing wants."""
    cells = np.maximum(cells, 0)
    return np.asarray(cells / cells.sum(axis=1, keepdims=True))

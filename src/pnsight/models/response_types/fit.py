"""How a response-type model is fitted, step by step; `model` says what is answered from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pnsight._progress import Progress, subtask
from pnsight._typing import FloatArray, IndexArray
from pnsight.data.profiles import profile_index
from pnsight.data.study import Study
from pnsight.models.mlp_numpy import Layers, mean_probabilities, probabilities
from pnsight.models.resampling import bootstrap_counts, split_counts
from pnsight.models.response_types.capacity import (
    CONSTANT,
    apportion,
    bootstrap_weights,
    no_heterogeneity,
    score_gap,
    within_standard_errors,
)
from pnsight.models.response_types.config import ResponseTypeConfig
from pnsight.models.response_types.enumerated_profiles import EnumeratedProfiles
from pnsight.models.response_types.fit_summary import CapacityScore, CovariateSummary, FitSummary
from pnsight.models.response_types.intervals import (
    MEMBERS_PER_SIMULATION,
    interval_inflation,
    random_subpopulations,
)
from pnsight.models.response_types.latent_classes import CovariateDistribution, fit_covariate_distributions
from pnsight.models.response_types.marginalise import Marginaliser
from pnsight.models.response_types.sampled_profiles import SampledProfiles
from pnsight.models.response_types.shrinkage import choose_prior_rows, log_likelihood, map_estimate
from pnsight.queries import lattice

STAGES = (
    "choosing",
    "choosing among the best",
    "fitting to all rows",
    "finding plausible laws",
    "finding the intervals",
)


class EnsembleMember(NamedTuple):
    """One version of what was learned: networks, whose mean it is, and the counts they were fitted to."""

    networks: Sequence[Layers]
    counts: FloatArray


class CvResult(NamedTuple):
    """Cross-validation of the capacities.

    Attributes
    ----------
    gap : array of shape (capacities,)
        How far each is behind the best.
    kept : array of shape (kept,)
        Capacities that were trained on all folds.
    plausible : array of int
        Capacities that may have learned the true law.
    scores : array of shape (kept, profiles)
        At the validation profiles.
    predicted : one array of shape (kept, profiles, types) a fold
        What they answer there.
    """

    gap: FloatArray
    kept: IndexArray
    plausible: IndexArray
    scores: FloatArray
    predicted: Sequence[FloatArray]


class _Selected(NamedTuple):
    """Hyperparameters that cross-validation selected, and what the model predicts of the folds it did not see.

    `weights` are of the capacities (capacities,), `plausible` those that may have learned the true law; `prior_modes`,
    `training` and `held_out` have one array a fold, at the validation profiles.
    """

    gap: FloatArray
    weights: FloatArray
    plausible: IndexArray
    prior_rows: float
    prior_rows_scores: dict[float, float]
    prior_modes: Sequence[FloatArray]
    training: Sequence[FloatArray]
    held_out: Sequence[FloatArray]


class FitProcedure:
    """One fit, step by step: hyperparameters by cross-validation, then all rows.

    Parameters
    ----------
    study : Study
        Counts to learn from.
    config : ResponseTypeConfig
        Hyperparameters and limits.
    seed : int
    intervals : bool
        Whether to fit simulated studies as well.
    progress : Progress
    """

    def __init__(
        self,
        study: Study,
        config: ResponseTypeConfig,
        seed: int,
        intervals: bool,
        progress: Progress,
    ) -> None:
        self.study, self.config, self.structure = study, config, study.structure
        self.intervals, self.progress = intervals, progress
        self.rng = np.random.default_rng([seed, 4])
        self.counts = study.counts
        self.inputs = study.schema.effect_coding(study.profiles)
        effort = config.effort_for(len(study.profiles))
        self.capacities = effort.capacities if self.inputs.shape[1] else (CONSTANT,)
        self.folds, self.networks = effort.folds, effort.networks
        self.simulations = effort.simulations if intervals else 0
        order = self.rng.permutation(len(self.inputs))
        self.validation_profiles = np.sort(order[: config.max_validation_profiles])
        self.profile_weight = np.sqrt(self.counts[self.validation_profiles].sum(axis=1))

    def run(self) -> tuple[FitSummary, Marginaliser]:
        """Select hyperparameters, fit to all rows, and find the confidence intervals.

        Returns
        -------
        summary : FitSummary
        marginaliser : Marginaliser
        """
        selected = self._select()
        tables = [rows for rows in self.structure.by_table(self.counts).T if rows.any()]
        covariates = fit_covariate_distributions(
            self.study.schema, self.study.profiles, tables, self.rng, self.config.latent_classes
        )
        fitted = self._train([self.counts], [(0, k) for k in apportion(selected.weights, self.networks)], 2)
        members, inflation = [EnsembleMember(fitted, self.counts)], None
        if self.intervals:
            members += self._simulate(selected.weights, selected.plausible, selected.prior_rows)
            inflation = self._inflation(members[1:], selected)
        enumerable = self.study.schema.n_profiles <= self.config.max_enumerated_profiles
        represent = self._enumerated if enumerable else self._sampled
        summary = self._summary(selected, covariates, inflation)
        return summary, represent(members, covariates, selected.prior_rows)

    def _select(self) -> _Selected:
        """Capacity weights and prior rows by cross-validation."""
        folds = split_counts(self.counts, self.config.folds, self.rng)[: self.folds]
        gap, kept, plausible, scores, predicted = self._cross_validate(folds)
        selection, weights = self.config.selection, np.zeros(len(self.capacities))
        weights[kept] = bootstrap_weights(scores, self.rng, selection.bootstrap_samples, selection.min_win_ratio)
        by_row = scores * self.profile_weight
        if kept[0] == 0 and no_heterogeneity(by_row, constant=0):
            weights, plausible = np.eye(len(weights))[0], kept[within_standard_errors(by_row, selection.drop_at_se)]
        held_out = [fold[self.validation_profiles] for fold in folds]
        training = [self.counts[self.validation_profiles] - fold for fold in held_out]
        modes = [np.tensordot(weights[kept], of_fold, axes=1) for of_fold in predicted]
        prior_rows, tried = choose_prior_rows(modes, training, held_out, self.structure, self.config.shrinkage)
        return _Selected(gap, weights, plausible, prior_rows, tried, modes, training, held_out)

    def _cross_validate(self, folds: Sequence[FloatArray]) -> CvResult:
        """Train every capacity without each fold, and after half of the folds only those that may still be the best."""
        half, selection = -(-len(folds) // 2), self.config.selection
        total_weight = self.profile_weight.sum()
        first = self._predict_held_out(folds[:half], np.arange(len(self.capacities)), 0)
        scores = self._scores(first, folds[:half])
        gap = score_gap(scores, total_weight * half / self.config.folds)
        kept = within_standard_errors(scores, selection.drop_at_se)
        plausible = within_standard_errors(scores, selection.reject_at_se)
        second = self._predict_held_out(folds[half:], kept, 1)
        scores = scores[kept] + self._scores(second, folds[half:])
        gap[kept] = score_gap(scores, total_weight * len(folds) / self.config.folds)
        return CvResult(gap, kept, plausible, scores, [*(of_fold[kept] for of_fold in first), *second])

    def _predict_held_out(self, folds: Sequence[FloatArray], capacities: IndexArray, stage: int) -> list[FloatArray]:
        """By fold, what each capacity says of the validation profiles without it (capacities, profiles, types)."""
        pairs = [(fold, capacity) for fold in range(len(folds)) for capacity in capacities]
        trained = self._train([self.counts - fold for fold in folds], pairs, stage)
        inputs = self.inputs[self.validation_profiles]
        each = np.stack([probabilities(network, inputs) for network in trained]).astype(np.float64)
        return list(each.reshape(len(folds), len(capacities), *each.shape[1:]))

    def _scores(self, predicted: Sequence[FloatArray], folds: Sequence[FloatArray]) -> FloatArray:
        """Log-likelihood of held-out rows over the root of the profile's rows, (capacities, profiles)."""
        found = [
            log_likelihood(of_fold, fold[self.validation_profiles], self.structure)
            for of_fold, fold in zip(predicted, folds, strict=True)
        ]
        return np.asarray(np.sum(found, axis=0) / self.profile_weight)

    def _train(self, sources: Sequence[FloatArray], pairs: Sequence[tuple[int, int]], stage: int) -> list[Layers]:
        """One network for each pair of a source of counts and a capacity."""
        from pnsight.models.response_types.train_jax import NetworkSpec, train_ensemble  # loads JAX

        specs = [NetworkSpec(self.capacities[k], source, int(self.rng.integers(2**31))) for source, k in pairs]
        stages = STAGES if self.intervals else STAGES[:3]
        progress = subtask(self.progress, stage, len(stages), stages[stage])
        return train_ensemble(self.inputs, sources, specs, self.structure, progress, self.config.training)

    def _shrink(self, types: FloatArray, counts: FloatArray, prior_rows: float) -> FloatArray:
        return map_estimate(types, counts, prior_rows, self.structure, self.config.shrinkage)

    # --- simulated studies -----------------------------------------------------------------------------

    def _simulate(self, weights: FloatArray, plausible: IndexArray, prior_rows: float) -> Iterator[EnsembleMember]:
        """Parametric bootstrap: for each of several simulated studies, the law behind it and two networks fitted to it.

        The laws are what plausible capacities make of the study at hand, so unlike resampled rows they show also how
        far a fit strays from a law that is known, its bias included, and unlike the estimate they are as rough as the
        rows allow. The fits have capacities in proportion to their weights, as the estimate has.
        """
        behind = plausible[apportion(np.ones(len(plausible)), self.simulations)]
        laws = self._train([self.counts], [(0, k) for k in behind], 3)
        types = (self._shrink(mean_probabilities([law], self.inputs), self.counts, prior_rows) for law in laws)
        samples = [self._draw_counts(self.structure.cell_probabilities(of_law)) for of_law in types]
        capacities = self.rng.permutation(apportion(weights, self.simulations))
        fits = self._train(samples, [pair for pair in enumerate(capacities) for _ in range(2)], 4)
        for study, (law, counts) in enumerate(zip(laws, samples, strict=True)):
            yield EnsembleMember([law], self.counts)
            yield from (EnsembleMember([fit], counts) for fit in fits[2 * study : 2 * study + 2])

    def _draw_counts(self, law: FloatArray) -> FloatArray:
        """A study like this one: its profiles are resampled, and `law` (profiles, structure) says what happens."""
        rows = [self.counts[:, group] for group in self.structure.group_slices]
        rows = [bootstrap_counts(each, self.rng) if each.any() else each for each in rows]
        drawn = [
            self.rng.multinomial(each.sum(axis=1).astype(np.int64), _normalise(law[:, group]))
            for each, group in zip(rows, self.structure.group_slices, strict=True)
        ]
        return np.concatenate(drawn, axis=1).astype(np.float64)

    def _inflation(self, simulated: Sequence[EnsembleMember], selected: _Selected) -> float:
        """Inflation factor of the standard errors, from what was predicted of each fold without it."""
        inputs, prior_rows = self.inputs[self.validation_profiles], selected.prior_rows
        predicted = [
            self._shrink(mode, seen, prior_rows)
            for mode, seen in zip(selected.prior_modes, selected.training, strict=True)
        ]
        types = [
            self._shrink(mean_probabilities(networks, inputs), counts[self.validation_profiles], prior_rows)
            for networks, counts in simulated
        ]
        studies = np.stack(types).reshape(self.simulations, MEMBERS_PER_SIMULATION, *types[0].shape)
        rows = self.counts[self.validation_profiles].sum(axis=1)
        profiles = self.study.profiles[self.validation_profiles]
        membership = random_subpopulations(profiles, rows, self.rng, self.config.intervals.subpopulations)
        return interval_inflation(
            studies,
            1 / np.square(selected.weights).sum(),
            predicted,
            selected.held_out,
            membership,
            1 - 1 / self.config.folds,
            self.structure,
            self.config.intervals,
        )

    # --- what is kept ----------------------------------------------------------------------------------

    def _enumerated(
        self, members: Sequence[EnsembleMember], covariates: Sequence[CovariateDistribution], prior_rows: float
    ) -> EnumeratedProfiles:
        schema, profiles = self.study.schema, self.study.profiles
        every = lattice.all_profiles(schema)
        place = profile_index(schema, profiles)
        inputs = schema.effect_coding(every)
        types, masses = [], []
        for networks, counts in members:
            found = mean_probabilities(networks, inputs)
            found[place] = self._shrink(found[place], counts, prior_rows)
            types.append(found)
            masses.append([each.mass(every, place) for each in self._refit(covariates, counts)])
        return EnumeratedProfiles(schema, np.array(types, np.float32), np.array(masses))

    def _sampled(
        self, members: Sequence[EnsembleMember], covariates: Sequence[CovariateDistribution], prior_rows: float
    ) -> SampledProfiles:
        from scipy.stats import qmc

        shrunk = members if np.isfinite(prior_rows) else members[:1]
        types = [
            self._shrink(mean_probabilities(networks, self.inputs), counts, prior_rows).astype(np.float32)
            for networks, counts in shrunk
        ]
        empirical = [[each.empirical for each in self._refit(covariates, counts)] for _, counts in members]
        sequence = qmc.Sobol(1 + len(self.study.schema.shape), seed=self.rng)
        return SampledProfiles(
            self.study.schema,
            self.study.profiles,
            np.array(types),
            np.array(empirical, np.float32),
            np.array([each.empirical_weight for each in covariates]),
            [each.smooth for each in covariates],
            [networks for networks, _ in members],
            sequence.random(self.config.draws),
        )

    def _refit(
        self, covariates: Sequence[CovariateDistribution], counts: FloatArray
    ) -> Sequence[CovariateDistribution]:
        """Covariate distributions of a simulated study."""
        if counts is self.counts:
            return covariates
        tables = [rows for rows in self.structure.by_table(counts).T if rows.any()]
        return [
            each.refit(self.study.profiles, np.sum(tables, axis=0) if each.pooled else rows, self.config.latent_classes)
            for each, rows in zip(covariates, tables, strict=True)
        ]

    def _summary(
        self, selected: _Selected, covariates: Sequence[CovariateDistribution], inflation: float | None
    ) -> FitSummary:
        capacities = zip(self.capacities, selected.gap, selected.weights, strict=True)
        tables = [
            CovariateSummary(
                table,
                len(each.smooth.class_probabilities),
                each.empirical_weight,
                each.pooled,
                tuple(each.scores.items()),
            )
            for table, each in zip(self.structure.tables, covariates, strict=False)
        ]
        return FitSummary(
            tuple(CapacityScore(str(capacity), float(gap), float(weight)) for capacity, gap, weight in capacities),
            selected.prior_rows,
            tuple(selected.prior_rows_scores.items()),
            self.networks,
            inflation,
            tuple(tables),
            self.simulations,
        )


def _normalise(probabilities: FloatArray) -> FloatArray:
    """Probabilities that add up to one to the last digit, as drawing wants."""
    found = np.maximum(probabilities, 0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))

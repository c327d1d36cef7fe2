"""How a response-type model is fitted, step by step; `model` says what is answered from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from pnsight._progress import Progress, no_progress, subtask
from pnsight._typing import FloatArray, IndexArray
from pnsight.data.coarsened import coarsened_shares, effective_counts
from pnsight.data.law import Law
from pnsight.data.profiles import distinct_profiles, profile_index
from pnsight.data.schema import OPEN, Codes
from pnsight.data.study import Study
from pnsight.estimands.drawn_errors import drawn_errors
from pnsight.estimands.estimand import usual_estimand
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
from pnsight.models.response_types.intervals import error_variance, interval_inflation, random_subpopulations
from pnsight.models.response_types.latent_classes import CovariateDistribution, fit_covariate_distributions
from pnsight.models.response_types.law_errors import (
    error_covariance,
    fit_decay,
    relative_errors,
    smooth_over_neighbours,
)
from pnsight.models.response_types.learning_curve import group_weights, inflation_from_gain, learning_gain
from pnsight.models.response_types.log_linear import fit_log_linear
from pnsight.models.response_types.marginalise import Marginaliser
from pnsight.models.response_types.profile_inputs import Network, ProfileInputs
from pnsight.models.response_types.random_effects import fit_random_effects
from pnsight.models.response_types.reference_people import ReferencePeople, draw_people, fit_errors
from pnsight.models.response_types.sampled_profiles import SampledProfiles
from pnsight.models.response_types.shrinkage import choose_prior_rows, log_likelihood, map_estimate, types_of_law
from pnsight.queries import lattice

_ERROR_PROFILES = 512
"""Profiles, counted and again sampled, that the mean error is taken over where profiles are too many to list."""

_RATIO_PROFILES = 256
"""Profiles at which the errors of ends are compared with those of shares."""

_SMOOTHINGS = 2
"""How often the errors of profiles are averaged with their neighbours': few simulated studies show each one badly."""

_MIN_END_RATIO = 0.1
"""Least ratio of the errors of ends to those of shares that is believed: where no end moves, it would be zero."""

STAGES = (
    "choosing",
    "choosing among the best",
    "fitting to all rows",
    "finding plausible laws",
    "finding the intervals",
)


class _SimulatedStudy(NamedTuple):
    """The law behind a simulated study, its counts (profiles, cells), and two networks that were fitted to them."""

    law: Network
    counts: FloatArray
    fits: tuple[Network, Network]


class _Fitted(NamedTuple):
    """What was learned from all rows: types of any profiles, from their codes, and the relative errors of their laws.

    `networks` speak for profiles that were not counted, `types` (profiles, types) are those of the study's.
    """

    networks: Sequence[Network]
    types: FloatArray
    types_at: Callable[[Codes], FloatArray]
    errors_at: Callable[[Codes], FloatArray]
    decay: FloatArray
    inflation: float | None


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
    no_network: bool
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
        self.stages = STAGES if intervals else STAGES[:3]
        self.rng = np.random.default_rng([seed, 4])
        self.counts = study.effective_counts
        everyone = np.nan_to_num(coarsened_shares(study.cell_rows, study.structure))
        self.cell_counts = effective_counts(self.counts, everyone, study.structure)
        """Rows of each profile in cells, those of sets shared out, by what they are worth, shape (profiles, cells)."""
        self.numeric = bool(study.schema.numeric)
        self.inputs = ProfileInputs(study.schema, study.profiles)
        self.training = config.numeric.training if self.numeric else config.training
        effort = config.effort_for(len(study.profiles), float(self.counts.sum()), self.numeric)
        self.capacities = effort.capacities if self.inputs.shape[1] else (CONSTANT,)
        self.folds, self.networks = effort.folds, effort.networks
        self.simulations = effort.simulations if intervals else 0
        self._validate_on(np.arange(len(self.inputs)), config.max_validation_profiles)

    def run(self) -> tuple[FitSummary, Marginaliser]:
        """Select hyperparameters, fit to all rows, and find the confidence intervals.

        Returns
        -------
        summary : FitSummary
        marginaliser : Marginaliser
        """
        if self.numeric:
            return self._run_numeric()
        selected = self._select()
        tables = [rows for rows in self.structure.by_table(self.counts).T if rows.any()]
        covariates = fit_covariate_distributions(
            self.study.schema, self.study.profiles, tables, self.rng, self.config.latent_classes
        )
        fitted = self._fit_random_effects() if selected.no_network else self._fit_networks(selected)
        self.progress(len(self.stages), len(self.stages), self.stages[-1])  # random effects take no simulated studies
        enumerable = self.study.schema.n_profiles <= self.config.max_enumerated_profiles
        represent = self._enumerated if enumerable else self._sampled
        return self._summary(selected, covariates, fitted), represent(fitted, covariates)

    def _run_numeric(self) -> tuple[FitSummary, Marginaliser]:
        """The same where covariates are numbers: reference people stand for everyone."""
        folds = self._split()[: self.folds]
        held_out = np.flatnonzero(sum(fold.sum(axis=1) for fold in folds))
        self._validate_on(held_out, self.config.numeric.max_validation_profiles)
        selected = self._select(folds)
        fitted = self._fit_random_effects() if selected.no_network else self._fit_networks(selected, folds)
        self.progress(len(self.stages), len(self.stages), self.stages[-1])
        return self._summary(selected, (), fitted), self._reference_people(fitted)

    def _validate_on(self, profiles: IndexArray, most: int) -> None:
        """Choose the validation profiles among some, at most so many."""
        order = self.rng.permutation(len(profiles))
        self.validation_profiles = np.sort(profiles[order[:most]])
        self.profile_weight = np.sqrt(self.counts[self.validation_profiles].sum(axis=1))

    def _select(self, folds: Sequence[FloatArray] = ()) -> _Selected:
        """Capacity weights and prior rows by cross-validation."""
        folds = folds or self._split()[: self.folds]
        gap, kept, plausible, scores, predicted = self._cross_validate(folds)
        selection, weights = self.config.selection, np.zeros(len(self.capacities))
        weights[kept] = bootstrap_weights(scores, self.rng, selection.bootstrap_samples, selection.min_win_ratio)
        if kept[0] == 0 and no_heterogeneity(scores * self.profile_weight, constant=0):
            weights = np.eye(len(weights))[0]
        held_out = [fold[self.validation_profiles] for fold in folds]
        training = [self.counts[self.validation_profiles] - fold for fold in held_out]
        modes = [np.tensordot(weights[kept], of_fold, axes=1) for of_fold in predicted]
        prior_rows, tried = self._choose_prior_rows(modes, training, held_out)
        no_network = bool(weights[0] == 1)
        prior_rows = np.inf if no_network else prior_rows
        return _Selected(gap, weights, plausible, no_network, prior_rows, tried, modes, training, held_out)

    def _choose_prior_rows(
        self, modes: Sequence[FloatArray], training: Sequence[FloatArray], held_out: Sequence[FloatArray]
    ) -> tuple[float, dict[float, float]]:
        """What networks are worth against a profile's own rows; where it is one person, they are all there is."""
        if self.numeric:
            return np.inf, {}
        return choose_prior_rows(modes, training, held_out, self.structure, self.config.shrinkage)

    def _split(self) -> list[FloatArray]:
        """Folds of effective rows; where rows weigh unequally or come in clusters, whole ones were dealt when read."""
        design = self.study.design
        if design is None or design.folds is None or len(design.folds) != self.config.folds:
            return split_counts(self.counts, self.config.folds, self.rng)
        return list(design.folds * design.cell_worth(self.structure))

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
        each = replace(self.inputs, profiles=self.study.profiles[self.validation_profiles]).types(trained)
        return list(each.reshape(len(folds), len(capacities), *each.shape[1:]))

    def _scores(self, predicted: Sequence[FloatArray], folds: Sequence[FloatArray]) -> FloatArray:
        """Log-likelihood of held-out rows over the root of the profile's rows, (capacities, profiles)."""
        found = [
            log_likelihood(of_fold, fold[self.validation_profiles], self.structure)
            for of_fold, fold in zip(predicted, folds, strict=True)
        ]
        return np.asarray(np.sum(found, axis=0) / self.profile_weight)

    def _train(
        self, sources: Sequence[FloatArray], pairs: Sequence[tuple[int, int]], stage: int | None
    ) -> list[Network]:
        """One network for each pair of a source of counts and a capacity; what is no stage of its own is not told."""
        from pnsight.models.response_types.train_jax import NetworkSpec, train_ensemble  # loads JAX

        specs = [NetworkSpec(self.capacities[k], source, int(self.rng.integers(2**31))) for source, k in pairs]
        progress: Progress = no_progress
        if stage is not None:
            progress = subtask(self.progress, stage, len(self.stages), self.stages[stage])
        trained = train_ensemble(self.inputs, sources, specs, self.structure, progress, self.training)
        return [Network(layers, spec.capacity.coding) for layers, spec in zip(trained, specs, strict=True)]

    def _shrink(self, types: FloatArray, counts: FloatArray, prior_rows: float) -> FloatArray:
        return map_estimate(types, counts, prior_rows, self.structure, self.config.shrinkage)

    # --- all rows ----------------------------------------------------------------------------------------

    def _fit_networks(self, selected: _Selected, folds: Sequence[FloatArray] = ()) -> _Fitted:
        """An ensemble of networks, shrunk to the counts, and its errors by simulation."""
        networks = self._train([self.counts], [(0, k) for k in apportion(selected.weights, self.networks)], 2)

        def types_at(codes: Codes) -> FloatArray:
            return self._shrunk_at(codes, networks, self.counts, selected.prior_rows)

        groups, inflation = len(self.structure.groups), None
        errors_at, decay = partial(_unknown_errors, groups), np.empty(0)
        if self.intervals:
            studies = list(self._simulate(selected))
            if self.numeric:
                inflation = self._inflation_of_numbers(studies, types_at, selected, folds)
            else:
                inflation = self._inflation(studies, selected)
            decay = self._decay(studies, selected)
            factor = inflation * self._end_ratio(studies, types_at, selected.prior_rows)
            errors_at = partial(self._simulated_errors, studies, types_at, selected.prior_rows, factor)
        return _Fitted(networks, types_at(self.study.profiles), types_at, errors_at, decay, inflation)

    def _fit_random_effects(self) -> _Fitted:
        """Random effects of the covariates, with the errors of their posterior."""
        structure, study, positions = self.structure, self.study, self.study.schema.positions
        (constant,) = self._train([self.counts], [(0, 0)], 2)
        effects = fit_random_effects(*self._grouped_counts(), structure, study.schema.shape, self.config.random_effects)
        overall = replace(self.inputs, profiles=study.profiles[:1]).mean_types([constant])

        def types_at(codes: Codes) -> FloatArray:
            law = np.concatenate([each.predict(positions(codes))[0] for each in effects], axis=1)
            return types_of_law(np.repeat(overall, len(codes), axis=0), law, structure)

        def errors_at(codes: Codes) -> FloatArray:
            return np.sqrt(np.stack([each.predict(positions(codes))[1] for each in effects], axis=1))

        types = types_at(study.profiles)
        linear = fit_log_linear(self.inputs[:], types, self.counts.sum(axis=1))
        some = positions(self._some_profiles())
        decay = np.array([fit_decay(each.error_covariance(some), some) for each in effects if self.intervals])
        return _Fitted([Network(linear)], types, types_at, errors_at, decay, 1.0 if self.intervals else None)

    def _grouped_counts(self) -> tuple[Codes, FloatArray]:
        """Profiles with numbers in groups, and their rows in cells."""
        if not self.numeric:
            return self.study.profiles, self.cell_counts
        schema = self.study.schema
        profiles, place = distinct_profiles(schema.grouped, schema.positions(self.study.profiles))
        cells = [np.bincount(place, column, len(profiles)) for column in self.cell_counts.T]
        return profiles, np.stack(cells, axis=1)

    def _shrunk_at(
        self, codes: Codes, networks: Sequence[Network], counts: FloatArray, prior_rows: float
    ) -> FloatArray:
        """What networks say of profiles, shrunk to their counts where they have some, shape (profiles, types)."""
        found = replace(self.inputs, profiles=codes).mean_types(networks)
        if self.numeric:
            return found
        place = self.study.lookup.find(codes)
        found[place >= 0] = self._shrink(found[place >= 0], counts[place[place >= 0]], prior_rows)
        return found

    # --- simulated studies -----------------------------------------------------------------------------

    def _simulate(self, selected: _Selected) -> Iterator[_SimulatedStudy]:
        """Parametric bootstrap: for each of several simulated studies, the law behind it and two networks fitted to it.

        The laws are what plausible capacities make of the study at hand, so unlike resampled rows they show also how
        far a fit strays from a law that is known, its bias included, and unlike the estimate they are as rough as the
        rows allow. The fits have capacities in proportion to their weights, as the estimate has.
        """
        behind = selected.plausible[apportion(np.ones(len(selected.plausible)), self.simulations)]
        laws = self._train([self.counts], [(0, k) for k in behind], 3)
        profiles = self.study.profiles
        types = (self._shrunk_at(profiles, [law], self.counts, selected.prior_rows) for law in laws)
        samples = [self._draw_counts(self.structure.cell_probabilities(of_law)) for of_law in types]
        capacities = self.rng.permutation(apportion(selected.weights, self.simulations))
        fits = self._train(samples, [pair for pair in enumerate(capacities) for _ in range(2)], 4)
        for study, (law, counts) in enumerate(zip(laws, samples, strict=True)):
            yield _SimulatedStudy(law, counts, (fits[2 * study], fits[2 * study + 1]))

    def _simulated_laws(self, studies: Sequence[_SimulatedStudy], codes: Codes, prior_rows: float) -> FloatArray:
        """Laws of profiles behind each simulated study, and by two fits to it, shape (studies, 3, profiles, cells)."""
        found = [
            [
                self._shrunk_at(codes, [each.law], self.counts, prior_rows),
                *(self._shrunk_at(codes, [fit], each.counts, prior_rows) for fit in each.fits),
            ]
            for each in studies
        ]
        return np.stack([self.structure.cell_probabilities(np.stack(of_study)) for of_study in found])

    def _simulated_errors(
        self,
        studies: Sequence[_SimulatedStudy],
        types_at: Callable[[Codes], FloatArray],
        prior_rows: float,
        factor: float,
        codes: Codes,
    ) -> FloatArray:
        """Relative errors of the laws of profiles, shape (profiles, groups)."""
        variance = error_variance(self._simulated_laws(studies, codes, prior_rows), self.networks)
        law = self.structure.cell_probabilities(types_at(codes))
        return factor * np.sqrt(relative_errors(variance, law, self.structure))

    def _end_ratio(
        self,
        studies: Sequence[_SimulatedStudy],
        types_at: Callable[[Codes], FloatArray],
        prior_rows: float,
    ) -> float:
        """How far the ends of bounds stray in simulated studies, over what the errors of the shares alone suggest.

        Shares of different groups do not err independently, and the errors of profiles differ in size.
        """
        schema, structure, estimand = self.study.schema, self.structure, usual_estimand(self.structure)
        if self.numeric:
            codes = self._some_profiles()[:_RATIO_PROFILES]
        else:
            codes = np.column_stack([self.rng.integers(0, n, _RATIO_PROFILES) for n in schema.shape]).astype(np.int32)
        laws = self._simulated_laws(studies, codes, prior_rows)
        flat = Law(structure, laws.reshape(-1, structure.n_cells))
        ends = np.stack(estimand.bounds_at(flat), axis=1).reshape(*laws.shape[:3], 2)
        law = structure.cell_probabilities(types_at(codes))
        error = relative_errors(error_variance(laws, self.networks), law, structure)
        rows = 1 / np.maximum(error, 1e-12)
        drawn = drawn_errors(estimand.bounds_at, Law(structure, law), rows, estimand.span)
        expected = np.square(drawn.ends).sum()
        ratio = np.sqrt(error_variance(ends, self.networks).sum() / max(expected, 1e-12))
        usual = self.config.intervals.usual_end_ratio(len(structure.description.outcomes))
        weight = self.config.intervals.end_ratio_weight
        return float(usual ** (1 - weight) * max(ratio, _MIN_END_RATIO) ** weight)

    def _decay(self, studies: Sequence[_SimulatedStudy], selected: _Selected) -> FloatArray:
        """How fast the correlation of errors falls with distance, shape (groups,)."""
        codes = self._some_profiles()
        laws = self._simulated_laws(studies, codes, selected.prior_rows)
        errors = (laws[:, 1] + laws[:, 2]) / 2 - laws[:, 0]
        return np.array(
            [
                fit_decay(error_covariance(errors[..., group]), codes, self.study.schema)
                for group in self.structure.group_slices
            ]
        )

    def _some_profiles(self) -> Codes:
        """Profiles of the study whose errors are compared in pairs, shape (some, covariates)."""
        some = self.rng.permutation(len(self.study.profiles))[: self.config.intervals.decay_profiles]
        return self.study.profiles[some]

    def _draw_counts(self, law: FloatArray) -> FloatArray:
        """A study like this one: its profiles are resampled, and `law` (profiles, structure) says what happens."""
        rows = [np.maximum(self.cell_counts[:, group], 0.0) for group in self.structure.group_slices]
        rows = [bootstrap_counts(each, self.rng) if each.any() else each for each in rows]
        drawn = [
            self.rng.multinomial(each.sum(axis=1).astype(np.int64), _normalise(law[:, group]))
            for each, group in zip(rows, self.structure.group_slices, strict=True)
        ]
        nothing = np.zeros((len(law), len(self.structure.sets)))
        return np.concatenate([*drawn, nothing], axis=1).astype(np.float64)

    def _inflation(self, studies: Sequence[_SimulatedStudy], selected: _Selected) -> float:
        """Inflation factor of the standard errors, from what was predicted of each fold without it."""
        predicted = [
            self._shrink(mode, seen, selected.prior_rows)
            for mode, seen in zip(selected.prior_modes, selected.training, strict=True)
        ]
        laws = [self.structure.cell_probabilities(types) for types in predicted]
        rows = self.counts[self.validation_profiles].sum(axis=1)
        profiles = self.study.profiles[self.validation_profiles]
        grouped = self.study.schema.positions(profiles)
        membership = random_subpopulations(grouped, rows, self.rng, self.config.intervals.subpopulations)
        return interval_inflation(
            self._simulated_laws(studies, profiles, selected.prior_rows),
            1 / np.square(selected.weights).sum(),
            laws,
            [effective_counts(fold, law, self.structure) for fold, law in zip(selected.held_out, laws, strict=True)],
            membership,
            1 - 1 / self.config.folds,
            self.structure,
            self.config.intervals,
        )

    def _inflation_of_numbers(
        self,
        studies: Sequence[_SimulatedStudy],
        types_at: Callable[[Codes], FloatArray],
        selected: _Selected,
        folds: Sequence[FloatArray],
    ) -> float:
        """Inflation factor of the standard errors, from what more rows taught about folds that were held out."""
        rest = [self.counts - fold for fold in folds]
        half = [split_counts(counts, 2, self.rng)[0] for counts in rest]
        capacities = apportion(selected.weights, self.config.numeric.curve_networks)
        sources = [*half, *rest]
        networks = self._train(sources, [(source, k) for source in range(len(sources)) for k in capacities], None)
        ensembles = [networks[start : start + len(capacities)] for start in range(0, len(networks), len(capacities))]
        types = [self.inputs.mean_types(each) for each in ensembles]
        learned = learning_gain(types[: len(folds)], types[len(folds) :], folds, self.structure)
        errors = self._simulated_errors(studies, types_at, selected.prior_rows, 1.0, self._some_profiles())
        weights = group_weights(self.counts, self.structure)
        simulated = float(np.square(errors).mean(axis=0) @ weights / weights.sum())
        return inflation_from_gain(learned, simulated, self.config.numeric)

    # --- what is kept ----------------------------------------------------------------------------------

    def _enumerated(self, fitted: _Fitted, covariates: Sequence[CovariateDistribution]) -> EnumeratedProfiles:
        schema = self.study.schema
        every, place = lattice.all_profiles(schema), profile_index(schema, self.study.profiles)
        variance = fitted.errors_at(every) ** 2
        for _ in range(_SMOOTHINGS):
            variance = smooth_over_neighbours(variance, every)
        return EnumeratedProfiles(
            schema,
            fitted.types_at(every).astype(np.float32),
            np.array([each.mass(every, place) for each in covariates]),
            np.sqrt(variance).astype(np.float32),
        )

    def _sampled(self, fitted: _Fitted, covariates: Sequence[CovariateDistribution]) -> SampledProfiles:
        from scipy.stats import qmc

        study = self.study
        points = qmc.Sobol(1 + len(study.schema.shape), seed=self.rng).random(self.config.draws)
        nobody = np.full(len(study.schema.shape), OPEN, dtype=np.int32)
        unseen = np.concatenate([each.smooth.draw(nobody, points[:_ERROR_PROFILES]) for each in covariates])
        some = self.rng.permutation(len(study.profiles))[:_ERROR_PROFILES]
        errors = [np.sqrt((fitted.errors_at(codes) ** 2).mean(axis=0)) for codes in (study.profiles[some], unseen)]
        return SampledProfiles(
            study.schema,
            study.profiles,
            fitted.types.astype(np.float32),
            np.array([each.empirical for each in covariates], np.float32),
            np.array([each.empirical_weight for each in covariates]),
            self._rows_of_shares(covariates),
            [each.smooth for each in covariates],
            [network.layers for network in fitted.networks],
            np.array(errors),
            points,
        )

    def _reference_people(self, fitted: _Fitted) -> ReferencePeople:
        study, limits = self.study, self.config.numeric
        rows = self.structure.by_table(self.counts)
        drawn = draw_people(rows.sum(axis=1), limits.max_people, self.rng)
        people = np.asfortranarray(study.profiles[drawn])
        types = fitted.types[drawn]
        share = rows[drawn] / np.maximum(rows.sum(axis=1)[drawn], 1e-300)[:, None]
        rows_of_drawn = rows[drawn] if len(drawn) == len(rows) else share
        masses = (rows_of_drawn / rows_of_drawn.sum(axis=0)).T
        some = np.sort(self.rng.permutation(len(people))[: limits.error_people])
        law = self.structure.cell_probabilities(types)
        mean = law.mean(axis=0, keepdims=True)
        inputs = replace(self.inputs, profiles=people)[some]
        return ReferencePeople(
            study.schema,
            people,
            types.astype(np.float32),
            masses,
            fitted.networks,
            fit_errors(inputs, fitted.errors_at(people[some])),
            relative_errors(law.var(axis=0, keepdims=True), mean, self.structure)[0],
        )

    def _rows_of_shares(self, covariates: Sequence[CovariateDistribution]) -> FloatArray:
        """Rows that the share of each profile in each table was counted in, shape (tables,)."""
        by_table = self.structure.by_table(self.counts).sum(axis=0)
        return np.array(
            [by_table.sum() if each.pooled else rows for each, rows in zip(covariates, by_table, strict=True)]
        )

    def _summary(self, selected: _Selected, covariates: Sequence[CovariateDistribution], fitted: _Fitted) -> FitSummary:
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
            fitted.inflation,
            tuple(tables),
            tuple(map(float, fitted.decay)),
            selected.no_network,
        )


def _unknown_errors(groups: int, codes: Codes) -> FloatArray:
    """Errors that nothing was simulated for, shape (profiles, groups)."""
    return np.full((len(codes), groups), np.nan)


def _normalise(probabilities: FloatArray) -> FloatArray:
    """Probabilities that add up to one to the last digit, as drawing wants."""
    found = np.maximum(probabilities, 0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))

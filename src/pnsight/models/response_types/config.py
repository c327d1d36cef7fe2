"""Configuration of a response-type model: what is tried, how much is trained, and the limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from pnsight.errors import ModelError
from pnsight.models.response_types.capacity import (
    CAPACITY_GRID,
    NUMERIC_CAPACITY_GRID,
    SHORT_CAPACITY_GRID,
    SMALL_CAPACITY_GRID,
    SMALL_NUMERIC_CAPACITY_GRID,
    Capacity,
)

MAX_ENUMERATED_PROFILES = 2**14
"""Profiles up to which all that the covariates allow are listed."""


@dataclass(frozen=True)
class Effort:
    """How much is trained.

    Attributes
    ----------
    capacities : tuple of Capacity
        Candidates for cross-validation, the constant one first.
    folds : int
        Folds that are held out in turn.
    networks : int
        Networks of the ensemble that is the estimate.
    simulations : int
        Simulated studies (parametric bootstrap) that the confidence intervals come from.
    """

    capacities: tuple[Capacity, ...] = CAPACITY_GRID
    folds: int = 4
    networks: int = 8
    simulations: int = 16


@dataclass(frozen=True)
class SelectionConfig:
    """How cross-validation chooses among capacities.

    Attributes
    ----------
    drop_at_se : float
        Standard errors behind the best at which a capacity is given up after the first half of the folds.
    reject_at_se : float
        Standard errors behind the best, likewise, at which what a capacity learns is no longer a law that may be the
        true one. The true law may well be rougher than what the best capacity makes of it, so these are more than may
        still win.
    min_win_ratio : float
        Share of the best capacity's wins below which a capacity gets no weight.
    bootstrap_samples : int
        Reweightings of the profiles that show how sure the choice is.
    """

    drop_at_se: float = 3.0
    reject_at_se: float = 7.0
    min_win_ratio: float = 0.25
    bootstrap_samples: int = 500


@dataclass(frozen=True)
class ShrinkageConfig:
    """Shrinkage of the networks' answer towards a profile's own counts.

    Attributes
    ----------
    prior_rows : tuple of float
        Rows that the networks may be worth as a prior; that a profile's own rows count for nothing is always tried too.
    rounds : int
        Most rounds of accelerated expectation-maximisation.
    tolerance : float
        Change of a probability below which a profile has converged.
    """

    prior_rows: tuple[float, ...] = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)
    rounds: int = 300
    tolerance: float = 1e-7


_EMPIRICAL_WEIGHTS = (0.0, *np.geomspace(0.001, 0.02, 6).tolist(), *np.linspace(0.03, 0.99, 60).tolist())


@dataclass(frozen=True)
class LatentClassConfig:
    """The covariate distribution: latent classes beside the empirical distribution.

    Attributes
    ----------
    classes : tuple of int
        Numbers of latent classes to try.
    empirical_weights : tuple of float
        Weights of the empirical distribution to try.
    folds : int
        Folds of the cross-validation.
    max_profiles : int
        Profiles that classes are fitted to and chosen on; of more, a random sample is taken.
    iterations : int
        Most iterations of expectation-maximisation.
    tolerance : float
        Gain in log-likelihood of a row below which expectation-maximisation has converged.
    prior_rows : float
        Rows of a Dirichlet prior at each class and each value.
    """

    classes: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    empirical_weights: tuple[float, ...] = _EMPIRICAL_WEIGHTS
    folds: int = 4
    max_profiles: int = 4096
    iterations: int = 200
    tolerance: float = 1e-6
    prior_rows: float = 0.5


@dataclass(frozen=True)
class IntervalConfig:
    """Calibration of the confidence intervals on held-out rows.

    Attributes
    ----------
    inflation_factors : tuple of float
        By what the standard error may be multiplied; the mean over them is taken.
    inflation, log_inflation_sd : float
        Centre of the factor's prior, and the standard deviation of its logarithm. Set on development populations.
    end_ratio, end_ratio_weight : float
        What the errors of ends usually are, over what the errors of shares suggest, and how much of the logarithm of
        the ratio is left to the simulated studies, which are too few to show it well. Set on development populations.
    end_ratio_if_graded : float
        What it usually is with more than two outcomes. Ends then add up shares of several outcomes whose errors go the
        same way: a network is wrong about how far a profile's outcomes are shifted as a whole, while shares are taken
        to stray like counts, and simulated studies show too little of it. Set on development populations.
    subpopulations : int
        Random queries that predictions and held-out counts are compared on.
    min_rows : int
        Held-out rows that a subpopulation needs, in an arm or in the observational table, to be compared.
    decay_profiles : int
        Most profiles whose errors are compared in pairs.
    """

    inflation_factors: tuple[float, ...] = tuple(np.geomspace(0.6, 3.0, 60).tolist())
    inflation: float = 0.95
    log_inflation_sd: float = 0.2
    end_ratio: float = 0.95
    end_ratio_weight: float = 0.4
    end_ratio_if_graded: float = 1.3
    subpopulations: int = 600
    min_rows: int = 30
    decay_profiles: int = 1024

    def usual_end_ratio(self, outcomes: int) -> float:
        """What the errors of ends usually are with that many outcomes, over what the errors of shares suggest."""
        return self.end_ratio if outcomes <= 2 else self.end_ratio_if_graded


@dataclass(frozen=True)
class RandomEffectsConfig:
    """Random effects of the covariates, where cross-validation chooses no network.

    Attributes
    ----------
    scales : tuple of float
        Variances of an effect of one covariate, relative to a row's, that the mean is taken over.
    ratios : tuple of float
        By what the variance of an effect falls with each covariate more that it is of.
    scale, log_scale_sd : float
        Centre of the scale's prior in the registry, and the standard deviation of its logarithm. Set on development
        populations.
    arm_ratio, log_arm_ratio_sd : float
        Centre of the ratio of the scale in an arm of the trial to that of the registry, likewise.
    max_features : int
        Most effects that are listed one by one.
    max_work : float
        Multiplications that all solutions together may take; with many profiles fewer effects are listed.
    """

    scales: tuple[float, ...] = tuple(np.geomspace(1e-6, 1.0, 13).tolist())
    ratios: tuple[float, ...] = (0.05, 0.15, 0.4, 1.0)
    scale: float = 0.015
    log_scale_sd: float = 1.5
    arm_ratio: float = 2.0
    log_arm_ratio_sd: float = 1.2
    max_features: int = 500
    max_work: float = 5e10


@dataclass(frozen=True)
class TrainingConfig:
    """How networks are trained: AdamW with a one-cycle learning rate.

    Attributes
    ----------
    pack : int
        Networks trained together: their hidden values still fit the processor's cache.
    block : int
        Most profiles in one step. Where there are more, each step takes the next block of them.
    pad : int
        Profiles are padded to a multiple of this, so that studies of nearly one size share compiled code.
    peak_rate, peak_rate_of_blocks : float
        Highest learning rate; the second where a step sees a block of the profiles, whose gradient is noisier.
    warm_up : float
        Share of the steps in which the learning rate rises.
    beta1, beta2 : float
        Decay of Adam's running means of the gradient and of its square.
    """

    pack: int = 4
    block: int = 4096
    pad: int = 128
    peak_rate: float = 2e-2
    peak_rate_of_blocks: float = 1e-2
    warm_up: float = 0.3
    beta1: float = 0.9
    beta2: float = 0.99


@dataclass(frozen=True)
class NumericConfig:
    """What differs where covariates are numbers, so that nearly every row is a profile of its own.

    Attributes
    ----------
    effort : Effort
        What is trained.
    effort_if_few : Effort
        What is trained where the study has fewer than `few_rows` rows in all.
    training : TrainingConfig
        How: a step sees a small block of the rows.
    max_validation_profiles : int
        Profiles that hyperparameters are chosen on, of those with rows held out; of more, a random sample is taken.
    max_people : int
        Reference people that a model keeps.
    error_people : int
        People whose errors are simulated.
    curve_networks : int
        Networks of each of the ensembles that show what twice as many rows teach.
    learning_ratio, log_learning_ratio_sd : float
        Mean squared error over what twice as many rows took off it, and the standard deviation of its logarithm from
        population to population. Set on development populations.
    inflation, log_inflation_sd : float
        Centre of the prior of the factor by which the errors in simulated studies are multiplied, and the standard
        deviation of its logarithm: laws that networks learned are smoother than the true one may be.
    """

    effort: Effort = Effort(NUMERIC_CAPACITY_GRID, folds=2, networks=8, simulations=8)
    effort_if_few: Effort = Effort(SMALL_NUMERIC_CAPACITY_GRID, networks=8, simulations=8)
    training: TrainingConfig = TrainingConfig(block=1024)
    max_validation_profiles: int = 65_536
    max_people: int = 100_000
    error_people: int = 2048
    curve_networks: int = 2
    learning_ratio: float = 2.8
    log_learning_ratio_sd: float = 0.4
    inflation: float = 1.5
    log_inflation_sd: float = 0.5


@dataclass(frozen=True)
class ResponseTypeConfig:
    """Configuration of `ResponseTypeModel`; the defaults were chosen on development populations.

    Attributes
    ----------
    effort : Effort
        What is trained.
    effort_if_many : Effort
        What is trained where the study has more than `many_profiles` distinct profiles.
    many_profiles : int
    effort_if_few : Effort
        What is trained where the study has fewer than `few_rows` rows in all.
    few_rows : int
    folds : int
        Folds that rows are divided into for cross-validation; `Effort.folds` of them are held out in turn.
    max_validation_profiles : int
        Profiles that hyperparameters are chosen on; of more, a random sample is taken.
    max_enumerated_profiles : int
        Profiles up to which a model lists all that the covariates allow; of more, it keeps those that have rows and
        samples the others.
    draws : int
        Profiles sampled to stand for those without rows; a power of two, as the Sobol sequence wants.
    selection : SelectionConfig
    shrinkage : ShrinkageConfig
    latent_classes : LatentClassConfig
    intervals : IntervalConfig
    random_effects : RandomEffectsConfig
    training : TrainingConfig
    numeric : NumericConfig
    """

    effort: Effort = Effort()
    effort_if_many: Effort = Effort(SHORT_CAPACITY_GRID, folds=2, networks=4, simulations=8)
    many_profiles: int = 8192
    effort_if_few: Effort = Effort(SMALL_CAPACITY_GRID)
    few_rows: int = 5000
    folds: int = 4
    max_validation_profiles: int = 16384
    max_enumerated_profiles: int = MAX_ENUMERATED_PROFILES
    draws: int = 1024
    selection: SelectionConfig = SelectionConfig()
    shrinkage: ShrinkageConfig = ShrinkageConfig()
    latent_classes: LatentClassConfig = LatentClassConfig()
    intervals: IntervalConfig = IntervalConfig()
    random_effects: RandomEffectsConfig = RandomEffectsConfig()
    training: TrainingConfig = TrainingConfig()
    numeric: NumericConfig = NumericConfig()

    def effort_for(self, profiles: int, rows: float, numeric: bool = False) -> Effort:
        """What is trained for a study with that many distinct profiles and rows, some of them numbers or not."""
        if numeric:
            return self.numeric.effort_if_few if rows < self.few_rows else self.numeric.effort
        if profiles > self.many_profiles:
            return self.effort_if_many
        return self.effort_if_few if rows < self.few_rows else self.effort

    def validate(self) -> None:
        """Raise ModelError where no model can be fitted with the configuration."""
        _validate_numbers(self, "config")
        named = {name: getattr(self, name) for name in ("effort", "effort_if_many", "effort_if_few")}
        named |= {f"numeric.{name}": getattr(self.numeric, name) for name in ("effort", "effort_if_few")}
        for name, effort in named.items():
            if not effort.capacities or not effort.capacities[0].constant:
                first = effort.capacities[:1]
                raise ModelError(f"config.{name}.capacities begins with {first}; expected the constant capacity first.")
            if not 2 <= effort.folds <= self.folds:
                raise ModelError(f"config.{name}.folds is {effort.folds}; expected from 2 to config.folds.")

    def __repr__(self) -> str:
        """What differs from the default."""
        return f"ResponseTypeConfig({', '.join(f'{name}={value!r}' for name, value in self._changed().items())})"

    def __str__(self) -> str:
        changed = self._changed()
        return f"other than the default: {', '.join(changed)}" if changed else "the default"

    def _changed(self) -> dict[str, Any]:
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return {each.name: own[each.name] for each in fields(self) if own[each.name] != each.default}

    def plain(self) -> dict[str, Any]:
        """The configuration as data that JSON can hold."""
        return asdict(self)


DEFAULT_CONFIG = ResponseTypeConfig()


def default_config() -> ResponseTypeConfig:
    """What a model is configured with unless it is given something else."""
    return DEFAULT_CONFIG


def _validate_numbers(value: Any, place: str) -> None:
    """Numbers are not negative, counts are at least one, and no list is empty."""
    if is_dataclass(value):
        for field in fields(value):
            _validate_numbers(getattr(value, field.name), f"{place}.{field.name}")
    elif isinstance(value, Capacity):
        if min(value.rank, value.hidden, value.decay, value.sparsity) < 0 or value.steps < 1:
            raise ModelError(f"{place} has {tuple(value)}; expected numbers of 0 or more, and at least one step.")
    elif isinstance(value, tuple):
        if not value:
            raise ModelError(f"{place} is empty; expected at least one.")
        for each in value:
            _validate_numbers(each, place)
    elif not value >= (1 if isinstance(value, int) else 0) or value == np.inf:
        least = 1 if isinstance(value, int) else 0
        raise ModelError(f"{place} has {value!r}; expected a number of at least {least}.")

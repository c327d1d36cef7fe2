"""Random effects of the covariates: known ones are found again, unsure ones shrunk, and intervals keep their word."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pnsight.data.schema import Covariate, Schema
from pnsight.data.structure import EXPERIMENTAL
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.models.response_types.config import RandomEffectsConfig
from pnsight.models.response_types.random_effects import CenteredCovariates, RandomEffects, fit_random_effects
from pnsight.queries import lattice

CONFIG = RandomEffectsConfig()
ALONE = TWO_BY_TWO.only([EXPERIMENTAL])
REACH = 1.644854
"""Standard errors that an interval of 90% reaches to either side."""


def schema_of(*shape) -> Schema:
    return Schema(tuple(Covariate(f"c{j}", tuple(map(str, range(levels)))) for j, levels in enumerate(shape)))


def fitted(shape, counts, profiles=None) -> list[RandomEffects]:
    """Effects from counts of every profile, or of some, in the cells of both tables or of an experiment alone."""
    profiles = lattice.all_profiles(schema_of(*shape)) if profiles is None else profiles
    structure = ALONE if counts.shape[1] == 4 else TWO_BY_TWO
    return fit_random_effects(profiles, np.asarray(counts, float), structure, tuple(shape), CONFIG)


def trial(shares, rows) -> np.ndarray:
    """Counts of an experiment alone in exact proportion, from shares of responders in its arms, shape (profiles, 2)."""
    rows = np.broadcast_to(rows, shares.shape)
    return np.stack([rows * shares, rows * (1 - shares)], axis=2).reshape(len(shares), 4)


def standard_errors(effects, profiles) -> np.ndarray:
    """Of the first cell's share, shape (profiles,)."""
    spread = effects.overall[0] * (1 - effects.overall[0])
    return np.sqrt(effects.predict(profiles)[1] * spread)


# --- contrasts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (2,), (1,), (3, 2), (4, 1, 3), (2, 2, 2, 2)], ids=str)
def test_contrasts_have_a_mean_of_zero_and_keep_distances(shape):
    profiles = lattice.all_profiles(schema_of(*shape))
    rows = np.arange(1.0, len(profiles) + 1)
    covariates = CenteredCovariates.of(shape, profiles, rows, CONFIG.max_features)
    for j, contrast in enumerate(covariates.contrasts(profiles)):
        assert contrast.shape == (len(profiles), shape[j] - 1)
        np.testing.assert_allclose(rows @ contrast, 0, atol=1e-12)
        apart = ((contrast[:, None] - contrast[None]) ** 2).sum(axis=2)
        np.testing.assert_allclose(apart, 2.0 * (profiles[:, None, j] != profiles[None, :, j]), atol=1e-12)


@pytest.mark.parametrize("shape", [(2,), (3, 2), (3, 2, 4), (2, 2, 2, 2, 2)], ids=str)
def test_features_are_listed_up_to_an_order_and_the_others_are_not_forgotten(shape):
    """The prior variance of all effects at a profile is a product over the covariates, however many are listed."""
    profiles, ratio = lattice.all_profiles(schema_of(*shape)), 0.4
    whole = None
    for most in (1, 12, 500):
        covariates = CenteredCovariates.of(shape, profiles, np.ones(len(profiles)), most)
        features, orders = covariates.products(profiles)
        assert features.shape == (len(profiles), len(orders))
        subsets = [set_ for size in range(covariates.order + 1) for set_ in combinations(shape, size)]
        assert len(orders) == sum(prod(levels - 1 for levels in set_) for set_ in subsets)
        listed = features[:, 1:] ** 2 @ ratio ** (orders[1:] - 1)
        found = listed + covariates.unlisted(profiles, ratio)
        np.testing.assert_allclose(found, found if whole is None else whole)
        whole = found
    squares = [(contrast**2).sum(axis=1) for contrast in covariates.contrasts(profiles)]
    np.testing.assert_allclose(whole, (np.prod([1 + ratio * each for each in squares], axis=0) - 1) / ratio)


def test_no_more_is_listed_than_there_is_room_for():
    shape = (2,) * 30
    profiles = np.random.default_rng(0).integers(0, 2, size=(40, 30)).astype(np.int32)
    covariates = CenteredCovariates.of(shape, profiles, np.ones(40), CONFIG.max_features)
    features, _ = covariates.products(profiles)
    assert covariates.order == 2
    assert features.shape[1] == 1 + 30 + 435 <= CONFIG.max_features


# --- known effects --------------------------------------------------------------------------------------


def test_known_effects_are_found_again_from_many_rows():
    """Main effects and an interaction, of 100,000 rows a profile and arm: to two standard errors of one share."""
    profiles = lattice.all_profiles(schema_of(2, 2, 2))
    a, b, c = profiles.T
    shares = np.stack([0.5 + 0.2 * a - 0.1 * b + 0.1 * a * c, 0.3 + 0.1 * (b == c)], axis=1)
    found = fitted((2, 2, 2), trial(shares, 100_000))
    for arm, effects in enumerate(found):
        np.testing.assert_allclose(effects.predict(profiles)[0][:, 0], shares[:, arm], atol=2 * 0.5 / np.sqrt(1e5))


def test_a_main_effect_reaches_profiles_that_have_no_rows():
    """Of sixteen profiles the last has none: what its neighbours teach is nearer than what is true of everyone."""
    profiles = lattice.all_profiles(schema_of(2, 2, 2, 2))
    shares = 0.3 + 0.1 * profiles.sum(axis=1, keepdims=True) * np.ones(2)
    rows = np.where(np.arange(16) == 15, 0, 2000)[:, None]
    effects = fitted((2, 2, 2, 2), trial(shares, rows))[0]
    guess = effects.predict(profiles[-1:])[0][0, 0]
    assert abs(guess - 0.7) < abs(effects.overall[0] - 0.7) / 4


def test_where_profiles_do_not_differ_they_are_told_to_differ_little():
    profiles = lattice.all_profiles(schema_of(2, 2, 2))
    effects = fitted((2, 2, 2), trial(np.full((8, 2), 0.4), 500))[0]
    np.testing.assert_allclose(effects.predict(profiles)[0][:, 0], 0.4, atol=1e-3)
    assert (standard_errors(effects, profiles) < np.sqrt(0.24 / 500)).all()  # what others teach is not nothing


def test_how_much_the_registry_differs_says_what_to_expect_of_the_trial():
    """The same small trial beside a registry in which profiles differ much, and beside one in which they do not."""
    profiles = lattice.all_profiles(schema_of(2, 2, 2))
    arms = trial(np.stack([0.5 + 0.05 * (profiles[:, 0] - 0.5), np.full(8, 0.5)], axis=1), 50)
    even = np.full((8, 4), 2500.0)
    uneven = 10_000 * TWO_BY_TWO.cell_probabilities(np.random.default_rng(0).dirichlet(np.ones(8), size=8))[:, 4:]
    same, different = (fitted((2, 2, 2), np.concatenate([arms, registry], axis=1))[0] for registry in (even, uneven))
    assert same.log_scale < different.log_scale
    assert (standard_errors(same, profiles) < standard_errors(different, profiles)).all()


# --- shrinkage ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [2, 3, 6])
@pytest.mark.parametrize("rows", [5, 50, 5000])
def test_the_estimate_lies_between_the_rows_of_a_profile_and_those_of_everyone(levels, rows):
    """One covariate of which every category has as many rows."""
    shares = np.random.default_rng(levels).uniform(0.2, 0.8, size=(levels, 2))
    profiles = lattice.all_profiles(schema_of(levels))
    for arm, effects in enumerate(fitted((levels,), trial(shares, rows))):
        found, overall = effects.predict(profiles)[0][:, 0], shares[:, arm].mean()
        low, high = np.minimum(shares[:, arm], overall), np.maximum(shares[:, arm], overall)
        slack = 0.5 / rows / levels  # half a row is added to each cell of everyone
        assert (found >= low - slack).all()
        assert (found <= high + slack).all()


@pytest.mark.parametrize("shape", [(2,), (3, 2), (2, 2, 2)], ids=str)
def test_the_more_rows_the_less_is_shrunk_and_the_surer_it_is(shape):
    profiles = lattice.all_profiles(schema_of(*shape))
    shares = np.random.default_rng(0).uniform(0.3, 0.7, size=(len(profiles), 2))
    off, errors = [], []
    for rows in (10, 100, 1000, 10_000):
        effects = fitted(shape, trial(shares, rows))[0]
        off.append(np.abs(effects.predict(profiles)[0][:, 0] - shares[:, 0]).sum())
        errors.append(standard_errors(effects, profiles).mean())
    assert (np.diff(off) < 0).all()
    assert (np.diff(errors) < 0).all()


def test_an_estimate_is_surer_than_the_rows_of_its_profile_alone_and_less_sure_than_those_of_everyone():
    profiles = lattice.all_profiles(schema_of(2, 2, 2))
    shares = 0.4 + 0.05 * profiles[:, :1] * np.ones(2)
    variance = fitted((2, 2, 2), trial(shares, 200))[0].predict(profiles)[1]
    assert (variance < 1 / 200).all()
    assert (variance > 1 / 1600).all()


# --- any study ------------------------------------------------------------------------------------------


@st.composite
def any_counts(draw):
    shape = tuple(draw(st.lists(st.integers(1, 4), max_size=3)))
    profiles = lattice.all_profiles(schema_of(*shape))
    alone = draw(st.booleans())
    counts = np.array([draw(st.lists(st.integers(0, 30), min_size=8, max_size=8)) for _ in profiles], dtype=float)[
        :, : 4 if alone else 8
    ]
    return shape, profiles, counts


@pytest.mark.slow
@given(given=any_counts())
def test_shares_are_shares_and_variances_are_not_negative(given):
    """With covariates of any number of categories or none, and profiles, arms or tables without rows."""
    shape, profiles, counts = given
    for effects in fitted(shape, counts):
        shares, variance = effects.predict(profiles)
        assert np.isfinite(shares).all()
        assert (shares > 0).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert np.isfinite(variance).all()
        assert (variance > 0).all()
        covariance = effects.error_covariance(profiles)
        assert np.linalg.eigvalsh(covariance).min() > 0
        assert (np.diag(covariance) <= variance * (1 + 1e-9)).all()


def test_errors_of_two_profiles_are_less_alike_the_more_covariates_differ():
    profiles = lattice.all_profiles(schema_of(2, 2, 2, 2))
    counts = np.random.default_rng(5).poisson(12, size=(16, 8)).astype(float)
    apart = (profiles[:, None] != profiles[None]).sum(axis=2)
    for effects in fitted((2, 2, 2, 2), counts):
        covariance = effects.error_covariance(profiles)
        size = np.sqrt(np.diag(covariance))
        alike = [float((covariance / np.outer(size, size))[apart == k].mean()) for k in range(5)]
        assert alike[0] == pytest.approx(1)
        assert alike[1] > alike[2] > alike[3]


def test_without_covariates_it_is_the_share_of_everyone_with_the_error_of_its_rows():
    nobody = np.zeros((1, 0), np.int32)
    counts = np.array([[40.0, 60, 20, 80, 100, 200, 300, 400]])
    for effects, columns in zip(fitted((), counts, nobody), TWO_BY_TWO.group_slices, strict=True):
        shares, variance = effects.predict(nobody)
        rows = counts[0, columns].sum()
        np.testing.assert_allclose(shares[0], counts[0, columns] / rows, atol=1 / rows)
        np.testing.assert_allclose(variance, 1 / (rows + 1))


@pytest.mark.parametrize("constant", [0, 1, 2])
def test_a_covariate_of_one_category_makes_no_difference(constant):
    shape = [3, 2]
    profiles = lattice.all_profiles(schema_of(*shape))
    counts = np.random.default_rng(0).integers(1, 40, size=(6, 8)).astype(float)
    wider = np.insert(profiles, constant, 0, axis=1)
    shape_of_wider = (*shape[:constant], 1, *shape[constant:])
    for one, other in zip(fitted(shape, counts), fitted(shape_of_wider, counts, wider), strict=True):
        for found, same in zip(one.predict(profiles), other.predict(wider), strict=True):
            np.testing.assert_allclose(found, same, rtol=1e-6)


def test_an_arm_without_rows_at_some_profiles_is_learned_from_the_others():
    profiles = lattice.all_profiles(schema_of(2, 2))
    shares = 0.3 + 0.2 * profiles[:, :1] * np.ones(2)
    rows = np.array([[300, 300], [300, 0], [300, 300], [300, 0]])
    treated, control = fitted((2, 2), trial(shares, rows))
    np.testing.assert_allclose(control.predict(profiles)[0][:, 0], shares[:, 1], atol=0.05)
    bare = rows[:, 1] == 0
    assert (standard_errors(control, profiles)[bare] > standard_errors(treated, profiles)[bare]).all()
    assert (standard_errors(control, profiles)[bare] > standard_errors(control, profiles)[~bare]).all()


def test_the_order_of_the_profiles_makes_no_difference():
    profiles = lattice.all_profiles(schema_of(3, 2))
    counts = np.random.default_rng(1).integers(0, 40, size=(6, 8)).astype(float)
    for one, other in zip(fitted((3, 2), counts), fitted((3, 2), counts[::-1], profiles[::-1]), strict=True):
        for found, same in zip(one.predict(profiles), other.predict(profiles), strict=True):
            np.testing.assert_allclose(found, same, rtol=1e-6)


# --- calibration ----------------------------------------------------------------------------------------


def simulated(rows, rng) -> tuple[np.ndarray, np.ndarray]:
    """Counts of an experiment and the shares behind them, (profiles, 2), whose effects are as the prior says.

    Studies in which a share would leave [.05, .95] are drawn again.
    """
    profiles = lattice.all_profiles(schema_of(2, 2, 2))
    while True:
        sizes = rng.multinomial(rows, np.full(8, 1 / 8), size=2).astype(float).T
        scale = np.exp(rng.normal(np.log(CONFIG.scale), CONFIG.log_scale_sd))
        covariates = CenteredCovariates.of((2, 2, 2), profiles, sizes.sum(axis=1), CONFIG.max_features)
        features, orders = covariates.products(profiles)
        size = np.where(orders == 0, 0.0, np.sqrt(scale * rng.choice(CONFIG.ratios) ** np.maximum(orders - 1, 0)))
        shares = 0.5 + 0.5 * features @ (size[:, None] * rng.standard_normal((len(orders), 2)))
        if shares.min() > 0.05 and shares.max() < 0.95:
            responded = rng.binomial(sizes.astype(int), shares)
            return np.stack([responded, sizes - responded], axis=2).reshape(8, 4), shares


@pytest.mark.slow
@pytest.mark.parametrize("rows", [60, 600])
def test_intervals_hold_as_often_as_they_say_if_effects_are_as_the_prior_has_them(rows):
    """A hundred and fifty studies of two arms: the share that is held is known to its spread between arms."""
    rng, profiles = np.random.default_rng(rows), lattice.all_profiles(schema_of(2, 2, 2))
    held = []
    for _ in range(150):
        counts, shares = simulated(rows, rng)
        for arm, effects in enumerate(fitted((2, 2, 2), counts)):
            off = effects.predict(profiles)[0][:, 0] - shares[:, arm]
            held.append((np.abs(off) <= REACH * standard_errors(effects, profiles)).mean())
    assert np.mean(held) == pytest.approx(0.9, abs=3 * np.std(held) / np.sqrt(len(held)))

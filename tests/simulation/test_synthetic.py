"""Random populations: frozen, confounded, with people who benefit and people who are harmed.

Seeds 101-110 are for reporting only and appear in no test.
"""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from golden.regenerate import RANDOM_POPULATIONS, fingerprints
from laws import p_xy, p_y_do_x, p_y_do_x0
from pnsight import simulation as populations
from pnsight.data.law import Law
from pnsight.errors import PopulationError
from pnsight.queries import lattice

SEEDS = (1, 2, 3, 4, 5)
MEMBERS = [(kind, seed) for kind in populations.KINDS for seed in SEEDS]


def profiles_of(population):
    return lattice.all_profiles(population.schema)


def test_there_are_three_shapes_each_with_independent_and_dependent_covariates():
    assert set(populations.KINDS) == {
        f"{shape}{suffix}" for shape in ("index", "interaction", "tree") for suffix in ("", "-dependent")
    }


@pytest.mark.parametrize("kind", populations.KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_population_is_frozen(kind, seed):
    """Regenerate on purpose only: python tests/golden/regenerate.py"""
    frozen = json.loads(RANDOM_POPULATIONS.read_text(encoding="utf-8"))[f"{kind}:{seed}"]
    found = fingerprints(populations.random_population(kind, seed))
    assert found.keys() == frozen.keys()
    for name, values in frozen.items():
        np.testing.assert_allclose(found[name], values, atol=1e-9, rtol=0, err_msg=name)


@pytest.mark.parametrize("kind", populations.KINDS)
def test_a_population_is_determined_by_kind_seed_and_size(kind):
    first, again, other = (populations.random_population(kind, seed) for seed in (3, 3, 4))
    profiles = profiles_of(first)
    np.testing.assert_array_equal(first.types(profiles), again.types(profiles))
    np.testing.assert_array_equal(first.covariates.mass(profiles), again.covariates.mass(profiles))
    assert not np.allclose(first.types(profiles), other.types(profiles))
    np.testing.assert_array_equal(populations.get(f"{kind}:3").types(profiles), first.types(profiles))


@pytest.mark.parametrize(("kind", "seed"), MEMBERS)
def test_some_benefit_and_some_are_harmed(kind, seed):
    shares = populations.get(f"{kind}:{seed}").mixture("")[1].reshape(2, 2, 2)
    assert shares[:, 0, 1].sum() > 0.02
    assert shares[:, 1, 0].sum() > 0.02


@pytest.mark.parametrize(("kind", "seed"), MEMBERS)
def test_effects_change_sign_between_profiles(kind, seed):
    population = populations.get(f"{kind}:{seed}")
    law = population.law(profiles_of(population))
    assert (p_y_do_x(law) - p_y_do_x0(law)).min() < -0.02
    assert (p_y_do_x(law) - p_y_do_x0(law)).max() > 0.02


@pytest.mark.parametrize(("kind", "seed"), MEMBERS)
def test_hidden_causes_confound_within_profiles(kind, seed):
    """Given the profile, those who choose the treatment do not respond as everyone would."""
    population = populations.get(f"{kind}:{seed}")
    law: Law = population.law(profiles_of(population))
    chosen_and_responded, chosen_and_not, _, _ = p_xy(law).T
    gap = p_y_do_x(law) - chosen_and_responded / (chosen_and_responded + chosen_and_not)
    assert population.covariates.mass(profiles_of(population)) @ np.abs(gap) > 0.01


@pytest.mark.parametrize(("kind", "seed"), MEMBERS)
def test_hidden_causes_move_choice_and_responses(kind, seed):
    population = populations.get(f"{kind}:{seed}")
    assert len(population.hidden) == 3
    hidden = np.array(list(np.ndindex(2, 2, 2)), dtype=np.int32)
    profiles = profiles_of(population)[::100]
    assert population.choice(profiles, hidden).std(axis=1).min() > 0.005
    assert population.responses(profiles, hidden).std(axis=1).max() > 0.01


@pytest.mark.parametrize(("kind", "seed"), MEMBERS)
def test_covariates_depend_on_each_other_exactly_when_the_kind_says_so(kind, seed):
    population = populations.get(f"{kind}:{seed}")
    profiles = profiles_of(population)
    mass = population.covariates.mass(profiles)
    ones = mass @ profiles
    product = np.prod(np.where(profiles == 1, ones, 1 - ones), axis=1)
    distance = np.abs(mass - product).sum() / 2
    if kind.endswith("-dependent"):
        assert distance > 0.05
    else:
        assert distance < 1e-12


@pytest.mark.parametrize("kind", populations.KINDS)
@pytest.mark.parametrize("d", [1, 2, 3, 7, 12])
def test_other_numbers_of_covariates_work(kind, d):
    population = populations.random_population(kind, 1, covariates=d)
    assert population.schema.names == tuple(f"z{i}" for i in range(1, d + 1))
    shares = population.mixture("")[1][0]
    assert shares.sum() == pytest.approx(1)
    assert population.bounds("").status.tolist() == ["ok"]
    assert population.sample(40, 30, seed=1).experimental.sum() == 40


@pytest.mark.parametrize("kind", populations.KINDS)
def test_thirty_covariates_can_be_sampled(kind):
    study = populations.random_population(kind, 1, covariates=30).sample(100, 100, seed=1)
    assert study.profiles.shape[1] == 30
    assert study.counts.sum() == 200


def test_an_unknown_kind_is_named_with_the_nearest_known_one():
    with pytest.raises(PopulationError, match=re.escape("'indx'; there are index,") + r".*Did you mean 'index'\?"):
        populations.random_population("indx", 1)

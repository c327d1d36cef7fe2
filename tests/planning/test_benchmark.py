"""The rows that the benchmark of planning draws are experimental rows of the group, and follow its law."""

from __future__ import annotations

import numpy as np
import pytest

from laws import p_y_do_x, p_y_do_x0
from planning import with_rows
from pnsight import simulation as populations
from pnsight.queries import lattice

ADDED = 200_000


def test_rows_are_drawn_from_the_people_of_the_group():
    population = populations.random_population("interaction", 1, covariates=4)
    study = population.sample(experimental=1000, observational=1000, seed=11)
    more = with_rows(population, study, "z1=1", ADDED, seed=11)
    profiles = lattice.all_profiles(population.schema)
    before, after = (lattice.sum_over(population.schema, profiles, s.profiles, s.counts) for s in (study, more))
    new = after - before
    assert new.sum() == ADDED
    assert (new[:, 4:] == 0).all()
    assert (new[profiles[:, 0] == 0] == 0).all()
    mass, _ = population.mixture(profiles)
    inside = profiles[:, 0] == 1
    assert new[inside].sum(axis=1) / ADDED == pytest.approx(mass[inside] / mass[inside].sum(), abs=4 * ADDED**-0.5)
    law = population.law("z1=1")
    treated, untreated = new[:, :2].sum(axis=0), new[:, 2:4].sum(axis=0)
    assert treated.sum() / ADDED == pytest.approx(0.5, abs=4 * ADDED**-0.5)
    shares = [treated[0] / treated.sum(), untreated[0] / untreated.sum()]
    assert shares == pytest.approx([p_y_do_x(law)[0], p_y_do_x0(law)[0]], abs=4 * ADDED**-0.5)


def test_no_rows_change_nothing():
    population = populations.random_population("interaction", 1, covariates=4)
    study = population.sample(experimental=1000, observational=1000, seed=11)
    same = with_rows(population, study, "", 0, seed=11)
    assert np.array_equal(same.profiles, study.profiles)
    assert np.array_equal(same.counts, study.counts)

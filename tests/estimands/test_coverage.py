"""The oracle's bounds hold the truth in every population and for every query."""

from __future__ import annotations

import numpy as np
import pytest

from closed_forms import QUANTITIES
from laws import p_xy
from pnsight import simulation as populations
from pnsight.estimands import bounds, incompatibility
from pnsight.estimands.resolve import resolve_crossed_bounds
from pnsight.queries import lattice
from truth import TYPES, true_value

POPULATIONS = [*populations.NAMES, *(f"{kind}:1" for kind in populations.KINDS)]
SLACK = 1e-12


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_true_pns_lies_within_the_oracle_bounds_of_all_59049_queries(name):
    population = populations.get(name)
    queries = lattice.all_queries(population.schema)
    assert len(queries) == 3**10
    answer, truth = population.bounds(queries), population.pns(queries)
    assert set(answer.status) == {"ok"}
    assert np.all((answer.lower <= truth + SLACK) & (truth <= answer.upper + SLACK))
    assert np.all((answer.lower >= 0) & (answer.lower <= answer.upper) & (answer.upper <= 1))


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("name", POPULATIONS)
def test_every_quantity_holds_its_truth_or_is_undefined(name, quantity):
    """Undefined exactly where the event conditioned on is impossible, never incoherent."""
    population = populations.get(name)
    queries = lattice.all_profiles(population.schema)[::37]
    answer, shares = population.bounds(queries, quantity), population.mixture(queries)[1]
    truth = np.array([true_value(row, quantity) for row in shares])
    np.testing.assert_array_equal(answer.status, np.where(np.isnan(truth), "undefined", "ok"))
    known = ~np.isnan(truth)
    assert np.all(answer.lower[known] <= truth[known] + 1e-9)
    assert np.all(truth[known] <= answer.upper[known] + 1e-9)


@pytest.mark.parametrize("name", POPULATIONS)
def test_no_query_of_a_population_is_incoherent_for_any_quantity(name):
    population = populations.get(name)
    law = population.law(lattice.all_queries(population.schema))
    for quantity in QUANTITIES:
        assert set(resolve_crossed_bounds(*bounds(law, quantity))[2]) <= {"ok", "undefined"}


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_oracle_law_is_coherent_and_its_joint_sums_to_one(name):
    population = populations.get(name)
    law = population.law(lattice.all_queries(population.schema))
    assert incompatibility(law).max() <= 1e-12
    np.testing.assert_allclose(p_xy(law).sum(axis=1), 1, atol=1e-12)


def test_everyone_is_of_one_of_eight_types():
    assert len(TYPES) == 8
    shares = populations.get("mediator").mixture("")[1][0]
    assert shares.shape == (8,)
    assert shares.sum() == pytest.approx(1)

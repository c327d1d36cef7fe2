"""The paper's populations: their equations, digit for digit, and the reference values computed independently."""

from __future__ import annotations

import numpy as np
import pytest

import paper_equations as paper
from laws import p_xy, p_y_do_x, p_y_do_x0
from pnsight import simulation as populations
from pnsight.errors import PopulationError
from pnsight.queries import lattice
from pnsight.simulation import catalog

REFERENCE = [
    ("confounder", "1101001110", 4.04789e-6, 0.306405, 0.626350, 0.337301),
    ("confounder", "XXXXXXXXXX", 1.000000, 0.160386, 0.543458, 0.258443),
    ("confounder", "XX01X0X1XX", 0.080919, 0.236089, 0.581655, 0.294475),
    ("covariate", "0000000000", 8.47609e-5, 0.000000, 0.327914, 0.032298),
    ("covariate", "XX01X0X1XX", 0.080919, 0.236089, 0.617676, 0.294475),
    ("mediator", "1101001110", 4.04789e-6, 0.251473, 0.333204, 0.251473),
    ("mediator", "X101001110", 1.14699e-5, 0.135155, 0.168520, 0.135155),
    ("mediator", "XXXXXXXXXX", 1.000000, 0.245661, 0.452765, 0.245661),
]
"""Population, query, mass, lower, upper, true PNS."""


@pytest.mark.parametrize(("name", "query", "mass", "lower", "upper", "pns"), REFERENCE)
def test_reference_value(name, query, mass, lower, upper, pns):
    population = populations.get(name)
    answer = population.bounds(query)
    found = [answer.lower[0], answer.upper[0], population.pns(query)[0]]
    np.testing.assert_allclose(found, [lower, upper, pns], atol=1e-6, rtol=0)
    np.testing.assert_allclose(population.mixture(query)[0], mass, atol=0, rtol=1e-5)
    assert answer.queries == [query]


@pytest.mark.parametrize(("name", "value"), [("direct", 0.0), ("direct-positive", 0.502331)])
def test_in_the_direct_populations_every_query_has_the_same_point_as_bounds(name, value):
    population = populations.get(name)
    queries = lattice.all_queries(population.schema)
    answer = population.bounds(queries)
    for column in (answer.lower, answer.upper, population.pns(queries)):
        np.testing.assert_allclose(column, value, atol=1e-6)


def test_as_printed_direct_makes_the_outcome_impossible_under_treatment():
    law = populations.get("direct").law("")
    assert p_y_do_x(law)[0] == 0
    assert p_y_do_x0(law)[0] == pytest.approx(0.497668975278)


# --- the equations --------------------------------------------------------------------------------------


def test_coefficients_are_the_papers_digit_for_digit():
    np.testing.assert_array_equal(catalog.X_WEIGHTS, paper.X_WEIGHTS)
    np.testing.assert_array_equal(catalog.Y_WEIGHTS, paper.Y_WEIGHTS)
    np.testing.assert_array_equal(catalog.Z_PROBABILITIES, paper.U_Z)
    assert len(paper.X_WEIGHTS) == len(paper.Y_WEIGHTS) == len(paper.U_Z) == 20
    assert (catalog.C_Y, catalog.U_X, catalog.U_Y) == (-0.77953605542, 0.601680857267, 0.497668975278)
    assert (catalog.MEDIATOR_U_X, catalog.MEDIATOR_U_Y, catalog.U_M) == (0.698319142733, 0.502331024722, 0.402331024722)
    assert (catalog.C_M, catalog.C_Y_M, catalog.C_Y_X) == (-0.74234511918, 0.24235642321, 0.87953605542)


PEOPLE = 250_000
ASKED = ["XXXXXXXXXX", "XX01X0X1XX", "1XXXXXXXXX", "0XXXXXXXXX", "X1XXXXXX1X", "XXX1XXXXX1", "XXXX1XXXXX"]


@pytest.mark.parametrize("name", populations.NAMES)
def test_the_oracle_agrees_with_people_simulated_one_by_one(name):
    """An independent reading of the appendix, hidden covariates and all; within five standard errors."""
    people, population = paper.simulate(name, PEOPLE, seed=20), populations.get(name)
    shares, mass = population.law(ASKED), population.mixture(ASKED)[0]
    for row, query in enumerate(ASKED):
        wanted = [(j, int(symbol)) for j, symbol in enumerate(query) if symbol != "X"]
        covered = np.all([people.z[:, j] == level for j, level in wanted], axis=0) if wanted else np.full(PEOPLE, True)
        assert_within_five_sigma(covered, mass[row])
        x, y = people.x[covered], people.y[covered]
        y0, y1 = people.y0[covered], people.y1[covered]
        assert_within_five_sigma(y1, p_y_do_x(shares)[row])
        assert_within_five_sigma(y0, p_y_do_x0(shares)[row])
        assert_within_five_sigma((y1 == 1) & (y0 == 0), population.pns(query)[0])
        for cell, chosen in enumerate(((1, 1), (1, 0), (0, 1), (0, 0))):
            assert_within_five_sigma((x == chosen[0]) & (y == chosen[1]), p_xy(shares)[row, cell])


def assert_within_five_sigma(happened: np.ndarray, probability: float) -> None:
    sigma = np.sqrt(max(0.0, probability * (1 - probability)) / len(happened))
    assert abs(happened.mean() - probability) <= 5 * sigma + 1e-12


# --- the diagram and the names --------------------------------------------------------------------------


def test_the_catalog_holds_the_four_populations_and_the_likely_intent_of_the_degenerate_one():
    assert set(populations.NAMES) == {"confounder", "covariate", "direct", "direct-positive", "mediator"}


@pytest.mark.parametrize("name", populations.NAMES)
def test_ten_covariates_are_observed_in_the_papers_order(name):
    schema = populations.get(name).schema
    assert schema.names == tuple(f"z{i}" for i in range(1, 11))
    assert (schema.n_profiles, schema.n_queries) == (1024, 59049)


@pytest.mark.parametrize(
    ("name", "arrows"),
    [
        ("confounder", {"ZX", "ZY", "XY"}),
        ("covariate", {"ZY", "XY"}),
        ("direct", {"XY"}),
        ("direct-positive", {"XY"}),
        ("mediator", {"ZX", "ZY", "XY", "XM", "MY"}),
    ],
)
def test_the_diagram_is_the_papers(name, arrows):
    assert {cause + effect for cause, effect in populations.get(name).arrows} == arrows


@pytest.mark.parametrize("name", ["covariate", "direct", "direct-positive"])
def test_without_an_arrow_from_z_to_x_choice_does_not_depend_on_the_profile(name):
    population = populations.get(name)
    joint = p_xy(population.law(lattice.all_profiles(population.schema)))
    np.testing.assert_allclose(joint[:, :2].sum(axis=1), 0.601680857267)


def test_in_mediator_nobody_is_harmed():
    population = populations.get("mediator")
    law = population.law(lattice.all_queries(population.schema))
    np.testing.assert_allclose(
        population.pns(lattice.all_queries(population.schema)), p_y_do_x(law) - p_y_do_x0(law), atol=1e-12
    )


def test_how_few_profiles_have_rows():
    """The printed covariate law at 200k rows: about 91% of exact and 61% of mask queries expect under 300 rows."""
    population = populations.get("mediator")
    sizes = {name: 200_000 * population.mixture(space(population.schema))[0] for name, space in lattice.SPACES.items()}
    assert (sizes["exact"] < 300).sum() == pytest.approx(936, abs=10)
    assert (sizes["exact"] < 300).mean() == pytest.approx(0.91, abs=0.01)
    assert (sizes["mask"] < 300).mean() == pytest.approx(0.61, abs=0.01)


def test_a_name_and_a_kind_with_seed_both_find_their_population():
    assert populations.get("mediator").name == "mediator"
    assert populations.get("tree-dependent:7").name == "tree-dependent:7"
    assert populations.get("mediator") is populations.get("mediator")


@pytest.mark.parametrize("name", ["mediatr", "Mediator", "tree", "tree:", "tree:x", "tree:-1", "forest:1", ""])
def test_an_unknown_name_is_named_beside_the_known_ones(name):
    with pytest.raises(PopulationError, match=rf"no population is called '{name}'; there are confounder, .* tree:7"):
        populations.get(name)


def test_a_near_miss_gets_a_suggestion():
    with pytest.raises(PopulationError, match=r"Did you mean 'mediator'\?"):
        populations.get("mediatr")

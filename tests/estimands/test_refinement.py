"""Averaging the bounds of profiles: within the bounds of their average, and the truth within both."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cases import MEN, TOLERANCE, WOMEN
from closed_forms import QUANTITIES
from laws import asking, of_types, referee
from pnsight import simulation as populations
from pnsight.data.law import Law
from pnsight.data.structure import OBSERVATIONAL
from pnsight.data.two_by_two import TWO_BY_TWO, XY, Y_X, Y_X0, two_by_two_law
from pnsight.errors import IncoherentError
from pnsight.estimands import incompatibility
from pnsight.queries import lattice
from strategies import any_laws, mixing_weights, type_shares
from truth import true_value

POPULATIONS = [*populations.NAMES, *(f"{kind}:{seed}" for seed, kind in enumerate(populations.KINDS[:5], start=1))]
POPULATIONS += [f"{populations.KINDS[5]}:1"]
ALL = [*QUANTITIES, "benefit"]
SLACK = 1e-9
PARTS = 5
EDGE = 1e-7
CONTRADICTORY = two_by_two_law(np.array([0.9]), np.array([0.5]), np.array([[0.0, 0.5, 0.25, 0.25]]))
"""Nobody is treated and responds, half are treated and do not; assigned the treatment, nine in ten would respond."""


def payoffs_of(quantity: str) -> tuple[float, ...] | None:
    return (100, -60, 0, -140) if quantity == "benefit" else None


def refined(law: Law, weights: np.ndarray, quantity: str, payoffs=None) -> tuple[float, float]:
    question = asking(quantity, payoffs, refine="covariates")
    lower, upper = question.bounds_from_mean_terms(weights @ question.profile_terms(law), TWO_BY_TWO)
    return float(lower[0]), float(upper[0])


def test_case_d_the_sexes_own_bounds_averaged():
    law = Law(TWO_BY_TWO, np.concatenate([case.law().cells for case in (WOMEN, MEN)]))
    half = np.array([[0.5, 0.5]])
    np.testing.assert_allclose(refined(law, half, "pns"), (0.3845, 0.3845), atol=TOLERANCE)
    np.testing.assert_allclose(refined(law, half, "harm"), (0.105, 0.105), atol=TOLERANCE)
    np.testing.assert_allclose(refined(law, half, "ps"), (0.5, 0.5), atol=TOLERANCE)  # the untreated are equally many


@pytest.mark.parametrize("quantity", QUANTITIES)
@given(types=type_shares(rows=PARTS), weights=mixing_weights(PARTS))
def test_refined_bounds_lie_within_plain_ones_and_hold_the_truth(quantity, types, weights):
    law = of_types(types)
    lower, upper = (float(end[0]) for end in asking(quantity).bounds_at(law.mix(weights)))
    inner = refined(law, weights, quantity)
    truth = true_value((weights @ types)[0], quantity)
    if np.isnan(truth):
        assert np.isnan([lower, upper, *inner]).all()
    else:
        assert lower - SLACK <= inner[0] <= truth + SLACK
        assert truth - SLACK <= inner[1] <= upper + SLACK


@given(types=type_shares(rows=PARTS), weights=mixing_weights(PARTS), payoffs=st.tuples(*[st.integers(-50, 50)] * 4))
def test_so_do_those_of_the_benefit_for_payoffs_of_any_sign(types, weights, payoffs):
    law, question = of_types(types), asking("benefit", payoffs)
    lower, upper = (float(end[0]) for end in question.bounds_at(law.mix(weights)))
    inner, truth = refined(law, weights, "benefit", payoffs), float(question.truth(weights @ types, TWO_BY_TWO)[0])
    assert lower - 1e-7 <= inner[0] <= truth + 1e-7
    assert truth - 1e-7 <= inner[1] <= upper + 1e-7


@given(law=any_laws(), others=type_shares(rows=2))
@example(law=CONTRADICTORY, others=np.full((2, 8), 1 / 8))
@settings(max_examples=100)
def test_a_profile_that_no_population_has_leaves_no_refined_answer_though_it_adds_nothing(law, others):
    """PN is about those who are treated and respond: nobody of the profile, of which the program says if it may be."""
    cells = law.cells.copy()
    cells[:, law.structure.column(XY)] = 0.0
    joint = cells[:, law.structure.columns_of(OBSERVATIONAL)]
    assume(joint.any())
    law = two_by_two_law(law.p(Y_X), law.p(Y_X0), joint / joint.sum(axis=1, keepdims=True))
    assume(not 1e-12 < incompatibility(law)[0] < EDGE)
    together = Law(TWO_BY_TWO, np.concatenate([law.cells, of_types(others).cells]))
    ends = refined(together, np.array([[0.5, 0.3, 0.2]]), "pn")
    plain = refined(of_types(others), np.array([[0.6, 0.4]]), "pn")
    try:
        referee(law, "pns")
    except IncoherentError:
        assert np.isnan(ends).all()
    else:
        np.testing.assert_allclose(ends, plain, atol=SLACK)


@given(types=type_shares(rows=PARTS), weights=mixing_weights(PARTS))
def test_refined_bounds_are_reached_by_some_population(types, weights):
    """Each profile can be at its own lower end at once: an end of the whole is the mean of people who exist."""
    law = of_types(types)
    lower, upper = asking("pns").bounds_at(law)
    np.testing.assert_allclose(refined(law, weights, "pns"), ((weights @ lower)[0], (weights @ upper)[0]), atol=SLACK)


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_oracles_refined_bounds_for_all_59049_queries(name):
    population = populations.get(name)
    queries = lattice.all_queries(population.schema)
    exact = (queries != -1).all(axis=1)
    for quantity in ALL:
        payoffs = payoffs_of(quantity)
        plain = population.bounds(queries, quantity, payoffs=payoffs)
        inner = population.bounds(queries, quantity, payoffs=payoffs, refine="covariates")
        truth = population.true_value(queries, quantity, payoffs=payoffs)
        known = ~np.isnan(truth)
        np.testing.assert_array_equal(inner.status, np.where(known, "ok", "undefined"))
        slack = 1e-7 if quantity == "benefit" else SLACK
        assert np.all(plain.lower[known] <= inner.lower[known] + slack), quantity
        assert np.all(inner.lower[known] <= truth[known] + slack), quantity
        assert np.all(truth[known] <= inner.upper[known] + slack), quantity
        assert np.all(inner.upper[known] <= plain.upper[known] + slack), quantity
        np.testing.assert_allclose(inner.lower[exact], plain.lower[exact], atol=slack)


def test_refining_tells_more_where_profiles_differ():
    population = populations.get("tree:1")
    plain, inner = population.bounds(""), population.bounds("", refine="covariates")
    assert inner.upper[0] - inner.lower[0] < 0.9 * (plain.upper[0] - plain.lower[0])


# --- how what profiles bring moves with their law -------------------------------------------------------


@pytest.mark.parametrize("quantity", ALL)
@given(types=type_shares(rows=2))
def test_what_a_profile_brings_bends_away_from_its_derivatives(quantity, types):
    """Lower ends are convex in the law and upper ends concave; the probability conditioned on is linear."""
    question = asking(quantity, payoffs_of(quantity), refine="covariates")
    here, there = of_types(types[:1]), of_types(types[1:])
    lower, upper, event = question.profile_terms(there)[0]
    slopes = question.profile_gradients(here)[0]
    assert slopes.shape == (3, TWO_BY_TWO.n_cells)
    straight = question.profile_terms(here)[0] + slopes @ (there.cells - here.cells)[0]
    slack = 1e-9 * max(1, *map(abs, question.span))
    assert lower >= straight[0] - slack
    assert upper <= straight[1] + slack
    assert event == pytest.approx(straight[2], abs=slack)


@pytest.mark.parametrize("refine", ["none", "covariates"])
@pytest.mark.parametrize("quantity", ALL)
def test_derivatives_follow_what_exogeneity_makes_of_a_law(quantity, refine):
    """Between laws so near that the same functions of it are the largest, for nearly every one of a thousand."""
    rng, rows, step = np.random.default_rng(0), np.array([500.0, 300.0, 2000.0]), 1e-4
    question = asking(quantity, payoffs_of(quantity), "exogenous", refine)
    types = rng.dirichlet(np.full(8, 3.0), size=1000)
    near = (1 - step) * types + step * rng.dirichlet(np.ones(8), size=1000)
    here, there = of_types(types), of_types(near)
    moved = np.einsum("ptc,pc->pt", question.profile_gradients(here, rows), there.cells - here.cells)
    found = question.profile_terms(there, rows) - question.profile_terms(here, rows)
    span = max(1, *map(abs, question.span))
    assert (np.abs(found - moved) <= 10 * span * step**2).all(axis=1).mean() > 0.99
    assert np.abs(found).max() > 0.1 * step


def test_without_refinement_and_exogeneity_a_profile_brings_its_law():
    law = of_types(np.full((3, 8), 1 / 8))
    np.testing.assert_array_equal(asking("pns").profile_gradients(law), np.stack([np.eye(8)] * 3))

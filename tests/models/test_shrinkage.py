"""Shrinkage: where a profile has many rows they win, where it has few the prior does, and the law stays coherent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from laws import empirical_law, of_types, p_xy, p_y_do_x, p_y_do_x0
from pnsight.data.law import Law
from pnsight.data.structure import EXPERIMENTAL
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.estimands import incompatibility
from pnsight.models.resampling import split_counts
from pnsight.models.response_types.config import ShrinkageConfig
from pnsight.models.response_types.shrinkage import choose_prior_rows, log_likelihood, map_estimate, types_of_law
from strategies import any_laws, type_shares

FINITE = ShrinkageConfig().prior_rows
EVERY = (*FINITE, np.inf)
ROUNDING = 1e-12  # a few sums of numbers between 0 and 1, each exact to 2e-16


@st.composite
def distributions(draw, rows):
    """Distributions over the types, shape (rows, 8), none of them impossible, as a softmax gives."""
    weights = draw(hnp.arrays(np.float64, (rows, 8), elements=st.integers(1, 20).map(float)))
    return weights / weights.sum(axis=1, keepdims=True)


@st.composite
def modes_and_counts(draw, most=1000):
    rows = draw(st.integers(1, 4))
    counts = draw(hnp.arrays(np.float64, (rows, 8), elements=st.integers(0, most).map(float)))
    return draw(distributions(rows)), counts


def penalised(types, prior_mode, counts, prior_rows):
    """What expectation-maximisation climbs: the likelihood and the prior's `prior_rows` rows, shape (profiles,)."""
    prior = prior_rows * (prior_mode * np.log(types)).sum(axis=1)
    return (counts * np.log(types @ TWO_BY_TWO.incidence.T)).sum(axis=1) + prior


@given(given=modes_and_counts(), prior_rows=st.sampled_from(EVERY))
def test_the_map_estimate_is_a_distribution_that_some_population_could_have(given, prior_rows):
    types = map_estimate(*given, prior_rows, TWO_BY_TWO)
    assert types.shape == given[0].shape
    assert (types >= 0).all()
    np.testing.assert_allclose(types.sum(axis=1), 1, atol=ROUNDING)
    assert incompatibility(of_types(types)).max() <= ROUNDING


@given(given=modes_and_counts())
def test_an_infinite_prior_keeps_the_prior_mode(given):
    np.testing.assert_array_equal(map_estimate(*given, np.inf, TWO_BY_TWO), given[0])


@given(given=modes_and_counts(), prior_rows=st.sampled_from(FINITE))
def test_a_profile_without_rows_keeps_the_prior_mode(given, prior_rows):
    prior_mode, counts = given
    counts[0] = 0
    np.testing.assert_allclose(
        map_estimate(prior_mode, counts, prior_rows, TWO_BY_TWO)[0], prior_mode[0], atol=ROUNDING
    )


@given(given=modes_and_counts(), prior_rows=st.sampled_from(FINITE))
def test_no_step_lowers_the_penalised_likelihood(given, prior_rows):
    prior_mode, counts = given
    before = penalised(prior_mode, prior_mode, counts, prior_rows)
    for steps in range(1, 6):
        config = ShrinkageConfig(rounds=steps)
        after = penalised(
            map_estimate(prior_mode, counts, prior_rows, TWO_BY_TWO, config), prior_mode, counts, prior_rows
        )
        assert (after >= before - 1e-12 * np.abs(before)).all()  # rounding of sums of that size
        before = after


@given(given=modes_and_counts(), prior_rows=st.sampled_from(FINITE))
def test_what_is_found_is_at_least_as_likely_as_the_prior_mode(given, prior_rows):
    prior_mode, counts = given
    found, kept = (
        penalised(types, prior_mode, counts, prior_rows)
        for types in (map_estimate(prior_mode, counts, prior_rows, TWO_BY_TWO), prior_mode)
    )
    assert (found >= kept - 1e-12 * np.abs(kept)).all()


@given(true=distributions(3), prior_mode=distributions(3), prior_rows=st.sampled_from(FINITE))
def test_with_very_many_rows_the_law_is_the_plug_in_law(true, prior_mode, prior_rows):
    """A thousand million rows of a law that a population has: the prior weighs less than 1e-4. A hundred steps come
    within 0.013 of it even from the worst of fifty thousand pairs of distributions with weights of 1 and 20 only."""
    found = of_types(map_estimate(prior_mode, 1e9 * (true @ TWO_BY_TWO.incidence.T), prior_rows, TWO_BY_TWO))
    plug_in = of_types(true)
    np.testing.assert_allclose(p_y_do_x(found), p_y_do_x(plug_in), atol=0.02)
    np.testing.assert_allclose(p_y_do_x0(found), p_y_do_x0(plug_in), atol=0.02)
    np.testing.assert_allclose(p_xy(found), p_xy(plug_in), atol=0.02)


def test_more_rows_move_the_law_further_from_the_prior_mode():
    prior_mode, shares = np.full((1, 8), 1 / 8), np.array([0.9, 0.1, 0.1, 0.9, 0.45, 0.05, 0.05, 0.45])
    treated = [
        p_y_do_x(of_types(map_estimate(prior_mode, rows * shares[None], 100, TWO_BY_TWO)))[0]
        for rows in (0, 10, 100, 1000, 10_000)
    ]
    assert treated == sorted(treated)
    assert treated[0] == pytest.approx(0.5)
    assert treated[-1] == pytest.approx(0.9, abs=0.01)  # 100 rows of the prior among 20,000 that bear on a


def test_the_likelihood_of_counts_is_the_sum_of_the_logarithms_of_their_cells():
    types = np.array([[0.1, 0.2, 0.05, 0.05, 0.1, 0.3, 0.1, 0.1]])
    counts = np.array([[1.0, 2, 3, 4, 5, 6, 7, 8]])
    # a = .65 and b = .3; x,y .4; x,y' .2; x',y .1; x',y' .3, written out from the list of the types
    expected = (counts[0] * np.log([0.65, 0.35, 0.3, 0.7, 0.4, 0.2, 0.1, 0.3])).sum()
    assert log_likelihood(types, counts, TWO_BY_TWO) == pytest.approx([expected])
    several = log_likelihood(np.stack([types, types]), counts, TWO_BY_TWO)
    assert several.shape == (2, 1)


def test_a_row_that_was_held_impossible_is_unlikely_not_infinitely_so():
    surely_never = np.eye(8)[:1]
    assert log_likelihood(surely_never, np.array([[2.0, 0, 0, 0, 0, 0, 0, 0]]), TWO_BY_TWO) == pytest.approx(
        [2 * np.log(1e-7)]
    )


# --- choosing the rows that the prior is worth -------------------------------------------------------------


def simulated(types, rows, rng):
    """Counts of that many rows of each profile in each arm and in the other table."""
    cells = types @ TWO_BY_TWO.incidence.T
    blocks = [rng.multinomial(rows, share / share.sum(axis=1, keepdims=True)) for share in np.split(cells, [2, 4], 1)]
    return np.concatenate(blocks, axis=1).astype(float)


def chosen(prior_mode, counts, rng):
    held_out = split_counts(counts, 4, rng)
    return choose_prior_rows([prior_mode] * 4, [counts - fold for fold in held_out], held_out, TWO_BY_TWO)


@pytest.mark.parametrize("seed", range(4))
def test_a_prior_that_is_plainly_wrong_is_worth_few_rows(seed):
    rng = np.random.default_rng(seed)
    true = rng.dirichlet(np.ones(8), size=40)
    prior_rows, _ = chosen(np.full((40, 8), 1 / 8), simulated(true, 1000, rng), rng)
    assert prior_rows <= 30


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_with_a_row_or_two_a_profile_the_prior_mode_is_kept(seed, rows):
    rng = np.random.default_rng(seed)
    true = rng.dirichlet(np.full(8, 20.0), size=200)
    prior_rows, _ = chosen(true, simulated(true, rows, rng), rng)
    assert prior_rows == np.inf


def test_the_scores_are_mean_held_out_likelihoods_and_the_best_is_chosen():
    rng = np.random.default_rng(7)
    true = rng.dirichlet(np.ones(8), size=30)
    counts, prior_mode = simulated(true, rng.integers(4, 800, size=30), rng), np.full((30, 8), 1 / 8)
    held_out = split_counts(counts, 2, rng)
    training = [counts - fold for fold in held_out]
    prior_rows, scores = choose_prior_rows([prior_mode] * 2, training, held_out, TWO_BY_TWO)
    assert tuple(scores) == EVERY
    assert prior_rows == max(scores, key=scores.get)
    worth = np.sqrt(counts.sum(axis=1))  # two halves: every row is held out once
    for tried, score in scores.items():
        predicted = sum(
            log_likelihood(map_estimate(prior_mode, seen, tried, TWO_BY_TWO), fold, TWO_BY_TWO)
            for seen, fold in zip(training, held_out, strict=True)
        )
        assert score == pytest.approx((predicted / worth).sum() / worth.sum())


# --- types of a law -------------------------------------------------------------------------------------

EVEN = np.full((1, 8), 1 / 8)


def law_of(types) -> np.ndarray:
    return TWO_BY_TWO.cell_probabilities(types)


@given(true=type_shares(), near=distributions(1))
def test_types_with_a_law_that_some_population_has_have_that_law(true, near):
    """Where types are absent, too; only at such edges is anything left of the sweeps that would still follow."""
    np.testing.assert_allclose(law_of(types_of_law(near, law_of(true), TWO_BY_TWO)), law_of(true), atol=1e-3)


@given(true=distributions(3))
def test_within_the_edges_they_have_it_to_many_digits(true):
    found = types_of_law(np.repeat(EVEN, 3, axis=0), law_of(true), TWO_BY_TWO)
    np.testing.assert_allclose(law_of(found), law_of(true), atol=1e-5)


@given(types=distributions(2))
def test_types_that_have_the_law_already_are_left_alone(types):
    np.testing.assert_allclose(types_of_law(types, law_of(types), TWO_BY_TWO), types, atol=1e-9)


@given(law=any_laws(), near=distributions(1))
def test_where_no_population_has_the_law_the_shares_of_the_experiment_are_kept(law, near):
    types = types_of_law(near, law.cells, TWO_BY_TWO)
    np.testing.assert_allclose(types.sum(axis=1), 1, atol=ROUNDING)
    assert (types >= 0).all()
    found = Law(TWO_BY_TWO, law_of(types))
    assert incompatibility(found).max() <= ROUNDING
    kept = TWO_BY_TWO.columns_of(EXPERIMENTAL)
    np.testing.assert_allclose(found.cells[:, kept], law.cells[:, kept], atol=1e-3)


def test_the_shares_that_give_way_do_so_no_further_than_they_must():
    """Case H: P(y_x) = .9 and P(y_x') = .8 leave .1 and .2 for those who did not respond, and the rest responded."""
    law = empirical_law(np.array([[90.0, 10, 80, 20]]), np.array([[5.0, 45, 5, 45]]))
    found = law_of(types_of_law(EVEN, law.cells, TWO_BY_TWO))
    np.testing.assert_allclose(found, [[0.9, 0.1, 0.8, 0.2, 0.35, 0.1, 0.35, 0.2]], atol=1e-6)


def test_of_all_types_with_a_law_the_nearest_are_found():
    """Law of independent variables: from even types, independent ones have the least divergence."""
    shares = 0.3, 0.6, 0.2  # of X, Y0 and Y1
    x, y0, y1 = (np.array([1 - share, share]) for share in shares)
    independent = np.einsum("i,j,k->ijk", x, y0, y1).reshape(1, 8)
    np.testing.assert_allclose(types_of_law(EVEN, law_of(independent), TWO_BY_TWO), independent, atol=1e-6)


def test_an_experiment_alone_has_types_of_its_own():
    alone = TWO_BY_TWO.only([EXPERIMENTAL])
    law = np.array([[0.7, 0.3, 0.2, 0.8], [1.0, 0.0, 0.0, 1.0]])
    found = types_of_law(np.full((2, alone.n_types), 1 / alone.n_types), law, alone)
    np.testing.assert_allclose(alone.cell_probabilities(found), law, atol=1e-9)

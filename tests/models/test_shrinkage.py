"""Shrinkage: where a profile has many rows they win, where it has few the centre does, and the law stays coherent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pnsight.data.law import COUNTED_CELLS, Law
from pnsight.models.resampling import split_counts
from pnsight.models.response_types.shrinkage import STRENGTHS, choose_strength, log_likelihood, posterior

FINITE = [strength for strength in STRENGTHS if np.isfinite(strength)]
ROUNDING = 1e-12  # a few sums of numbers between 0 and 1, each exact to 2e-16


@st.composite
def distributions(draw, rows):
    """Distributions over the types, shape (rows, 8), none of them impossible, as a softmax gives."""
    weights = draw(hnp.arrays(np.float64, (rows, 8), elements=st.integers(1, 20).map(float)))
    return weights / weights.sum(axis=1, keepdims=True)


@st.composite
def centres_and_counts(draw, most=1000):
    rows = draw(st.integers(1, 4))
    counts = draw(hnp.arrays(np.float64, (rows, 8), elements=st.integers(0, most).map(float)))
    return draw(distributions(rows)), counts


def penalised(types, centre, counts, strength):
    """What expectation-maximisation climbs: the likelihood and the prior's `strength` rows, shape (profiles,)."""
    prior = strength * (centre * np.log(types)).sum(axis=1)
    return (counts * np.log(types @ COUNTED_CELLS.T)).sum(axis=1) + prior


@given(given=centres_and_counts(), strength=st.sampled_from(STRENGTHS))
def test_the_posterior_is_a_distribution_that_some_population_could_have(given, strength):
    types = posterior(*given, strength)
    assert types.shape == given[0].shape
    assert (types >= 0).all()
    np.testing.assert_allclose(types.sum(axis=1), 1, atol=ROUNDING)
    assert Law.from_types(types).violation().max() <= ROUNDING


@given(given=centres_and_counts())
def test_an_infinite_strength_keeps_the_centre(given):
    np.testing.assert_array_equal(posterior(*given, np.inf), given[0])


@given(given=centres_and_counts(), strength=st.sampled_from(FINITE))
def test_a_profile_without_rows_keeps_the_centre(given, strength):
    centre, counts = given
    counts[0] = 0
    np.testing.assert_allclose(posterior(centre, counts, strength)[0], centre[0], atol=ROUNDING)


@given(given=centres_and_counts(), strength=st.sampled_from(FINITE))
def test_no_step_lowers_the_penalised_likelihood(given, strength):
    centre, counts = given
    before = penalised(centre, centre, counts, strength)
    for steps in range(1, 6):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pnsight.models.response_types.shrinkage._ROUNDS", steps)
            after = penalised(posterior(centre, counts, strength), centre, counts, strength)
        assert (after >= before - 1e-12 * np.abs(before)).all()  # rounding of sums of that size
        before = after


@given(given=centres_and_counts(), strength=st.sampled_from(FINITE))
def test_what_is_found_is_at_least_as_likely_as_the_centre(given, strength):
    centre, counts = given
    found, kept = (
        penalised(types, centre, counts, strength) for types in (posterior(centre, counts, strength), centre)
    )
    assert (found >= kept - 1e-12 * np.abs(kept)).all()


@given(true=distributions(3), centre=distributions(3), strength=st.sampled_from(FINITE))
def test_with_very_many_rows_the_law_is_the_plug_in_law(true, centre, strength):
    """A thousand million rows of a law that a population has: the prior weighs less than 1e-4. A hundred steps come
    within 0.013 of it even from the worst of fifty thousand pairs of distributions with weights of 1 and 20 only."""
    found = Law.from_types(posterior(centre, 1e9 * (true @ COUNTED_CELLS.T), strength))
    plug_in = Law.from_types(true)
    np.testing.assert_allclose(found.a, plug_in.a, atol=0.02)
    np.testing.assert_allclose(found.b, plug_in.b, atol=0.02)
    np.testing.assert_allclose(found.joint, plug_in.joint, atol=0.02)


def test_more_rows_move_the_law_further_from_the_centre():
    centre, shares = np.full((1, 8), 1 / 8), np.array([0.9, 0.1, 0.1, 0.9, 0.45, 0.05, 0.05, 0.45])
    treated = [Law.from_types(posterior(centre, rows * shares[None], 100)).a[0] for rows in (0, 10, 100, 1000, 10_000)]
    assert treated == sorted(treated)
    assert treated[0] == pytest.approx(0.5)
    assert treated[-1] == pytest.approx(0.9, abs=0.01)  # 100 rows of the centre among 20,000 that bear on a


def test_the_likelihood_of_counts_is_the_sum_of_the_logarithms_of_their_cells():
    types = np.array([[0.1, 0.2, 0.05, 0.05, 0.1, 0.3, 0.1, 0.1]])
    counts = np.array([[1.0, 2, 3, 4, 5, 6, 7, 8]])
    # a = .65 and b = .3; x,y .4; x,y' .2; x',y .1; x',y' .3, written out from the list of the types
    expected = (counts[0] * np.log([0.65, 0.35, 0.3, 0.7, 0.4, 0.2, 0.1, 0.3])).sum()
    assert log_likelihood(types, counts) == pytest.approx([expected])
    several = log_likelihood(np.stack([types, types]), counts)
    assert several.shape == (2, 1)


def test_a_row_that_was_held_impossible_is_unlikely_not_infinitely_so():
    surely_never = np.eye(8)[:1]
    assert log_likelihood(surely_never, np.array([[2.0, 0, 0, 0, 0, 0, 0, 0]])) == pytest.approx([2 * np.log(1e-7)])


# --- choosing the strength ------------------------------------------------------------------------------


def simulated(types, rows, rng):
    """Counts of so many rows of each profile in each arm and in the other table."""
    cells = types @ COUNTED_CELLS.T
    blocks = [rng.multinomial(rows, share / share.sum(axis=1, keepdims=True)) for share in np.split(cells, [2, 4], 1)]
    return np.concatenate(blocks, axis=1).astype(float)


def chosen(centre, counts, rng):
    held_out = split_counts(counts, 4, rng)
    return choose_strength([centre] * 4, [counts - fold for fold in held_out], held_out)


@pytest.mark.parametrize("seed", range(4))
def test_a_centre_that_is_plainly_wrong_is_worth_few_rows(seed):
    rng = np.random.default_rng(seed)
    true = rng.dirichlet(np.ones(8), size=40)
    strength, _ = chosen(np.full((40, 8), 1 / 8), simulated(true, 1000, rng), rng)
    assert strength <= 30


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_with_a_row_or_two_a_profile_the_centre_is_kept(seed, rows):
    rng = np.random.default_rng(seed)
    true = rng.dirichlet(np.full(8, 20.0), size=200)
    strength, _ = chosen(true, simulated(true, rows, rng), rng)
    assert strength == np.inf


def test_the_scores_are_mean_held_out_likelihoods_and_the_best_is_chosen():
    rng = np.random.default_rng(7)
    true = rng.dirichlet(np.ones(8), size=30)
    counts, centre = simulated(true, rng.integers(4, 800, size=30), rng), np.full((30, 8), 1 / 8)
    held_out = split_counts(counts, 2, rng)
    training = [counts - fold for fold in held_out]
    strength, scores = choose_strength([centre] * 2, training, held_out)
    assert tuple(scores) == STRENGTHS
    assert strength == max(scores, key=scores.get)
    worth = np.sqrt(counts.sum(axis=1))  # two halves: every row is held out once
    for tried, score in scores.items():
        foretold = sum(
            log_likelihood(posterior(centre, seen, tried), fold) for seen, fold in zip(training, held_out, strict=True)
        )
        assert score == pytest.approx((foretold / worth).sum() / worth.sum())

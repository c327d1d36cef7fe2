"""The comparison of two proportions over profiles: exact cumulants, honest tails, one mix for both sides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.special import ndtr
from scipy.stats import gamma, hypergeom

from pnsight.diagnostics.compatibility import INEQUALITIES
from pnsight.diagnostics.inequalities import evidence_of
from pnsight.diagnostics.mantel_haenszel import Evidence, gamma_score, wilson_hilferty


def one_cell(chosen: int, of_chosen: int, responded: int, of_arm: int) -> Evidence:
    """P(x,y) from so many of so many observational rows, against P(y_x) from so many of one arm."""
    experimental = np.array([[responded, of_arm - responded, 0, 0]], dtype=float)
    observational = np.array([[chosen, of_chosen - chosen, 0, 0]], dtype=float)
    return evidence(experimental, observational)


def evidence(experimental: np.ndarray, observational: np.ndarray) -> Evidence:
    """What two tables show about the four inequalities of coherence."""
    return evidence_of(np.hstack([experimental, observational]), INEQUALITIES)


def everyone(profiles: int) -> csr_array:
    return csr_array(np.ones((1, profiles)))


counts = st.integers(1, 30).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))


@given(chosen=counts, arm=counts)
def test_cumulants_at_equality_are_the_hypergeometrics(chosen, arm):
    found = one_cell(*chosen, *arm)
    successes, total = chosen[0] + arm[0], chosen[1] + arm[1]
    law = hypergeom(total, successes, chosen[1])
    support = np.arange(max(0, successes - arm[1]), min(successes, chosen[1]) + 1)
    weights = law.pmf(support)
    centred = support - weights @ support
    assert found.variance[0, 0] == pytest.approx(weights @ centred**2, abs=1e-9)
    assert found.third[0, 0] == pytest.approx(weights @ centred**3, abs=1e-9)
    assert found.left[0, 0] - found.right[0, 0] == pytest.approx(chosen[0] - weights @ support, abs=1e-9)


@pytest.mark.parametrize(
    ("of_chosen", "of_arm", "successes"),
    [(100, 50, 75), (100, 50, 8), (100, 50, 142), (1000, 500, 15), (1000, 100, 330), (200, 2000, 44), (5, 5, 5)],
)
def test_tails_are_never_understated_and_seldom_much_overstated(of_chosen, of_arm, successes):
    """Against the exact hypergeometric tail, down to one in a million."""
    law = hypergeom(of_chosen + of_arm, successes, of_chosen)
    for chosen in range(max(0, successes - of_arm), min(successes, of_chosen) + 1):
        exact = law.sf(chosen - 1)
        if 1e-6 < exact < 0.05:
            claimed = ndtr(-one_cell(chosen, of_chosen, successes - chosen, of_arm).score[0, 0])
            assert exact <= claimed * 1.01
            assert claimed <= 5 * exact


@pytest.mark.parametrize("inside", [0.0, 0.1])
def test_the_level_holds_for_many_small_profiles_of_every_sort(inside):
    """Rare, common and middling outcomes in one sum; at equality and with room to spare."""
    rng = np.random.default_rng(5)
    profiles, studies = 150, 2_000
    of_chosen, of_arm = rng.integers(1, 12, size=(2, profiles))
    chance = rng.beta(0.3, 0.3, size=profiles)
    chosen = rng.binomial(of_chosen, chance * (1 - inside), size=(studies, profiles))
    responded = rng.binomial(of_arm, chance, size=(studies, profiles))
    scores = []
    for c, s in zip(chosen, responded, strict=True):
        experimental, observational = np.zeros((2, profiles, 4))
        experimental[:, 0], experimental[:, 1] = s, of_arm - s
        observational[:, 0], observational[:, 1] = c, of_chosen - c
        scores.append(evidence(experimental, observational).over(everyone(profiles)).score[0, 0])
    for level in (0.05, 0.01, 0.001):
        alarms = np.mean(ndtr(-np.array(scores)) < level)
        assert alarms <= level + 3 * np.sqrt(level / studies)


def test_both_sides_have_one_mix_of_profiles():
    """A pooled comparison would see 0.5 against 0.26; profile by profile the shares are the same."""
    experimental = np.array([[90, 10, 0, 0], [90, 810, 0, 0]], dtype=float)
    observational = np.array([[450, 50, 0, 0], [50, 450, 0, 0]], dtype=float)
    found = evidence(experimental, observational).over(everyone(2))
    assert found.difference[0, 0] == pytest.approx(0)
    assert found.sides[0][0, 0] == pytest.approx(found.sides[1][0, 0])


def test_a_profile_that_one_side_lacks_adds_nothing():
    experimental = np.array([[9, 1, 4, 6], [5, 5, 0, 0], [0, 0, 0, 0]], dtype=float)
    observational = np.array([[3, 4, 5, 6], [7, 8, 9, 1], [9, 9, 9, 9]], dtype=float)
    found = evidence(experimental, observational)
    assert (found.weight[1, 2:] == 0).all()
    assert (found.weight[2] == 0).all()
    alone = evidence(experimental[:1], observational[:1])
    np.testing.assert_allclose(found.over(everyone(3)).score[0, 2:], alone.over(everyone(1)).score[0, 2:])
    assert np.isneginf(found.score[2]).all()
    assert np.isnan(found.difference[2]).all()


@pytest.mark.parametrize("rows", [3, 200])
def test_the_standard_error_is_right_for_small_and_for_large_profiles(rows):
    rng = np.random.default_rng(rows)
    profiles, studies = 600 // rows, 2_000
    chance, other = rng.uniform(0.1, 0.6, profiles), 0.15
    differences, errors = [], []
    for _ in range(studies):
        experimental, observational = np.zeros((2, profiles, 4))
        observational[:, 0], experimental[:, 0] = rng.binomial(rows, chance + other), rng.binomial(rows, chance)
        observational[:, 1], experimental[:, 1] = rows - observational[:, 0], rows - experimental[:, 0]
        found = evidence(experimental, observational).over(everyone(profiles))
        differences.append(found.difference[0, 0])
        errors.append(found.error[0, 0])
    assert np.mean(differences) == pytest.approx(other, abs=4 * np.std(differences) / np.sqrt(studies))
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(differences), rel=0.05)


def test_scores_are_those_of_the_gamma_law_and_turn_normal_without_skewness():
    z = np.linspace(-2, 5, 29)
    np.testing.assert_allclose(wilson_hilferty(z, np.zeros_like(z)), z, atol=1e-5)
    for skewness in (0.05, 0.3, 0.6):
        shape = 4 / skewness**2
        exact = gamma(shape).sf(shape + z * np.sqrt(shape))
        np.testing.assert_allclose(ndtr(-wilson_hilferty(z, np.full_like(z, skewness))), exact, rtol=0.1)
    np.testing.assert_allclose(wilson_hilferty(-z, np.full_like(z, -0.3)), -wilson_hilferty(z, np.full_like(z, 0.3)))


@pytest.mark.parametrize(("side", "end"), [(1, 5.0), (-1, 1.6)])
def test_tails_go_on_where_the_cube_root_is_given_up(side, end):
    """Up to what is put on, and to the end of a law that has one."""
    z = np.linspace(1.4, end, 9)
    below, above = (ndtr(-gamma_score(z, np.full_like(z, side * skewness))) for skewness in (0.999, 1.001))
    np.testing.assert_allclose(above / 1.15, below, rtol=0.2)


@pytest.mark.parametrize(
    ("of_chosen", "of_arm", "successes"),
    [(100, 100_000, 1), (100, 100_000, 4), (100, 100_000, 300), (10_000, 20, 3), (10_000, 20, 10_017)],
)
def test_tails_are_not_understated_where_sides_are_very_unequal_and_events_few(of_chosen, of_arm, successes):
    law = hypergeom(of_chosen + of_arm, successes, of_chosen)
    for chosen in range(max(0, successes - of_arm), min(successes, of_chosen) + 1):
        exact = law.sf(chosen - 1)
        if 1e-9 < exact < 0.05:
            assert exact <= 1.01 * ndtr(-one_cell(chosen, of_chosen, successes - chosen, of_arm).score[0, 0])


def test_one_event_among_very_many_is_no_evidence_against_the_few():
    """None of a hundred that chose, one of a hundred thousand that were assigned."""
    assert one_cell(0, 100, 1, 100_000).score[0, 0] < -1
    assert ndtr(-one_cell(1, 100, 0, 100_000).score[0, 0]) > 0.0005


def test_shares_of_one_up_to_rounding_are_no_evidence():
    """Weighted rows need not be whole, and a share may miss one by the last digit."""
    of_arm, of_chosen = 57.3, 1234.5
    assert one_cell(of_chosen, of_chosen, of_arm * (1 - 1e-15), of_arm).score[0, 0] < 0

"""Critical values: of a value between two ends, and of the largest of several correlated estimates."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from pnsight.estimands.critical_values import imbens_manski, normal_cdf, of_maximum, spanning_angles, two_sided

NORMAL = NormalDist()
TAIL = 0.05
Z = NORMAL.inv_cdf(1 - TAIL)


def test_case_o_the_interval_of_a_value_between_two_ends():
    """Imbens and Manski (2004): c with Phi(c + width/se) - Phi(-c) = .95."""
    found = imbens_manski(np.array([0, 0.5, 1, 2, 4]), level=0.95)
    np.testing.assert_allclose(found, [1.960, 1.770, 1.681, 1.646, 1.645], atol=5e-4)


@pytest.mark.parametrize("level", [0.6, 0.9, 0.95, 0.999999])
def test_a_value_between_two_ends_solves_its_equation(level):
    width = np.linspace(0, 7, 50)
    found = imbens_manski(width, level)
    np.testing.assert_allclose(normal_cdf(found + width) - normal_cdf(-found), level, atol=1e-6)
    assert (np.diff(found) <= 1e-9).all()


def test_a_value_between_two_ends_is_two_sided_at_no_width_and_one_sided_far_apart():
    assert imbens_manski(np.array([0.0]), 0.9)[0] == pytest.approx(two_sided(0.9))
    assert imbens_manski(np.array([np.inf]), 0.9)[0] == pytest.approx(NORMAL.inv_cdf(0.9))


def test_the_interval_of_a_value_holds_what_lies_between_the_ends_at_any_level():
    assert imbens_manski(np.array([np.inf]), 0.2)[0] == 0


def test_the_normal_distribution_function():
    x = np.linspace(-8, 8, 33)
    np.testing.assert_allclose(normal_cdf(x), [NORMAL.cdf(each) for each in x], atol=1e-15)


@pytest.mark.parametrize(
    ("angle", "expected"),
    [
        (0.0, Z),
        (np.pi / 2, NORMAL.inv_cdf(np.sqrt(1 - TAIL))),  # independent
        (np.pi - 1e-6, NORMAL.inv_cdf(1 - TAIL / 2)),  # opposite: never both
    ],
)
def test_of_two_estimates_the_bound_is_exact(angle, expected):
    assert of_maximum(np.array([Z]), np.array([[angle]]))[0] == pytest.approx(expected, abs=2e-4)


def test_the_median_of_the_larger_of_two_independent_estimates():
    assert of_maximum(np.zeros(1), np.array([[np.pi / 2]]))[0] == pytest.approx(NORMAL.inv_cdf(np.sqrt(0.5)), abs=1e-3)


def test_a_tree_joins_the_most_correlated():
    """A chain of three with angles 0.3 and 0.5, whose ends are further apart."""
    angles = np.array([[0.0, 0.3, 0.8], [0.3, 0.0, 0.5], [0.8, 0.5, 0.0]])
    correlation, both = np.cos(angles)[:, :, None], np.ones((3, 1), dtype=bool)
    np.testing.assert_allclose(np.sort(spanning_angles(correlation, both)[:, 0]), [0.3, 0.5])
    apart = np.array([[True], [False], [True]])
    np.testing.assert_allclose(np.sort(spanning_angles(correlation, apart)[:, 0]), [0.0, 0.8])


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_of_several_exceeds_its_critical_value_no_more_often_than_one_estimate(seed):
    """Random correlations of four; the bound is at most a third above the truth where it is not exact."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(4, 3))
    loadings /= np.linalg.norm(loadings, axis=1, keepdims=True)
    correlation = loadings @ loadings.T
    angles = spanning_angles(correlation[:, :, None], np.ones((4, 1), dtype=bool))
    k = of_maximum(np.array([Z]), angles)[0]
    draws = rng.normal(size=(200_000, 3)) @ loadings.T
    exceeds = (draws.max(axis=1) > k).mean()
    assert Z < k < NORMAL.inv_cdf(1 - TAIL / 4)
    assert 0.66 * TAIL < exceeds < TAIL + 3 * np.sqrt(TAIL / 200_000)

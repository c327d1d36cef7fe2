"""The decision rule: treat, do not treat, uncertain."""

import numpy as np

from pnsight.decide import decisions


def test_the_rule_of_the_case_study():
    lower = np.array([0.5, 0.2, 0.4, 0.0, np.nan, 0.7])
    upper = np.array([0.9, 0.49, 0.5, 0.1, np.nan, 0.6])
    assert list(decisions(lower, upper, 0.5)) == ["treat", "not", "uncertain", "not", "", ""]


def test_a_point_at_the_threshold_means_treat():
    assert list(decisions(np.array([0.5]), np.array([0.5]), 0.5)) == ["treat"]

"""Confidence intervals in closed form: what always holds of them, and how often they hold the truth."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pnsight.data.arms_and_outcomes import arms_and_outcomes
from pnsight.data.law import Law
from pnsight.data.two_by_two import EXPERIMENT_ALONE, TWO_BY_TWO, Y_X
from pnsight.estimands import (
    Estimand,
    Quantity,
    confidence,
    end_intervals,
    linear_standard_error,
    median_unbiased_ends,
    standard_errors,
)
from pnsight.estimands.confidence import simultaneous_levels
from pnsight.estimands.critical_values import two_sided
from pnsight.estimands.sampling_error import CellCovariance

SAME = 1e-9
LEVEL = 0.9
Z = two_sided(LEVEL)

ASKED = {name: Estimand.parse(name) for name in ("pns", "pn", "ps", "pd", "pe", "harm")}
ASKED["benefit"] = Estimand.parse(payoffs=(100, -60, 0, -140))
ASKED["loss"] = Estimand.parse(payoffs=(-100, 60, 0, 140))
WHOLE = ("pns", "harm", "benefit", "loss")


def of_types(types, structure=TWO_BY_TWO) -> Law:
    return Law.from_types(np.atleast_2d(types), structure)


def independent(a: float, b: float, chosen: float = 0.5) -> np.ndarray:
    """Types of people who respond with probability a if treated and b if not, whatever they choose."""
    x, y0, y1 = TWO_BY_TWO.types.T == 1
    return np.where(x, chosen, 1 - chosen) * np.where(y0, b, 1 - b) * np.where(y1, a, 1 - a)


def sample(types, rows, draws, seed, structure=TWO_BY_TWO) -> np.ndarray:
    """Counts of studies with so many rows in each group, shape (draws, cells)."""
    rng, cells = np.random.default_rng(seed), of_types(types, structure).cells[0]
    drawn = [
        rng.multinomial(number, cells[some] / cells[some].sum(), size=draws)
        for number, some in zip(rows, structure.group_slices, strict=True)
    ]
    return np.concatenate(drawn, axis=1).astype(float)


def estimated(counts, structure=TWO_BY_TWO) -> tuple[Law, np.ndarray]:
    return Law.from_counts(counts, structure), structure.by_group(counts)


def holds(low, high, truth) -> np.ndarray:
    return (low <= truth + SAME) & (truth <= high + SAME)


def coverage(estimand, types, rows, draws=2000, seed=1, structure=TWO_BY_TWO) -> dict[str, float]:
    """How often intervals hold each end, and the value where it is at the lower end, halfway or at the upper end.

    Of studies in which the ends do not cross.
    """
    law, behind = estimated(sample(types, rows, draws, seed, structure), structure)
    (lower,), (upper,) = estimand.bounds_at(of_types(types, structure))
    below, above = estimand.bounds_at(law, behind)
    found = end_intervals(estimand, law, behind, LEVEL)
    answered = below <= above + SAME
    shares = {
        "lower": holds(found.lower_low, found.lower_high, lower),
        "upper": holds(found.upper_low, found.upper_high, upper),
        "value at lower": holds(found.value_low, found.value_high, lower),
        "value between": holds(found.value_low, found.value_high, (lower + upper) / 2),
        "value at upper": holds(found.value_low, found.value_high, upper),
    }
    return {name: held[answered].mean() for name, held in shares.items()}


counts_of_both = st.lists(st.integers(0, 40), min_size=8, max_size=8).map(lambda each: np.array([each], float))


# --- what always holds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ASKED)
@given(counts=counts_of_both)
def test_intervals_hold_their_estimates_within_what_the_quantity_can_be(name, counts):
    estimand = ASKED[name]
    law, rows = estimated(counts)
    lower, upper = (np.clip(end, *estimand.span) for end in estimand.bounds_at(law))
    found = end_intervals(estimand, law, rows)
    known = ~np.isnan(lower + upper)
    np.testing.assert_array_equal(np.isnan(found.lower_low), ~known)
    if known.all() and lower[0] <= upper[0]:
        assert found.lower_low <= lower <= found.lower_high
        assert found.upper_low <= upper <= found.upper_high
        assert found.lower_low - SAME <= found.value_low <= lower <= upper <= found.value_high
        assert found.value_high <= found.upper_high + SAME
    for each in fields(found):
        values = getattr(found, each.name)
        assert np.isnan(values[~known]).all()
        assert ((values[known] >= estimand.span[0]) & (values[known] <= estimand.span[1])).all()


@pytest.mark.parametrize("name", ASKED)
@given(counts=counts_of_both)
def test_more_confidence_and_fewer_rows_never_shorten_an_interval(name, counts):
    law, rows = estimated(counts + 1)
    usual = end_intervals(ASKED[name], law, rows, 0.9)
    for wider in (end_intervals(ASKED[name], law, rows, 0.99), end_intervals(ASKED[name], law, rows / 4, 0.9)):
        assert wider.lower_low <= usual.lower_low + 1e-4  # limits of ratios are searched for to four digits
        assert wider.lower_high >= usual.lower_high - 1e-4
        assert wider.upper_low <= usual.upper_low + 1e-4
        assert wider.upper_high >= usual.upper_high - 1e-4


@pytest.mark.parametrize("name", ASKED)
def test_the_shares_of_infinitely_many_rows_are_known(name):
    law = of_types(np.random.default_rng(1).dirichlet(np.ones(8), size=20))
    lower, upper = ASKED[name].bounds_at(law)
    found = end_intervals(ASKED[name], law, np.full((20, 3), np.inf))
    for each, end in zip(fields(found), (lower, lower, upper, upper, lower, upper), strict=True):
        np.testing.assert_allclose(getattr(found, each.name), end, atol=1e-9)
    np.testing.assert_allclose(standard_errors(ASKED[name], law, np.full((20, 3), np.inf)), 0)


def test_a_share_that_attains_an_end_alone_has_the_interval_of_agresti_and_coull():
    """P(y_x) is far below 1 - P(y_x'), so the upper end from an experiment alone is the share of 6 in 60."""
    counts = np.array([[6.0, 54.0, 20.0, 80.0]])
    found = end_intervals(Estimand(), *estimated(counts, EXPERIMENT_ALONE), LEVEL)
    rows, share = 60 + Z**2, (6 + Z**2 / 2) / (60 + Z**2)
    half = Z * np.sqrt(share * (1 - share) / rows)
    np.testing.assert_allclose([found.upper_low[0], found.upper_high[0]], [share - half, share + half], atol=1e-12)


def test_a_share_of_nought_is_not_known_for_certain():
    found = end_intervals(Estimand(), *estimated(np.array([[0.0, 20.0, 5.0, 15.0]]), EXPERIMENT_ALONE))
    assert found.upper_low[0] == 0
    assert 0.1 < found.upper_high[0] < 0.2
    assert found.value_high[0] > 0.05


def test_there_is_no_interval_without_rows_in_a_group_that_matters():
    """PN needs the untreated arm and the observational table, and not the treated arm."""
    law = of_types([independent(0.6, 0.3)] * 2)
    rows = np.array([[0.0, 50.0, 90.0], [50.0, np.nan, 90.0]])
    pn, pns = end_intervals(ASKED["pn"], law, rows), end_intervals(ASKED["pns"], law, rows)
    np.testing.assert_array_equal(np.isnan(pn.lower_low), [False, True])
    np.testing.assert_array_equal(np.isnan(pns.value_high), [True, True])
    assert np.isnan(standard_errors(ASKED["pns"], law, rows)).all()


def test_the_limits_of_a_ratio_are_where_it_may_be_nought():
    """Fieller: at its limit, numerator - ratio x event is as far from nought as its own interval reaches."""
    law, rows = of_types(independent(0.7, 0.2)), np.array([[300.0, 200.0, 400.0]])
    high = end_intervals(ASKED["pn"], law, rows, LEVEL).lower_high[0]
    below, event = np.array([[0, 0, -1, 0, 1, 0, 1, 0.0]]), np.array([[0, 0, 0, 0, 1, 0, 0, 0.0]])
    gap = (below - high * event) @ law.cells[0]
    reach = Z * linear_standard_error(below - high * event, law, rows)
    assert gap[0] == pytest.approx(-reach[0], rel=0.05)  # limits of a group are not quite normal


def test_standard_errors_are_those_of_the_term_that_attains_an_end():
    """PNS = [a - b, a] from an experiment alone, both ends far from a tie."""
    law = of_types(independent(0.6, 0.2), EXPERIMENT_ALONE)
    lower, upper = standard_errors(Estimand(), law, np.array([[400.0, 900.0]]))
    a, b = 0.6 * 0.4 / 400, 0.2 * 0.8 / 900
    np.testing.assert_allclose([lower[0], upper[0]], [np.sqrt(a + b), np.sqrt(a)], rtol=0.01)
    gradient = np.zeros((1, 4))
    gradient[0, EXPERIMENT_ALONE.column(Y_X)] = 1
    assert linear_standard_error(gradient, law, np.array([[400.0, np.nan]]))[0] == pytest.approx(np.sqrt(a), rel=0.01)
    assert np.isnan(linear_standard_error(gradient, law, np.array([[0.0, 900.0]]))[0])


@pytest.mark.parametrize("name", ["pns", "pn"])
def test_a_covariance_of_the_cells_says_the_same_as_rows_do_where_these_are_many(name):
    law = of_types(np.random.default_rng(5).dirichlet(np.full(8, 5.0), size=4))
    matrix, rows = np.zeros((4, 8, 8)), np.full((4, 3), 1e6)
    for some in TWO_BY_TWO.group_slices:
        shares = law.cells[:, some]
        matrix[:, some, some] = (
            shares[:, :, None] * np.eye(shares.shape[1]) - shares[:, :, None] * shares[:, None]
        ) / 1e6
    by_rows, by_covariance = (
        end_intervals(ASKED[name], law, behind) for behind in (rows, CellCovariance(matrix, np.full(4, 1e6)))
    )
    for each in fields(by_rows):
        np.testing.assert_allclose(getattr(by_rows, each.name), getattr(by_covariance, each.name), atol=3e-5)


def test_blocks_of_queries_change_nothing(monkeypatch):
    law = of_types(np.random.default_rng(3).dirichlet(np.ones(8), size=30))
    rows = np.full((30, 3), 80.0)
    whole = end_intervals(ASKED["pd"], law, rows)
    monkeypatch.setattr(confidence, "_MAX_VALUES_AT_ONCE", 100)
    for name, values in vars(end_intervals(ASKED["pd"], law, rows)).items():
        np.testing.assert_array_equal(values, getattr(whole, name))


def test_no_query_has_no_interval():
    assert end_intervals(Estimand(), Law(TWO_BY_TWO, np.empty((0, 8))), np.empty((0, 3))).lower_low.shape == (0,)


def test_under_monotonicity_both_ends_have_one_interval_and_so_has_the_value():
    law, rows = estimated(np.array([[60.0, 40.0, 30.0, 70.0, 45.0, 55.0, 30.0, 70.0]]))
    found = end_intervals(Estimand(assume=("monotone",)), law, rows)
    np.testing.assert_allclose(found.lower_low, found.upper_low)
    np.testing.assert_allclose(found.value_low, found.lower_low)
    assert found.lower_low[0] < 0.3 < found.lower_high[0]


# --- how often they hold the truth --------------------------------------------------------------------------

PEOPLE = {
    "tie": independent(0.5, 0.5),
    "interior": independent(0.6, 0.3),
    "rare": independent(0.03, 0.02),
    "nearly all": independent(0.97, 0.04),
    **{f"random {seed}": np.random.default_rng(seed).dirichlet(np.full(8, 0.7)) for seed in range(4)},
}
DESIGNS = ((100, 100, 200), (150, 150, 3000))
DRAWS = 2000
THREE_ERRORS = 3 * np.sqrt(0.9 * 0.1 / DRAWS)


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("rows", DESIGNS)
def test_intervals_hold_the_truth_as_often_as_they_say(name, rows):
    found = [coverage(ASKED[name], types, rows, DRAWS) for types in PEOPLE.values()]
    for what in ("lower", "upper"):
        shares = [each[what] for each in found]
        assert min(shares) > 0.9 - THREE_ERRORS
        assert 0.88 < np.mean(shares) < 0.97
    for what in ("value at lower", "value between", "value at upper"):
        assert min(each[what] for each in found) > 0.9 - THREE_ERRORS


@pytest.mark.parametrize("name", WHOLE)
def test_intervals_from_an_experiment_alone_hold_the_truth_as_often_as_they_say(name):
    found = [coverage(ASKED[name], types, (100, 100), DRAWS, structure=EXPERIMENT_ALONE) for types in PEOPLE.values()]
    for what in ("lower", "upper", "value at lower", "value between", "value at upper"):
        assert min(each[what] for each in found) > 0.9 - THREE_ERRORS


def test_a_value_that_both_tables_determine_is_held_too():
    """Mueller and Pearl's women: both ends are .279, and chance alone pulls them apart."""
    cells = np.array([0.489, 0.511, 0.21, 0.79, 0.189, 0.511, 0.21, 0.09])
    counts = np.concatenate(
        [
            np.random.default_rng(7).multinomial(rows, cells[some], size=DRAWS)
            for rows, some in zip((1000, 1000, 2000), TWO_BY_TWO.group_slices, strict=True)
        ],
        axis=1,
    )
    law, behind = estimated(counts.astype(float))
    lower, upper = Estimand().bounds_at(law)
    found = end_intervals(Estimand(), law, behind, LEVEL)
    held = holds(found.value_low, found.value_high, 0.279)[lower <= upper]
    assert held.mean() > 0.9


def test_other_structures_have_intervals_too():
    """Three outcomes, and the share who would fare better if treated: nine terms an end."""
    structure = arms_and_outcomes(("0", "1"), ("bad", "fair", "good"))
    better = Quantity("better", "B", "Better", "P(Y1 > Y0)", "P", "better", "better", "better", event="Y1 > Y0")
    types = np.random.default_rng(2).dirichlet(np.ones(structure.n_types))
    found = coverage(Estimand(better), types, (200, 200, 400), DRAWS, structure=structure)
    assert min(found.values()) > 0.9 - THREE_ERRORS


def test_intervals_of_several_answers_hold_together():
    """Twenty groups, each with rows of its own: all forty intervals of ends hold, and all twenty of values."""
    groups, draws = 20, 400
    types = np.random.default_rng(11).dirichlet(np.ones(8), size=groups)
    ends = np.ones((2, draws), dtype=bool)
    values = np.ones(draws, dtype=bool)
    alone = np.ones(draws, dtype=bool)
    for group, people in enumerate(types):
        law, rows = estimated(sample(people, (150, 150, 400), draws, seed=group))
        (lower,), (upper,) = Estimand().bounds_at(of_types(people))
        found = end_intervals(Estimand(), law, rows, LEVEL, comparisons=groups)
        ends[0] &= holds(found.lower_low, found.lower_high, lower)
        ends[1] &= holds(found.upper_low, found.upper_high, upper)
        values &= holds(found.value_low, found.value_high, lower)
        single = end_intervals(Estimand(), law, rows, LEVEL)
        alone &= holds(single.lower_low, single.lower_high, lower)
    error = 3 * np.sqrt(0.9 * 0.1 / draws)
    assert ends.all(axis=0).mean() > 0.9 - error
    assert values.mean() > 0.9 - error
    assert alone.mean() < 0.7  # intervals that hold by themselves do not hold together


def test_the_chance_to_miss_is_shared_out():
    assert simultaneous_levels(0.9, 0) == (0.9, 0.9)
    assert simultaneous_levels(0.9, 10) == pytest.approx((0.995, 0.99))


# --- the bias of largest and smallest terms -----------------------------------------------------------------


def biases(types, rows, structure=TWO_BY_TWO, draws=8000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean error of both ends as they are and corrected, and how often the corrected claim too much; inwards is up."""
    law, behind = estimated(sample(types, rows, draws, 4, structure), structure)
    truth = np.array(Estimand().bounds_at(of_types(types, structure)))
    inwards = np.array([[1.0], [-1.0]])
    plain, corrected = (
        inwards * (np.array(ends) - truth)
        for ends in (Estimand().bounds_at(law), median_unbiased_ends(Estimand(), law, behind))
    )
    return plain.mean(axis=1), corrected.mean(axis=1), (corrected > SAME).mean(axis=1)


def test_the_larger_of_nought_and_a_difference_is_less_too_large():
    """max(0, a - b) with 300 rows when a = b = .5: .023 too large, and the smaller of a and 1 - b as much too small."""
    plain, corrected, _ = biases(independent(0.5, 0.5), (150, 150), EXPERIMENT_ALONE)
    np.testing.assert_allclose(plain, 0.023, atol=0.002)
    assert corrected[0] < 0.7 * plain[0]
    assert abs(corrected[1]) < 0.2 * plain[1]


@pytest.mark.parametrize("a", [0.5, 0.55, 0.6, 0.8])
def test_corrected_ends_claim_too_much_at_most_half_of_the_time(a):
    for rows, structure in (((150, 150), EXPERIMENT_ALONE), ((150, 150, 1000), TWO_BY_TWO)):
        plain, corrected, too_much = biases(independent(a, 0.5), rows, structure)
        assert (too_much < 0.52).all()
        assert (corrected <= plain).all()
        assert (corrected > -0.021).all()  # a third of the standard error of an arm's difference


def test_ends_that_one_term_attains_are_hardly_corrected():
    law, rows = of_types(independent(0.8, 0.1), EXPERIMENT_ALONE), np.array([[500.0, 500.0]])
    np.testing.assert_allclose(median_unbiased_ends(Estimand(), law, rows), Estimand().bounds_at(law), atol=1e-4)

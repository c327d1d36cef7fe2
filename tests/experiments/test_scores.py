"""Scores mean what they say."""

from dataclasses import replace

import numpy as np
import pytest

from fit_rows import fit_row
from pnsight import BoundTable
from pnsight_experiments.paper import BUDGETS, TABLE_1, reported
from pnsight_experiments.scores import Truth, crossings, decision_scores, errors, interval_scores, truth
from pnsight_experiments.summary import AUTO, ORACLE, cells, claims, mean_ratio, paper_claims, table


@pytest.fixture(scope="module")
def known():
    return truth("mediator")


def test_the_truth_scores_perfectly(known):
    everything = np.ones(len(known.lower), dtype=bool)
    found = errors(known, known.lower, known.upper, everything)
    assert found["exact_lower_mae"] == found["mask_upper_mae"] == 0
    assert (found["exact_scored"], found["mask_scored"]) == (1024, 59_049)
    decided = decision_scores(known, known.lower, known.upper)
    assert decided["mask_agree_0.3"] == decided["exact_agree_0.5"] == 1
    assert decided["mask_wrong_0.3"] == 0
    assert crossings(known, known.lower, known.upper) == {"exact_crossed": 0, "mask_crossed": 0}


def test_a_shift_is_the_error(known):
    found = errors(known, known.lower + 0.01, known.upper - 0.02, known.exact)
    assert found["mask_lower_mae"] == pytest.approx(0.01)
    assert found["mask_upper_mae"] == pytest.approx(0.02)
    assert found["mask_scored"] == 1024


def test_saying_treat_to_everyone_is_contradicted_where_the_oracle_says_not(known):
    ones = np.ones_like(known.lower)
    decided = decision_scores(known, ones, ones)
    assert decided["mask_wrong_0.5"] == pytest.approx((known.upper < 0.5).mean())
    assert decided["mask_agree_0.5"] == pytest.approx((known.lower >= 0.5).mean())


def test_no_answer_agrees_with_nothing_and_is_not_confident(known):
    blank = np.full_like(known.lower, np.nan)
    assert decision_scores(known, blank, blank)["mask_agree_0.5"] is None
    assert decision_scores(known, blank, blank)["mask_wrong_0.5"] is None


FOUR = Truth(
    codes=np.array([[0], [1], [2], [-1]], dtype=np.int32),
    exact=np.array([True, True, True, False]),
    lower=np.array([0.1, 0.2, 0.3, 0.2]),
    upper=np.array([0.5, 0.6, 0.7, 0.6]),
)


def answered(**changes) -> BoundTable:
    """Answers to the four queries, with 0, 29, 30 and 299 rows in both tables together."""
    plain = {
        "lower_low": np.array([0.0, 0.2, 0.4, 0.1]),  # the third interval is above the truth
        "lower_high": np.array([0.2, 0.4, 0.6, 0.3]),
        "upper_low": np.array([0.4, 0.1, 0.6, 0.7]),  # the second is below, the fourth above
        "upper_high": np.array([0.6, 0.5, 0.8, 0.9]),
        "level": 0.9,
    }
    rows = np.array([0.0, 14, 20, 100]), np.array([0.0, 15, 10, 199])
    return BoundTable(
        "pns", ["0", "1", "2", "X"], FOUR.lower, FOUR.upper, *rows, np.full(4, "ok"), **{**plain, **changes}
    )


def test_intervals_are_scored_by_how_often_they_hold_the_truth_and_by_width():
    found = interval_scores(FOUR, answered())
    assert found.pop("exact_width") == pytest.approx((0.2 + 0.3 + 0.2) / 3)
    assert found.pop("mask_width") == pytest.approx((0.2 + 0.3 + 0.2 + 0.2) / 4)
    assert found == {
        "exact_lower_covered": pytest.approx(2 / 3),
        "exact_upper_covered": pytest.approx(2 / 3),
        "mask_lower_covered": pytest.approx(3 / 4),
        "mask_upper_covered": pytest.approx(2 / 4),
        "covered_from_0": 1,
        "covered_from_1": 0.5,
        "covered_from_30": 0.5,
        "covered_from_300": None,
    }


def test_from_300_rows_on_a_query_is_in_the_last_band():
    more = np.array([300.0, 299, 1000, 0])
    table_ = replace(answered(), support_experimental=more, support_observational=np.zeros(4))
    found = interval_scores(FOUR, table_)
    assert [found[f"covered_from_{start}"] for start in (0, 1, 30, 300)] == [0.5, None, 0.5, 0.75]


def test_an_interval_that_touches_the_truth_holds_it():
    none = interval_scores(FOUR, answered(lower_low=FOUR.lower, lower_high=FOUR.lower))
    assert none["mask_lower_covered"] == 1


def test_without_intervals_there_are_no_scores():
    assert interval_scores(FOUR, answered(level=None)) == {}


def test_the_papers_table_is_whole():
    assert len(TABLE_1) == 4 * len(BUDGETS) * 5 * 2
    assert reported("direct-positive", 50_000, "exact", "plug-in", "upper") == 0.2089
    assert reported("mediator", 500_000, "mask", "mask-mlp", "upper") == 0.0132
    assert reported("mediator", 500_000, "mask", "mask-boosting", "upper") is None


def test_the_oracle_chooses_the_threshold_by_the_mean_over_seeds_separately_by_end():
    rows = [
        fit_row(mask_lower_mae=0.02, mask_upper_mae=0.05),
        fit_row(seed=2, mask_lower_mae=0.06, mask_upper_mae=0.05),
        fit_row(threshold="300", mask_lower_mae=0.03, mask_upper_mae=0.06),
        fit_row(threshold="300", seed=2, mask_lower_mae=0.03, mask_upper_mae=0.06),
        fit_row(threshold="auto", validation="rows", mask_lower_mae=0.001),
    ]
    lower, upper = cells(rows, ORACLE)
    assert (lower.end, lower.threshold, lower.mae, lower.seeds) == ("lower", "300", pytest.approx(0.03), 2)
    assert (upper.end, upper.threshold, upper.mae) == ("upper", "100", pytest.approx(0.05))
    assert lower.ratio == pytest.approx(0.03 / 0.0249)
    assert cells(rows, AUTO)[0].mae == 0.001
    assert table([lower, upper])["threshold"] == ["300/100"]
    assert mean_ratio([lower, upper]) == pytest.approx((0.03 / 0.0249 + 0.05 / 0.0223) / 2)


def test_fits_on_part_of_the_rows_do_not_enter_the_table():
    assert cells([fit_row(held_out=0.2)]) == []


def test_claims_compare_learners_with_the_plug_in_of_the_same_cell():
    rows = [
        fit_row(),
        fit_row(
            learner="plug-in", threshold="", validation="", dropped="undefined", mask_lower_mae=0.1, mask_upper_mae=0.1
        ),
    ]
    found = claims(cells(rows))
    assert found.mean_mae == pytest.approx(0.025)
    assert found.below_baseline == pytest.approx(1 - 0.25)


def test_the_papers_own_numbers_give_its_abstract_roughly():
    found = paper_claims()
    assert 0.02 < found.mean_mae < 0.05
    assert 0.6 < found.below_baseline < 0.9


def test_a_threshold_with_fewer_seeds_does_not_compete():
    rows = [fit_row(), fit_row(seed=2), fit_row(threshold="2000", mask_lower_mae=0.001, mask_upper_mae=0.001)]
    assert {cell.threshold for cell in cells(rows)} == {"100"}


def test_the_papers_claims_are_taken_over_the_same_cells():
    rows = [
        fit_row(),
        fit_row(
            learner="plug-in", threshold="", validation="", dropped="undefined", mask_lower_mae=0.1, mask_upper_mae=0.1
        ),
    ]
    found = paper_claims(cells(rows))
    assert found.cells == 2
    assert found.mean_mae == pytest.approx((0.0249 + 0.0223) / 2)


def test_held_out_scores_are_means_over_seeds_of_learners_that_answer_all_queries():
    from pnsight_experiments.summary import held_out_table

    scored = {"held_out": 0.2, "held_out_lower_mae": 0.01, "held_out_upper_mae": 0.03}
    rows = [
        fit_row(**scored),
        fit_row(**{**scored, "held_out_lower_mae": 0.03}, seed=2),
        fit_row(**scored, learner="exact-mlp", mask_lower_mae=None, mask_upper_mae=None),
    ]
    table_ = held_out_table(rows)
    assert table_["learner"] == ["mask-mlp"]
    assert table_["held-out error"] == ["0.0250"]

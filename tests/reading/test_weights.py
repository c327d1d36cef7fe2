"""Rows that stand for others: counts made elsewhere, survey weights, and uneven assignment."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import pnsight
from laws import p_y_do_x, p_y_do_x0
from noted import kinds, rows_without, values
from pnsight.data.schema import OTHER
from pnsight.errors import TableError
from pnsight.notes import Note

RNG = np.random.default_rng(5)
PEOPLE = pandas.DataFrame(
    {
        "sex": RNG.choice(["F", "M", "X", None], 500, p=[0.5, 0.4, 0.06, 0.04]),
        "age": RNG.integers(18, 90, 500),
        "x": RNG.integers(0, 2, 500),
        "y": RNG.choice([0, 1, None], 500, p=[0.5, 0.4, 0.1]),
    }
)
ADDED_UP = PEOPLE.groupby(list(PEOPLE), dropna=False).size().rename("n").reset_index()


def study_of(*tables, **more):
    return pnsight.read_study(*tables, treatment="x", outcome="y", **more)


@pytest.mark.parametrize(
    "how",
    [
        {"missing": "drop", "covariates": ["sex"]},
        {"missing": "level", "covariates": ["sex"], "merge_rare": 50},
        {"missing": "level", "bands": {"age": 5}},
        {"missing": "drop", "bands": {"age": [0, 30, 60, 120]}},
    ],
)
def test_a_table_of_counts_gives_the_study_of_the_rows_it_counts(how):
    one_by_one, added_up = study_of(PEOPLE, PEOPLE, **how), study_of(ADDED_UP, ADDED_UP, weight="n", **how)
    assert added_up.schema == one_by_one.schema
    assert added_up.dropped == one_by_one.dropped
    np.testing.assert_array_equal(added_up.profiles, one_by_one.profiles)
    np.testing.assert_array_equal(added_up.counts, one_by_one.counts)


def test_whole_weights_give_whole_counts_and_others_fractions():
    table = pandas.DataFrame({"x": [1, 0, 1], "y": [1, 0, 0], "w": [2, 3, 4]})
    assert study_of(table, weight="w").experimental.tolist() == [[2, 4, 0, 3]]
    halved = study_of(table.assign(w=table["w"] / 4), weight="w")
    assert halved.experimental.tolist() == [[0.5, 1, 0, 0.75]]
    assert "experimental rows: 2.2" in repr(halved)


def test_a_table_without_the_weight_column_counts_each_row_once_and_says_so():
    trial = pandas.DataFrame({"x": [1, 0], "y": [1, 0]})
    study = study_of(trial, trial.assign(w=[2.5, 3]), weight="w")
    assert study.experimental.tolist() == [[1, 0, 0, 1]]
    assert study.observational.tolist() == [[2.5, 0, 0, 3]]
    assert study.notes == (Note("rows_counted_once", {"table": "experimental", "column": "w"}),)


def test_the_weight_is_no_covariate():
    assert study_of(ADDED_UP, missing="drop", weight="n", bands={"age": 3}).schema.names == ("sex", "age")


def test_a_row_of_weight_zero_counts_nothing_and_lacks_nothing():
    table = pandas.DataFrame({"sex": ["F", "F", None], "x": [1, 0, 1], "y": [1, 0, 0], "w": [2, 3, 0]})
    study = study_of(table, weight="w")
    assert study.experimental.tolist() == [[2, 0, 0, 3]]
    assert study.schema.covariates[0].levels == ("F",)


def weighed(*weights):
    return pandas.DataFrame({"x": [1, 1, 0, 0], "y": [1, 0, 1, 0], "w": weights})


def test_weights_are_counted_exactly_up_to_where_floats_are_exact():
    study = study_of(weighed(2**53 - 3, 1, 1, 1), weight="w")
    assert study.experimental.tolist() == [[2**53 - 3, 1, 1, 1]]
    assert pnsight.PlugIn().fit(study).bounds("").columns()["support_experimental"] == [2**53]


@pytest.mark.parametrize("heavy", [10**17, 1e20, 1e308])
def test_a_weight_too_large_to_be_counted_is_refused(heavy):
    with pytest.raises(TableError, match=r"'w' .* holds 1e\+\d+; expected .* at most 9,007,199,254,740,992"):
        study_of(weighed(1, 1, heavy, heavy), weight="w")


def test_weights_that_together_are_too_large_are_refused():
    with pytest.raises(TableError, match=r"stand for 1\.2e\+16 rows in all; expected at most 9,007,199,254,740,992"):
        study_of(weighed(*[3e15] * 4), weight="w")


@pytest.mark.parametrize("light", [1e-320, 1e-200, 1e-13])
def test_weights_too_small_to_reckon_with_are_refused(light):
    with pytest.raises(TableError, match="rows together; expected none, or at least 1e-12"):
        study_of(weighed(1, 1, 1, light), weight="w")


def test_small_weights_are_counted():
    assert study_of(weighed(1, 1, 1, 1e-9), weight="w").experimental.tolist() == [[1, 1, 1, 1e-9]]


def test_a_probability_that_makes_rows_too_heavy_is_refused():
    with pytest.raises(TableError, match=r"stand for .* rows in all"):
        study_of(weighed(1, 1, 1, 1).assign(p=[1e-320, 0.5, 0.5, 0.5]), weight="w", assignment="p")


# --- assignment ------------------------------------------------------------------------------------------


def uneven_trial():
    """Old people recover more often and are treated more often; the treatment itself adds 0.1 for everyone."""
    cells = [
        ("old", 0.8, 1, 720, 180),
        ("old", 0.8, 0, 158, 67),
        ("young", 0.2, 1, 68, 157),
        ("young", 0.2, 0, 180, 720),
    ]
    lines = [(age, p, x, y, n) for age, p, x, yes, no in cells for y, n in ((1, yes), (0, no))]
    return pandas.DataFrame(lines, columns=["age", "p", "x", "y", "n"])


def law_of(study, **how):
    law = pnsight.PlugIn(**how).fit(study).law("")
    return p_y_do_x(law)[0], p_y_do_x0(law)[0]


def test_known_assignment_probabilities_undo_uneven_allocation():
    trial = uneven_trial()
    standardised = 0.5 * (720 / 900 + 68 / 225), 0.5 * (158 / 225 + 180 / 900)
    blind = study_of(trial, covariates=["age"], weight="n")
    known = study_of(trial, covariates=["age"], weight="n", assignment="p")
    hidden = study_of(trial, covariates=[], weight="n", assignment="p")
    assert law_of(blind) == pytest.approx((788 / 1125, 338 / 1125))
    assert law_of(known) == pytest.approx(standardised)
    assert law_of(hidden) == pytest.approx(standardised)
    assert law_of(blind, mix="profiles") == pytest.approx(standardised)
    assert law_of(known, mix="profiles") == pytest.approx(standardised)
    assert known.experimental.sum() == pytest.approx(2250)
    assert kinds(known.notes) == ["rows_reweighted", "rows_worth"]
    assert values(known.notes, "rows_worth")["worth"] == pytest.approx(1440)  # weights of 0.625 and 2.5


def test_a_fair_coin_leaves_the_counts_as_they_are():
    table = pandas.DataFrame({"x": [1, 0, 1], "y": [1, 0, 0], "p": [0.5, 0.5, 0.5]})
    assert study_of(table, assignment="p").experimental.tolist() == [[1, 1, 0, 1]]


def test_assignment_is_of_the_experiment_only():
    trial = pandas.DataFrame({"x": [1, 0], "y": [1, 0], "p": [0.25, 0.5]})
    study = study_of(trial, trial, assignment="p")
    assert study.experimental.tolist() == [[2, 0, 0, 1]]
    assert study.observational.tolist() == [[1, 0, 0, 1]]
    assert study.schema.names == ()


# --- rare levels, missing values and constants -----------------------------------------------------------


def towns(**counts):
    rows = [(town, i % 2, i // 2 % 2) for town, n in counts.items() for i in range(n)]
    return pandas.DataFrame(rows, columns=["town", "x", "y"])


def test_rare_levels_of_both_tables_together_become_other_and_are_remembered(tmp_path):
    study = study_of(towns(Aix=40, Brest=20, Cluny=4, Dol=8), towns(Aix=40, Brest=4, Erdeven=8), merge_rare=24)
    (town,) = study.schema.covariates
    assert town.levels == ("Aix", "Brest", OTHER)
    assert town.rare_levels == ("Cluny", "Dol", "Erdeven")
    merged = {"covariate": "town", "levels": ["Cluny", "Dol", "Erdeven"]}
    assert study.notes == (Note("rare_levels_merged", merged),)
    pnsight.save(pnsight.PlugIn().fit(study), tmp_path / "model")
    answer = pnsight.load(tmp_path / "model").bounds(["town=Dol", "town=other", "town=Brest"])
    assert answer.queries == ["town=other", "town=other", "town=Brest"]
    assert answer.support_experimental.tolist() == [12, 12, 20]
    assert answer.support_observational.tolist() == [8, 8, 4]


def test_without_rare_levels_nothing_is_merged():
    (town,) = study_of(towns(Aix=40, Brest=30), merge_rare=30).schema.covariates
    assert (town.levels, town.rare_levels) == (("Aix", "Brest"), ())


def test_a_level_called_other_takes_the_rare_ones_in():
    (town,) = study_of(towns(Aix=40, other=4, Brest=4), merge_rare=8).schema.covariates
    assert (town.levels, town.rare_levels) == (("Aix", OTHER), ("Brest",))


def test_merging_makes_an_identifier_usable():
    table = towns(Aix=400).assign(town=["Aix"] * 370 + [f"p{i}" for i in range(30)])
    assert study_of(table, merge_rare=5).schema.covariates[0].levels == ("Aix", OTHER)


@pytest.mark.parametrize("rows", [21, 501])
def test_an_identifier_is_refused_with_the_cures(rows):
    table = pandas.DataFrame({"id": [f"p{i}" for i in range(rows)], "x": np.arange(rows) % 2, "y": 1})
    with pytest.raises(TableError, match=rf"'id' has {rows} levels.*--exclude.*--bands.*--merge-rare"):
        study_of(table)


def test_more_levels_than_can_be_learned_about_are_refused_however_many_rows():
    table = pandas.DataFrame({"id": [f"p{i % 501}" for i in range(5010)], "x": np.arange(5010) % 2, "y": 1})
    with pytest.raises(TableError, match="501 levels"):
        study_of(table)


def test_a_few_people_with_a_level_each_are_no_identifier():
    table = pandas.DataFrame({"town": ["a", "b", "c"], "x": [0, 1, 0], "y": 1})
    assert len(study_of(table).profiles) == 3


def test_a_level_for_what_is_missing_comes_last_and_a_blank_query_still_means_open():
    table = pandas.DataFrame({"dose": [10, 9, None, None], "x": [0, 1, 0, 1], "y": [0, 1, 1, 1]})
    study = study_of(table, missing="level")
    assert study.schema.covariates[0].levels == ("9", "10", "missing")
    queries = pandas.DataFrame({"dose": [None, "missing", 9]})
    assert pnsight.PlugIn().fit(study).bounds(queries).support_experimental.tolist() == [4, 2, 1]


def test_what_is_missing_is_counted_by_column_and_table():
    trial = pandas.DataFrame(
        {"sex": ["F", None, "M", "F"], "dose": [1, 2, None, 1], "x": [0, 1, 0, 1], "y": [1, 1, 0, 1]}
    )
    registry = trial.assign(dose=[1, None, None, 2], sex="F")
    with pytest.raises(TableError) as refused:
        study_of(trial, registry)
    for words in (
        "covariate 'sex' has no value in 1 rows of the experimental table",
        "covariate 'dose' has no value in 1 rows of the experimental table",
        "covariate 'dose' has no value in 2 rows of the observational table",
        "--missing drop",
    ):
        assert words in str(refused.value)
    study = study_of(trial, registry, missing="drop")
    assert study.dropped == {rows_without("sex", "dose"): 2, rows_without("dose", table="observational"): 2}


def test_a_constant_covariate_is_kept_and_said():
    table = pandas.DataFrame({"country": "UK", "sex": ["F", "M"], "x": [0, 1], "y": [1, 0]})
    study = study_of(table)
    assert study.schema.names == ("country", "sex")
    assert study.notes == (Note("single_level", {"covariate": "country", "level": "UK"}),)


def test_people_of_one_profile_make_a_study():
    study = study_of(pandas.DataFrame({"sex": "F", "x": [0, 1, 0, 1], "y": [1, 0, 0, 1]}))
    assert study.experimental.tolist() == [[1, 1, 1, 1]]


def test_unknown_choices_are_refused():
    table = pandas.DataFrame({"x": [0, 1], "y": [1, 0]})
    with pytest.raises(TableError, match=r"missing is 'fill'; expected one of 'error', 'drop', 'level'"):
        study_of(table, missing="fill")
    with pytest.raises(TableError, match="merge_rare is 0"):
        study_of(table, merge_rare=0)

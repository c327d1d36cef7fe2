"""Survey weights and clusters: what is read, what is said, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from cluster_trials import household_trial

import pnsight
from noted import kinds, values
from pnsight.errors import TableError
from pnsight.notes import Note

RNG = np.random.default_rng(1)
PEOPLE = pandas.DataFrame(
    {
        "sex": RNG.choice(["F", "M"], 400),
        "age": RNG.integers(18, 90, 400),
        "x": RNG.integers(0, 2, 400),
        "y": RNG.choice([0, 1, None], 400, p=[0.5, 0.4, 0.1]),
        "w": RNG.exponential(size=400) + 0.05,
    }
)


def study_of(*tables, **more):
    return pnsight.read_study(*tables, treatment="x", outcome="y", **more)


@pytest.mark.parametrize("weight", [2, 0.1, 1e-9, 7e12])
def test_the_same_survey_weight_for_every_row_changes_nothing(weight):
    how = {"bands": {"age": 4}, "merge_rare": 3, "covariates": ["sex", "age"]}
    plain, weighed = (
        study_of(PEOPLE, PEOPLE, **how),
        study_of(PEOPLE.assign(w=weight), PEOPLE.assign(w=3 * weight), survey_weight="w", **how),
    )
    np.testing.assert_array_equal(weighed.counts, plain.counts)
    np.testing.assert_array_equal(weighed.profiles, plain.profiles)
    assert weighed.schema == plain.schema
    assert weighed.dropped == plain.dropped
    assert weighed.design is None
    assert weighed.notes == plain.notes


def test_survey_weights_have_no_scale():
    first = study_of(PEOPLE, survey_weight="w", covariates=["sex"])
    second = study_of(PEOPLE.assign(w=PEOPLE["w"] * 1234.5), survey_weight="w", covariates=["sex"])
    np.testing.assert_allclose(second.counts, first.counts, rtol=1e-12)
    assert second.design.row_worth == pytest.approx(first.design.row_worth, rel=1e-12)
    np.testing.assert_allclose(second.design.folds, first.design.folds, rtol=1e-12)


def test_counts_add_up_to_the_rows_used():
    used = PEOPLE.dropna()
    study = study_of(PEOPLE, PEOPLE, survey_weight="w", covariates=["sex"])
    assert study.experimental.sum() == pytest.approx(len(used))
    assert study.observational.sum() == pytest.approx(len(used))
    assert sum(study.dropped.values()) == 2 * (len(PEOPLE) - len(used))
    women = used[used["sex"] == "F"]["w"].sum() / used["w"].mean()
    assert study.experimental[study.schema.covariates[0].levels.index("F")].sum() == pytest.approx(women)


def test_a_row_of_survey_weight_zero_is_not_used():
    table = PEOPLE.dropna().assign(w=np.where(np.arange(len(PEOPLE.dropna())) < 10, 0, 1))
    plain = study_of(table[10:], covariates=["sex"])
    study = study_of(table, survey_weight="w", covariates=["sex"])
    np.testing.assert_array_equal(study.counts, plain.counts)


def test_what_unequal_weights_are_worth_is_said():
    study = study_of(PEOPLE, survey_weight="w", covariates=[])
    w = PEOPLE.dropna()["w"]
    arms = [w[PEOPLE["x"] == x] for x in (1, 0)]
    worth = sum(arm.sum() ** 2 / (arm**2).sum() for arm in arms)
    said = values(study.notes, "rows_worth")
    assert said["worth"] == pytest.approx(worth)
    assert str(study.notes[-1]) == f"{len(w)} experimental rows weigh unequally and are worth {round(worth)}"
    assert str(study.notes[-1]) in study.facts()["notes"]


def test_neither_column_is_a_covariate():
    trial = household_trial(50, seed=1).assign(w=1.5)
    study = study_of(trial, survey_weight="w", cluster="household")
    assert study.schema.names == ("old", "rural", "sex")
    for name in ("w", "household"):
        with pytest.raises(TableError, match=rf"'{name}' is weight, cluster or assignment and cannot be a covariate"):
            study_of(trial, survey_weight="w", cluster="household", covariates=["sex", name])


def test_either_column_may_be_in_one_table_only_and_the_other_is_told():
    trial, registry = household_trial(50, seed=1), PEOPLE.dropna().assign(sex=0)
    study = study_of(trial, registry, survey_weight="w", cluster="household", covariates=["sex"])
    assert study.notes[:2] == (
        Note("rows_counted_once", {"table": "experimental", "column": "w"}),
        Note("rows_independent", {"table": "observational", "column": "household"}),
    )
    first, second = study.design.tables
    assert (first.clusters, first.unequal) == (50, False)
    assert (second.clusters, second.unequal) == (None, True)
    with pytest.raises(TableError, match="the experimental table has no column 'hh'"):
        study_of(trial, registry, cluster="hh", covariates=["sex"])


def test_a_row_without_a_cluster_is_one_by_itself():
    trial = household_trial(80, seed=2)
    some = trial.assign(household=np.where(np.arange(len(trial)) % 3 == 0, None, trial["household"]))
    named = some.assign(household=some["household"].fillna(pandas.Series([f"alone {i}" for i in some.index])))
    found, expected = (study_of(table, cluster="household", covariates=["sex"]) for table in (some, named))
    assert found.design.row_worth == pytest.approx(expected.design.row_worth)
    assert found.design.arm_worth == pytest.approx(expected.design.arm_worth)
    alone = int(some["household"].isna().sum())
    assert found.design.tables[0].unclustered == alone
    assert f"({alone} of them in none, and each by itself)" in str(found.notes[-1])


def test_a_count_of_rows_equals_the_rows_written_out_with_clusters_too():
    table = household_trial(100, seed=3).assign(
        n=np.random.default_rng(3).integers(1, 4, len(household_trial(100, seed=3)))
    )
    written = table.loc[table.index.repeat(table["n"])].drop(columns="n")
    counted, written_out = study_of(table, weight="n", cluster="household"), study_of(written, cluster="household")
    np.testing.assert_array_equal(counted.counts, written_out.counts)
    assert counted.design.row_worth == pytest.approx(written_out.design.row_worth)
    np.testing.assert_array_equal(counted.design.folds, written_out.design.folds)


def test_a_weight_and_a_survey_weight_are_refused_together():
    with pytest.raises(TableError, match=r"--weight x2 and --survey-weight w .* both given; expected one of them"):
        study_of(PEOPLE.assign(x2=1), weight="x2", survey_weight="w")


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (None, "has no number in 1 rows; expected zero or more"),
        (float("nan"), "has no number in 1 rows"),
        (-1.0, "holds -1; expected zero or more"),
        (float("inf"), "holds inf; expected zero or more"),
        ("heavy", "expected numbers"),
    ],
)
def test_survey_weights_that_are_none_are_refused(bad, said):
    weights = [1.0] * (len(PEOPLE) - 1) + [bad]
    table = PEOPLE.assign(w=weights if not isinstance(bad, str) else [str(w) for w in weights])
    with pytest.raises(TableError, match=said):
        study_of(table, survey_weight="w", covariates=[])


def test_weights_of_zero_throughout_are_refused():
    with pytest.raises(TableError, match="all rows of the experimental table have weight zero"):
        study_of(PEOPLE.assign(w=0), survey_weight="w", covariates=[])


def test_probabilities_of_assignment_are_worth_what_their_weights_leave():
    table = PEOPLE.dropna().assign(p=lambda people: np.where(people["sex"] == "F", 0.2, 0.5))
    study = study_of(table, assignment="p", covariates=[])
    w = 1 / (2 * np.where(table["x"] == 1, table["p"], 1 - table["p"]))
    expected = [w[table["x"] == x].sum() / (w[table["x"] == x] ** 2).sum() for x in (1, 0)]
    assert study.design.row_worth == pytest.approx(tuple(expected))
    assert kinds(study.notes) == ["rows_reweighted", "rows_worth"]
    np.testing.assert_allclose(study.design.folds.sum(axis=0), study.counts)

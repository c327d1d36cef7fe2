"""Missing outcomes: warned of where they could change an answer, and otherwise not."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from cluster_trials import household_trial

import pnsight
from noted import kinds, values
from pnsight.diagnostics import study_warnings
from pnsight.diagnostics.missing_outcomes import missing_outcomes_of


def trial(rows: int, seed: int) -> pandas.DataFrame:
    """A trial with two covariates, of whom half recover if treated and two of five if not."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, rows)
    return pandas.DataFrame(
        {
            "sex": rng.choice(["F", "M"], rows),
            "age": rng.choice(["young", "middle", "old"], rows),
            "x": x,
            "y": (rng.random(rows) < np.where(x == 1, 0.5, 0.42)).astype(float),
        }
    )


def losing(table: pandas.DataFrame, chance: object, seed: int = 9) -> pandas.DataFrame:
    """The table with outcomes blank at random, at the given chance."""
    lost = np.random.default_rng(seed).random(len(table)) < np.asarray(chance)
    return table.assign(y=table["y"].mask(lost))


def read(*tables, **how) -> pnsight.Study:
    return pnsight.read_study(*tables, treatment="x", outcome="y", **how)


def test_rows_and_missing_outcomes_are_counted_by_arm_and_level():
    table = pandas.DataFrame(
        {
            "sex": ["F", "F", "M", "M", None, "Z", "F"],
            "x": [1, 1, 0, 0, 1, 0, None],
            "y": [1, None, None, 0, None, None, 1],
        }
    )
    (found,) = read(table).attrition
    assert (found.table, found.rows, found.missing) == ("experimental", (3, 3), (2, 2))
    (sex,) = found.levels
    assert sex.rows == ((2, 0), (0, 2))  # a level that no complete row has, and rows without one, belong to none
    assert sex.missing == ((1, 0), (0, 1))
    assert found.shares == pytest.approx((2 / 3, 2 / 3))


def test_levels_follow_the_study_s_own():
    """Rare levels are merged, a missing one is a level if asked for, numbers are in bands; counts weigh."""
    table = pandas.DataFrame(
        {
            "town": ["a"] * 8 + ["b", "c", None, "b"],
            "age": [20, 30, 40, 50] * 3,
            "x": [0, 1] * 6,
            "y": [0, 1, 1, 0] * 2 + [None, 1, None, 0],
            "n": [2] * 12,
        }
    )
    how = {"missing": "level", "merge_rare": 6, "bands": {"age": [0, 35, 60]}, "weight": "n"}
    study = read(table, **how)
    town, age = study.attrition[0].levels
    assert study.schema.covariates[0].levels == ("a", "other")
    assert town.missing == ((0, 0), (0, 2))
    assert age.missing == ((0, 2), (0, 2))
    assert sum(map(sum, age.rows)) == 24


def test_no_missing_outcome_is_fine_and_nothing_is_kept_by_level():
    study = read(trial(500, 1), trial(500, 2))
    assert [one.levels for one in study.attrition] == [(), ()]
    assert missing_outcomes_of(study).verdict.status == "ok"
    assert str(missing_outcomes_of(study).verdict.text) == "no outcome is missing."
    assert missing_outcomes_of(study).looks() == []


def test_half_of_the_treated_who_do_not_respond_are_missing():
    """The answer moves from 0.08 to 0.26 while every other part of the check is content."""
    whole = trial(6_600, 3)
    table = losing(whole, 0.5 * ((whole["x"] == 1) & (whole["y"] == 0)))
    study = read(table)
    found = pnsight.check(study)
    assert (found.verdict, found.conclusion.values["warned"]) == ("usable with warnings", ("attrition",))
    said = values(found.warnings, "outcomes_missing_by_arm")
    lost, treated = int((whole["y"] - table["y"]).isna().sum()), int((whole["x"] == 1).sum())
    assert said["arm"] == "treated"
    assert (said["treated"], said["untreated"]) == (pytest.approx(lost / treated), 0)
    assert said["low"] < said["difference"] < said["high"]
    assert said["high"] - said["low"] == pytest.approx(2 * 1.96 * np.sqrt(0.25 * 0.75 / treated), rel=0.05)
    true_share = whole[whole["x"] == 1]["y"].mean()
    assert said["least"] == pytest.approx(true_share)  # none of those who are missing responded
    assert said["respond"] > true_share + 0.1
    assert kinds(study_warnings(study)) == ["outcomes_missing_by_arm"]


def test_outcomes_missing_alike_in_both_arms_are_warned_of_where_they_are_many():
    assert missing_outcomes_of(read(losing(trial(4_000, 4), 0.03))).verdict.status == "ok"
    found = missing_outcomes_of(read(losing(trial(4_000, 4), 0.1))).verdict
    assert found.status == "warning"
    assert values(found.notes, "many_outcomes_missing")["share"] == pytest.approx(0.1, abs=0.02)


def test_outcomes_missing_for_some_people_are_warned_of():
    table = trial(8_000, 5)
    found = missing_outcomes_of(read(losing(table, np.where(table["age"] == "old", 0.08, 0.01)))).verdict
    assert kinds(found.notes) == ["outcomes_missing_by_covariate"] * 2
    assert found.notes[0].values["covariates"][0]["covariate"] == "age"


def test_either_table_is_looked_at():
    registry = trial(4_000, 7)
    found = missing_outcomes_of(read(trial(4_000, 6), losing(registry, 0.04 * (registry["x"] == 0)))).verdict
    assert {note.values["table"] for note in found.notes} == {"observational"}


@pytest.mark.slow
def test_chance_alone_is_hardly_ever_warned_of():
    """At level 5%; more than 20 of 200 would come in 1 of 500 cases."""
    alarms = sum(
        missing_outcomes_of(read(losing(trial(600, seed), 0.03, seed))).verdict.status != "ok" for seed in range(200)
    )
    assert alarms <= 20


@pytest.mark.slow
def test_clusters_that_are_missing_whole_are_no_difference_between_arms():
    """Households that could not be reached, 3 of 100 in either arm; by rows alone that alarms too often."""

    def alarms(**how):
        found = 0
        for seed in range(60):
            table = household_trial(400, seed)
            lost = np.random.default_rng(seed).random(400) < 0.03
            table["y"] = table["y"].mask(lost[table["household"].str[1:].astype(int)])
            found += any(one.differs for one in missing_outcomes_of(read(table, **how)).arms)
        return found

    assert alarms(cluster="household", covariates=[]) <= 8
    assert alarms(covariates=[]) > alarms(cluster="household", covariates=[])


def test_looks_and_details_are_plain_data():
    table = trial(2_000, 8)
    found = pnsight.check(read(losing(table, 0.2 * table["x"])))
    looks = found.looks()
    rows = [look for look, part in zip(looks["look"], looks["part"], strict=True) if part == "attrition"]
    assert rows == ["experimental", "sex", "age"]
    assert found.details()["attrition"]["arms"][0]["table"] == "experimental"


def test_it_survives_storing_and_is_handed_on_in_round_numbers(tmp_path):
    table = trial(2_000, 8)
    model = pnsight.PlugIn().fit(read(losing(table, 0.2 * table["x"])))
    assert kinds(model.warnings) == ["outcomes_missing_by_arm"]
    pnsight.save(model, tmp_path)
    loaded = pnsight.load(tmp_path)
    assert loaded.study.attrition == model.study.attrition
    assert loaded.warnings == model.warnings
    (shown,) = pnsight.suppress(loaded, 10).study.attrition
    assert shown.levels == ()
    assert not np.mod([*shown.rows, *shown.missing], 10).any()
    assert shown.missing[0] == pytest.approx(model.study.attrition[0].missing[0], abs=10)

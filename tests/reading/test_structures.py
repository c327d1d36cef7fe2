"""Reading any structure: named cells, times in bands, assigned arms, and rows without an outcome."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pnsight
from pnsight.data.reading.time_bands import PARTS, TimeBands
from pnsight.data.structure import EXPERIMENTAL
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.errors import TableError

DOSES = ["placebo", "low", "high"]


def by_name(study):
    structure = study.structure
    names = [*(cell.name for cell in structure.cells), *(each.name for each in structure.sets)]
    return dict(zip(names, study.cell_rows[0].tolist(), strict=True))


def test_rows_are_counted_in_cells_by_name_in_whichever_order_the_arms_are_listed():
    table = pd.DataFrame({"dose": ["low", "high", "high", "placebo"], "grade": [3, 1, 1, 2], "n": [4, 2, 1, 7]})
    options = {"treatment": "dose", "outcome": "grade", "outcomes": [1, 2, 3], "weight": "n"}
    for arms in (DOSES, DOSES[::-1]):
        found = by_name(pnsight.read_study(table, arms=arms, **options))
        assert {name: rows for name, rows in found.items() if rows} == {
            "Y[low]=3": 4,
            "Y[high]=1": 3,
            "Y[placebo]=2": 7,
        }


def test_an_experiment_may_lack_an_arm_that_people_choose_and_a_registry_one_that_was_tried():
    trial = pd.DataFrame({"dose": ["placebo", "high"] * 2, "y": [0, 0, 1, 1]})
    registry = pd.DataFrame({"dose": ["placebo", "low"] * 2, "y": [0, 0, 1, 1]})
    study = pnsight.read_study(trial, registry, treatment="dose", outcome="y", arms=DOSES)
    assert study.structure.description.tried == ("placebo", "high")
    assert by_name(study)["X=low,Y=1"] == 1
    assert by_name(study)["X=high,Y=1"] == 0
    assert "Y[low]=1" not in by_name(study)


def test_two_arms_and_two_outcomes_stay_what_they_are_with_names_of_their_own():
    table = pd.DataFrame({"arm": ["drug", "care"] * 2, "well": ["no", "no", "yes", "yes"]})
    plain = pnsight.read_study(table, treatment="arm", outcome="well", treated="drug", success="yes")
    named = pnsight.read_study(table, treatment="arm", outcome="well", arms=["care", "drug"], outcomes=["no", "yes"])
    assert plain.structure == named.structure
    assert plain.structure.description.arms == ("care", "drug")
    assert (plain.treated, plain.success) == (named.treated, named.success) == ("drug", "yes")
    binary = pd.DataFrame({"arm": [1, 0, 1, 0], "well": [0, 0, 1, 1]})
    assert pnsight.read_study(binary, treatment="arm", outcome="well").structure == TWO_BY_TWO.only([EXPERIMENTAL])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_times_are_counted_by_the_interval_of_the_event_and_by_how_far_rows_were_followed(frame):
    rows = [
        (1, 30.0, 1),
        (1, 30.5, 1),
        (1, 365.0, 1),
        (1, 366.0, 1),
        (1, 400.0, 0),
        (1, 30.0, 0),
        (1, 60.0, 0),
        (0, 9.0, 1),
    ]
    table = frame(
        {name: list(values) for name, values in zip(("drug", "days", "died"), zip(*rows, strict=True), strict=True)}
    )
    study = pnsight.read_study(
        table, treatment="drug", time="days", event="died", event_is="bad", horizons=[30, 90, 365]
    )
    found = {name: count for name, count in by_name(study).items() if count}
    assert found == {
        "Y[1]=0-30": 1,
        "Y[1]=30-90": 1,
        "Y[1]=90-365": 1,
        "Y[1]=later": 2,
        "Y[1]=>30": 1,
        "Y[1]=>90": 1,  # of the interval that it was censored in, no event came later
        "Y[0]=0-30": 1,
    }
    assert sum(found.values()) == len(rows)
    assert any(note.kind == "rows_censored" and note.values["rows"] == 2 for note in study.notes)


def test_bands_of_time_tell_horizons_apart_from_what_is_before_and_after():
    bands = TimeBands((30.0, 90.0))
    times = np.array([0.0, 29.9, 30.0, np.nextafter(30.0, 99), 90.0, 91.0])
    place = (times[:, None] >= np.array(bands.edges[1:-1])).sum(axis=1)
    np.testing.assert_array_equal(bands.event_intervals(place), [0, 0, 0, 1, 1, 2])
    np.testing.assert_array_equal(bands.followed(place), [0, 0, 1, 1, 2, 2])
    nobody = np.zeros(bands.n_bands)
    part = bands.passing_shares(nobody, nobody)[place]
    np.testing.assert_allclose(part, [0.5 / PARTS, 1 - 0.5 / PARTS, 0, 0.5 / PARTS, 0, 0])


@pytest.mark.parametrize("horizons", [[365], [30, 90, 365]])
def test_rows_censored_at_any_time_leave_the_curve_where_it_is(horizons):
    """With so many rows only a wrong convention would show: an interval in which most have the event, and many end."""
    rng = np.random.default_rng(0)
    drug = rng.integers(0, 2, 200_000)
    days, end = rng.exponential(np.where(drug, 330.0, 200.0)), rng.uniform(0, 600, len(drug))
    table = pd.DataFrame({"drug": drug, "days": np.minimum(days, end), "died": (days <= end).astype(int)})
    study = pnsight.read_study(table, treatment="drug", time="days", event="died", event_is="bad", horizons=horizons)
    law = pnsight.PlugIn().fit(study).law().cells[0].reshape(2, -1)
    curve = 1 - np.cumsum(law, axis=1)[:, :-1]
    truth = np.exp(-np.array(horizons) / np.array([[200.0], [330.0]]))
    at_risk = 100_000 * truth * (1 - np.array(horizons) / 600)
    np.testing.assert_array_less(np.abs(curve - truth), 4 * np.sqrt(truth * (1 - truth) / at_risk))


def test_what_was_taken_is_counted_by_what_was_assigned():
    table = pd.DataFrame({"z": [0, 1, 1, 1], "d": [0, 0, 1, 1], "y": [1, 0, 1, 0], "n": [2, 3, 5, 7]})
    study = pnsight.read_study(table, treatment="d", outcome="y", assigned="z", weight="n")
    found = {name: count for name, count in by_name(study).items() if count}
    assert found == {"D=0,Y=1|Z=0": 2, "D=0,Y=0|Z=1": 3, "D=1,Y=1|Z=1": 5, "D=1,Y=0|Z=1": 7}


@pytest.mark.parametrize("how", ["drop", "set", "worst-case"])
def test_rows_without_an_outcome_are_left_out_or_kept_as_asked(how):
    table = pd.DataFrame({"x": [0, 1, 1, 0, 1], "y": [0, 1, None, 1, 0]})
    study = pnsight.read_study(table, table, treatment="x", outcome="y", missing_outcome=how)
    kept = {"drop": 4, "set": 5, "worst-case": 5}[how]
    assert study.table_rows == (kept, kept)
    assert study.attrition[0].missing == ((1, 0) if how != "worst-case" else (0, 1))  # the treated first, of two by two
    unknown = {name: rows for name, rows in by_name(study).items() if "?" in name and rows}
    assert (
        unknown
        == {
            "drop": {},
            "set": {"?_x": 1, "x,?": 1},
            "worst-case": {"Y[1]=?": 1, "X=1,Y=?": 1},
        }[how]
    )
    assert [note.kind for note in study.notes].count("outcomes_kept") == (0 if how == "drop" else 2)


def test_a_probability_of_treatment_is_for_two_arms():
    table = pd.DataFrame({"dose": DOSES * 2, "y": [0, 1, 0, 1, 0, 1], "p": [0.3] * 6})
    with pytest.raises(TableError, match="works with two arms and two outcomes only"):
        pnsight.read_study(table, treatment="dose", outcome="y", arms=DOSES, assignment="p")


def test_weights_and_clusters_work_with_any_structure():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "dose": rng.choice(DOSES, 300),
            "days": rng.exponential(50, 300),
            "died": rng.integers(0, 2, 300),
            "village": rng.integers(0, 30, 300),
            "w": rng.uniform(0.5, 2, 300),
        }
    )
    study = pnsight.read_study(
        table,
        treatment="dose",
        time="days",
        event="died",
        event_is="good",
        horizons=[20, 60],
        arms=DOSES,
        cluster="village",
        survey_weight="w",
        covariates=[],
    )
    assert study.design is not None
    np.testing.assert_allclose(study.design.folds.sum(axis=0), study.counts)
    answer = pnsight.PlugIn().fit(study).bounds(quantity="pns", contrast="high:placebo", horizon=60)
    assert answer.status[0] == "ok"
    assert answer.lower_low[0] <= answer.lower[0] <= answer.upper[0] <= answer.upper_high[0]

"""Rows beside a report's answers add up to those of the study: by arm and outcome, by covariate, and by event."""

from __future__ import annotations

import numpy as np
import pytest

import pnsight
from numeric_tables import COLUMNS, tables
from pnsight.output.report import summarise
from pnsight.output.report.counts import MOST_LEVELS, table_one
from pnsight.queries.query import encode
from web_structures import MODELS


def test_events_are_rows_of_the_trial_with_the_outcome_in_either_arm(plug_in):
    found = summarise(plug_in)
    assert found.events.arms == ("drug = 1", "drug = 0")
    for answer in found.levels.answers:
        y_x, n_x, y_x0, n_x0 = plug_in.counts(encode(plug_in.schema, answer.query))[0][:4]
        assert answer.events == (y_x, y_x0)
        assert answer.arm_rows == (y_x + n_x, y_x0 + n_x0)


@pytest.mark.parametrize("name", MODELS)
def test_rows_of_both_arms_are_those_of_the_contrast_in_every_structure(name):
    model = MODELS[name]()
    found = summarise(model, 0.3)
    described = model.structure.description
    everyone = found.levels.answers[0]
    assert all(0 <= events <= rows for events, rows in zip(everyone.events, everyone.arm_rows, strict=True))
    if len(described.arms) == 2 and not model.study.partly_observed:
        assert sum(everyone.arm_rows) == pytest.approx(model.study.table_rows[0])
    levels = [answer for answer in found.levels.answers if list(answer.fixed) == ["sex"]]
    for side in ("events", "arm_rows"):
        total = np.sum([getattr(answer, side) for answer in levels], axis=0)
        assert total == pytest.approx(np.array(getattr(everyone, side)))


def test_events_of_times_are_those_until_the_horizon():
    model = MODELS["survival"]()
    horizons = model.structure.description.horizons
    events = [summarise(model, 0.3, horizon=horizon).levels.answers[0].events for horizon in horizons]
    assert np.all(np.diff(np.array(events), axis=0) >= 0)
    assert summarise(model, 0.3, horizon=horizons[0]).events.event == f"event by {horizons[0]:g}"


@pytest.mark.parametrize("name", MODELS)
def test_levels_of_table_one_add_up_to_the_rows_of_each_arm(name):
    model = MODELS[name]()
    one = summarise(model, 0.3).table_one
    rows = [column.rows for column in one.columns]
    assert sum(rows) == pytest.approx(sum(model.study.table_rows))
    assert [covariate.covariate for covariate in one.covariates] == list(model.schema.names)
    for covariate in one.covariates:
        assert np.sum([level.rows for level in covariate.levels], axis=0) == pytest.approx(np.array(rows))


def test_numbers_have_quartiles_beside_their_bands():
    trial, registry = tables(2_000, seed=1)
    study = pnsight.read_study(trial, registry, **COLUMNS, covariates=["age"])
    (age,) = table_one(study).covariates
    treated = trial[trial[COLUMNS["treatment"]] == 1].age
    expected = [treated.quantile(at, interpolation="inverted_cdf") for at in (0.25, 0.5, 0.75)]
    found = age.quartiles[1]
    assert [found.low, found.median, found.high] == pytest.approx(expected, rel=1e-6)


def test_of_many_levels_the_rarest_are_added_up(plug_in):
    town = [f"town {k:02}" for k in range(MOST_LEVELS + 6)]
    schema = pnsight.data.schema.Schema((pnsight.data.schema.Covariate("town", tuple(town)),))
    counts = np.arange(1.0, len(town) + 1)[:, None] * np.full((1, 8), 5.0)
    profiles = np.arange(len(town), dtype=np.int32)[:, None]
    study = pnsight.Study.from_tables(schema, profiles, counts[:, :4], counts[:, 4:])
    (found,) = summarise(pnsight.PlugIn().fit(study)).table_one.covariates
    assert len(found.levels) == MOST_LEVELS + 1
    assert found.levels[-1].level == "6 other levels"
    assert found.levels[-1].rows == (10.0 * sum(range(1, 7)),) * 4

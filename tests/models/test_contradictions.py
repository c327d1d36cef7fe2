"""Tables that contradict each other: nobody concerned gets an answer from both, and the trial has the last word."""

from __future__ import annotations

import numpy as np
import pytest

import pnsight
from cases import LALONDE, MEN, WOMEN, half_contradicted
from noted import kinds, values
from pnsight import PlugIn, ResponseTypeModel
from pnsight import simulation as populations
from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.data.study import Study
from pnsight.data.two_by_two import TWO_BY_TWO, XY, Y_X
from pnsight.errors import ModelError, QueryError
from pnsight.models.suppression import suppress
from pnsight.queries import lattice
from pnsight.queries.query import encode
from quick_config import QUICK

TRIAL_ENDS = 230 / 297 - 296 / 425, 129 / 425
"""PNS from LaLonde's trial alone: a - b, and the smaller of a and 1 - b."""


@pytest.fixture(scope="module")
def lalonde() -> ResponseTypeModel:
    return ResponseTypeModel(config=QUICK).fit(LALONDE.study())


# --- LaLonde's trial beside a survey of other people ----------------------------------------------------


def assert_left_to_the_trial(answer):
    assert answer.status.tolist() == ["contradicted"]
    assert np.isnan([answer.lower, answer.upper, answer.lower_low, answer.upper_high, answer.value_low]).all()
    assert (answer.trial_lower[0], answer.trial_upper[0]) == pytest.approx(TRIAL_ENDS, abs=1e-3)
    assert "answers_contradicted" in kinds(answer.notes)
    assert "tables_contradict" in kinds(answer.notes)


def test_the_trial_is_not_bent_by_the_survey(lalonde):
    assert_left_to_the_trial(lalonde.bounds(""))
    assert np.round(TRIAL_ENDS, 3).tolist() == [0.078, 0.304]


def test_slack_does_not_reconcile_what_was_learned_as_if_both_tables_showed_the_same_people(lalonde):
    found = lalonde.bounds("", slack=0.5)
    assert found.status.tolist() == ["contradicted"]
    assert "slack_needs_rows" in [note.kind for note in found.notes]
    assert PlugIn().fit(LALONDE.study()).bounds("", slack=0.5).status.tolist() == ["ok"]


def test_it_can_be_gone_by_alone(lalonde):
    """With intervals of the closed form, from 297 and 425 rows."""
    answer = lalonde.bounds("", trial_alone=True)
    assert answer.status.tolist() == ["ok"]
    assert (answer.lower[0], answer.upper[0]) == pytest.approx(TRIAL_ENDS, abs=1e-3)
    assert kinds(answer.notes)[0] == "trial_alone"
    assert "answers_contradicted" not in kinds(answer.notes)
    a, b = 230 / 297, 296 / 425
    lower, upper = np.sqrt(a * (1 - a) / 297 + b * (1 - b) / 425), np.sqrt(b * (1 - b) / 425)
    assert answer.lower_high[0] - answer.lower[0] == pytest.approx(1.644854 * lower, rel=0.05)
    assert answer.upper_high[0] - answer.upper[0] == pytest.approx(1.644854 * upper, rel=0.05)
    assert answer.support_observational.tolist() == [0]


def test_the_model_of_the_trial_was_fitted_without_the_survey(lalonde):
    alone = lalonde.from_trial_alone()
    assert alone is lalonde.trial_model_
    assert alone.study.experiment_alone
    assert alone.config == lalonde.config
    fresh = ResponseTypeModel(config=QUICK).fit(LALONDE.study().with_tables(observational=None))
    assert alone.bounds("").columns() == fresh.bounds("").columns()


@pytest.mark.parametrize("quantity", ["pn", "ps", "pd", "pe"])
def test_what_the_trial_does_not_bound_has_no_numbers_at_all(lalonde, quantity):
    answer = lalonde.bounds("", quantity)
    assert answer.status.tolist() == ["contradicted"]
    assert answer.columns()["lower"] == answer.columns()["trial_lower"] == [None]


def test_the_people_of_the_survey_cannot_be_asked_for_in_the_trial(lalonde):
    with pytest.raises(QueryError, match="only those of the experimental"):
        lalonde.bounds("", trial_alone=True, population="observational")


def test_it_survives_storing(lalonde, tmp_path):
    pnsight.save(lalonde, tmp_path / "model")
    loaded = pnsight.load(tmp_path / "model")
    assert_left_to_the_trial(loaded.bounds(""))
    for options in ({}, {"trial_alone": True}):
        assert loaded.bounds("", **options).columns() == lalonde.bounds("", **options).columns()


@pytest.mark.parametrize("min_cell", [10, 60])
def test_it_survives_that_small_counts_are_withheld(lalonde, tmp_path, min_cell):
    shown = suppress(lalonde, min_cell)
    assert_left_to_the_trial(shown.bounds(""))
    pnsight.save(shown, tmp_path / "model")
    assert_left_to_the_trial(pnsight.load(tmp_path / "model").bounds(""))
    assert shown.bounds("", trial_alone=True).lower == pytest.approx([TRIAL_ENDS[0]], abs=1e-3)


def test_a_plug_in_leaves_it_to_the_trial_too():
    answer = PlugIn().fit(LALONDE.study()).bounds("")
    assert answer.status.tolist() == ["contradicted"]
    assert (answer.trial_lower[0], answer.trial_upper[0]) == pytest.approx(TRIAL_ENDS)


def test_a_second_fit_forgets_what_the_first_found():
    """And what was cached of the first one's rows: the answers are those of a fresh model."""
    model = ResponseTypeModel(config=QUICK).fit(LALONDE.study())
    model.bounds("")
    again, fresh = model.fit(WOMEN.study()), ResponseTypeModel(config=QUICK).fit(WOMEN.study())
    assert again.trial_model_ is None
    assert again.bounds("").columns() == fresh.bounds("").columns()
    assert again.bounds("").status.tolist() == ["ok"]


def test_a_second_fit_forgets_what_the_first_said_of_the_trial():
    model = ResponseTypeModel(config=QUICK, intervals=False).fit(MEN.study())
    model.bounds("", trial_alone=True)
    fresh = ResponseTypeModel(config=QUICK, intervals=False).fit(WOMEN.study())
    again = model.fit(WOMEN.study()).bounds("", trial_alone=True)
    assert again.columns() == fresh.bounds("", trial_alone=True).columns()


def test_the_fit_of_both_models_is_followed_to_the_end():
    told = []
    ResponseTypeModel(config=QUICK).fit(LALONDE.study(), progress=lambda *news: told.append(news))
    shares = [done / total for done, total, _ in told if total]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert told[0][2].startswith("both tables: ")
    assert told[-1][2].startswith("the experiment alone: ")


def test_a_notebook_shows_the_parameters_of_a_model_and_not_the_model_within_it(lalonde):
    assert "trial_model_" not in lalonde._repr_html_()


# --- some of the people ---------------------------------------------------------------------------------


def test_those_whom_the_tables_agree_about_are_answered():
    """People of Brest, and groups that some of them are in, are left to the trial; those of Ain have an answer."""
    model = ResponseTypeModel(config=QUICK).fit(half_contradicted())
    codes = lattice.all_queries(model.schema)
    answer = model.bounds(codes)
    town = codes[:, 0]
    assert (answer.status[town == 0] == "ok").all()
    assert (answer.status[town != 0] == "contradicted").all()
    assert not np.isnan(answer.trial_lower[town != 0]).any()
    assert np.isnan(answer.trial_lower[town == 0]).all()
    assert values(answer.notes, "answers_contradicted") == {"contradicted": 6, "of": 9}


def twelve_subgroups(violation: float) -> Study:
    """200,000 + 200,000 rows of 12 towns; in the fifth P(x,y) is larger than P(y_x) by so much."""
    towns = Schema((Covariate("town", tuple("abcdefghijkl")),))
    cells = TWO_BY_TWO.cell_probabilities(np.random.default_rng(0).dirichlet(np.full(8, 5.0), size=12))
    treated, chosen = TWO_BY_TWO.column(Y_X), TWO_BY_TWO.column(XY)
    cells[4, treated] = cells[4, chosen] - violation
    cells[4, treated + 1] = 1 - cells[4, treated]
    rows = np.array([100_000.0] * 4 + [200_000.0] * 4) / 12
    counts = np.random.default_rng(1).poisson(cells * rows).astype(float)
    return Study.from_tables(towns, lattice.all_profiles(towns), counts[:, :4], counts[:, 4:])


def test_one_of_twelve_subgroups_and_everyone_are_marked_and_the_rest_answered():
    model = PlugIn().fit(twelve_subgroups(0.05))
    codes = np.concatenate([encode(model.schema, ""), lattice.all_profiles(model.schema)])
    assert np.flatnonzero(model.contradicted(codes)).tolist() == [0, 5]
    answer = model.bounds(codes)
    assert (answer.status == "contradicted").tolist() == [True, *(place == 4 for place in range(12))]
    assert set(answer.status[[*range(1, 5), *range(6, 13)]]) == {"ok"}


def test_without_the_violation_nobody_is():
    model = PlugIn().fit(twelve_subgroups(-0.02))
    assert not model.contradicted(lattice.all_queries(model.schema)).any()


def test_of_two_covariates_what_contains_the_subgroup_or_lies_within_is_marked():
    """Six towns and two sexes; the women of the third town."""
    schema = Schema((Covariate("town", tuple("abcdef")), Covariate("sex", ("f", "m"))))
    towns = twelve_subgroups(0.05)
    profiles = lattice.all_profiles(schema)
    study = Study.from_tables(schema, profiles, towns.experimental, towns.observational)
    assert profiles[4].tolist() == [2, 0]
    codes = lattice.all_queries(schema)
    marked = {tuple(code) for code in codes[PlugIn().fit(study).contradicted(codes)].tolist()}
    assert marked == {(2, 0), (2, OPEN), (OPEN, 0), (OPEN, OPEN)}


# --- no contradiction -----------------------------------------------------------------------------------


def test_where_the_tables_agree_the_trial_can_be_gone_by_alone_too(tmp_path):
    """It is what both tables together say about the experiment."""
    model = ResponseTypeModel(config=QUICK).fit(WOMEN.study())
    assert model.trial_model_ is None
    alone = model.from_trial_alone()
    answer = model.bounds("", trial_alone=True)
    law = model.law("").cells[0]
    assert (answer.lower[0], answer.upper[0]) == pytest.approx((law[0] - law[2], law[0]), abs=1e-9)
    assert alone.study.experiment_alone
    assert alone.from_trial_alone() is alone
    pnsight.save(alone, tmp_path / "model")
    assert pnsight.load(tmp_path / "model").bounds("").columns() == alone.bounds("").columns()


def test_a_model_of_bounds_has_no_trial_to_go_by():
    study = populations.random_population("index", 1, covariates=3).sample(20_000, 20_000, seed=1)
    model = pnsight.MaskMLP(epochs=1, min_rows=100).fit(study)
    with pytest.raises(ModelError, match="cannot answer from the experiment alone"):
        model.bounds("", trial_alone=True)
